"""Trains on what was played: takes games in, puts training steps on the lane, publishes new weights."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from asyncplay.data.replay import Replay, TurnActions, augment
from asyncplay.engine.lane import Finish, Lane, Task
from asyncplay.engine.limiter import Limiter
from asyncplay.methods.selfplay.figures import LearnFigures
from asyncplay.model.backend import Backend, Prepared
from asyncplay.model.learner import Learner, LearnerState, StepReport
from asyncplay.model.loss import seat_scores
from asyncplay.model.nets import Weights, distance
from asyncplay.payloads import Examples, Ints

LEAST_MICRO_ROWS = 64  # a resnet's row takes 4 to 10 % longer in parts of 64, 12 to 44 % in parts of 32
LOCKSTEP_MICRO_ROWS = 256
SEAT_FADE = 0.98  # what each step leaves of the sums that the figures of seats are made of
FADE = 0.75  # what each step leaves of the training time per row that was measured before

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Publishing:
    """When new weights begin to answer: after ``steps``, and then on change or age."""

    steps: int = 10
    distance: float = 0.0  # how far they must have moved, relative to their length,
    age_s: float = math.inf  # unless this much time has passed

    def is_due(self, moved: float, age_s: float) -> bool:
        """Whether they go out, enough steps having been made."""
        return moved >= self.distance or age_s >= self.age_s


class Published(NamedTuple):
    """What answers now."""

    version: int
    weights: Weights
    step: int  # after which they were taken
    at_s: float


class TrainerState(NamedTuple):
    """What a checkpoint keeps of a trainer, taken between two steps."""

    learner: LearnerState
    published: Published
    age_s: float  # of what is published
    last_version: int


class _Turn(NamedTuple):
    """A turn on the lane; given up when its result is not awaited any more."""

    run: Callable[[], Any]
    done: asyncio.Future[Any]
    is_last: bool  # its result is the one that is awaited


class Trainer:
    """Trains one network as its limiter allows; a source of the lane.

    Lifetime: ``run`` is one task of the run's group. Order: one step after another, each in micro-batches
    that take turns with inference; weights are published between two steps. Limit: one batch is in work at a
    time. End: a step that is under way when ``run`` is cancelled leaves no trace.

    Which batches are drawn and what is published depends on the seed and on counts alone, unless weights are
    published by age. In lockstep, the same holds for when: training goes before inference, nothing is left to
    another thread and micro-batches have a fixed size. On an inline lane a run is then exactly repeatable.
    """

    def __init__(
        self,
        learner: Learner,
        backend: Backend,
        replay: Replay,
        limiter: Limiter,
        lane: Lane,
        *,
        seed: int,
        publishing: Publishing = Publishing(),  # frozen
        turns: tuple[Ints, TurnActions]
        | None = None,  # of features int32[Y, F] and of actions, by symmetries of the game
        published: Published | None = None,  # what the backend begins with; None: the learner's weights, version 0
        last_version: int = 0,  # that was ever given; the next one is higher
        micro_s: Callable[[], float] = lambda: math.inf,  # longest that a micro-batch shall take
        on_published: Callable[[int, Weights], None] = lambda version, weights: None,
        on_step: Callable[[int], None] = lambda step: None,
        is_lockstep: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Takes turns on the lane with inference, which has a share of 1; the trainer's follows the limiter."""
        self._learner, self._backend, self._replay, self._limiter = learner, backend, replay, limiter
        self._seed, self._publishing, self._turns, self._micro_s = seed, publishing, turns, micro_s
        self._on_published, self._on_step = on_published, on_step
        self._is_lockstep, self._clock = is_lockstep, clock
        self._published = published or Published(0, learner.weights(), learner.steps, clock())
        self._last_version = max(last_version, self._published.version)
        self._step_lock = asyncio.Lock()  # held from a draw until what follows from it is published
        self._lane = lane
        self._todo: deque[_Turn] = deque()
        self._is_running = False
        self._micro_rows, self._per_row_s = 0, 0.0
        self._seats = np.zeros((4, learner.shape.players))
        self._report, self._rows = StepReport(learner.steps, 0, 0.0, 0.0, 0.0, 0.0, ()), learner.rows
        self._version_lag = 0.0
        lane.attach(self, share=1.0, is_first=is_lockstep)

    @property
    def version(self) -> int:
        """Of the weights that answer."""
        return self._published.version

    @property
    def last_version(self) -> int:
        """The newest that has ever answered, in this run or before it was resumed."""
        return self._last_version

    def add(self, examples: Examples) -> None:
        """Take the examples of a finished game, at least one."""
        self._replay.add(examples)
        self._limiter.count_inserted(examples.rows)
        self._set_share()

    async def run(self) -> None:
        """Train until cancelled."""
        while True:
            await self._limiter.until_can_sample()
            async with self._step_lock:
                await self._step()

    async def progress(self) -> TrainerState:
        """Take a copy of everything between two steps; the lane must be running."""
        async with self._step_lock:
            return self._progress(await self.on_lane(self._learner.save))

    def last_progress(self) -> TrainerState:
        """The same once neither this trainer nor the lane runs any more."""
        return self._progress(self._learner.save())

    async def until_at_rest(self) -> None:
        """Return when the limiter lets no further step begin and none is under way."""
        while True:
            await self._limiter.until_training_waits()
            async with self._step_lock:
                if not self._limiter.can_sample:
                    return

    async def on_lane(self, work: Callable[[], Result]) -> Result:
        """Run ``work`` on the lane's thread, where the learner lives, after what is queued already."""
        result: Result = await self._queue([work])
        return result

    def stats(self) -> LearnFigures:
        counts, report, seats = self._limiter.state(), self._report, seat_scores(self._seats)
        return LearnFigures(
            version=self.version,
            steps=report.step,
            rows=self._rows,
            policy_loss=report.policy_loss,
            value_loss=report.value_loss,
            seat_losses=seats.losses,
            seat_r2=seats.r2,
            micro_rows=self._micro_rows,
            device_s=self._lane.busy_s(self),
            inserted_rows=counts.inserted,
            window_rows=self._replay.rows,
            window_mb=self._replay.held_bytes / (1 << 20),
            early_rows=self._replay.early_rows,
            age_rows=self._replay.age_rows,
            version_lag=self._version_lag,
            sampled_rows=counts.sampled,
            samples_per_insert=counts.sampled / max(counts.inserted, 1),
            balance=self._limiter.balance.value,
        )

    def due_in_s(self, now_s: float, running: int) -> float:
        while self._todo and self._todo[0].done.cancelled():
            self._todo.popleft()
        return 0.0 if self._todo and not self._is_running else math.inf

    def start(self, now_s: float) -> Task:
        """All of a turn is done at launch: the learner belongs to the thread that launches."""
        turn, self._is_running = self._todo.popleft(), True

        def launch() -> Finish:
            result = turn.run()
            return lambda: result

        def landed(result: Any, seconds: float) -> None:
            self._is_running = False

        def deliver(result: Any) -> None:
            if turn.is_last and not turn.done.cancelled():
                turn.done.set_result(result)

        return Task(launch, landed, deliver)

    def _progress(self, saved: LearnerState) -> TrainerState:
        return TrainerState(saved, self._published, self._clock() - self._published.at_s, self._last_version)

    async def _step(self) -> None:
        """Draw a batch, train on it, publish the weights if they are due.

        The draw is made on the loop, so that counts alone decide what is in it; what takes milliseconds is not.
        """
        generator = np.random.default_rng((self._seed, self._learner.steps))
        draw = self._replay.draw(self._limiter.batch_rows, generator)
        self._limiter.count_sampled()
        self._set_share()

        def gather() -> Examples:
            batch = draw.gather()
            return batch if self._turns is None else augment(batch, *self._turns, generator)

        batch = await self._off_loop(gather)
        self._version_lag = self.version - float(batch.versions.mean())

        if self._is_lockstep:
            self._micro_rows = even_rows(batch.rows, LOCKSTEP_MICRO_ROWS)
        else:
            self._micro_rows = micro_rows(batch.rows, self._per_row_s, self._micro_s())
        *early, last = self._learner.micro_batches(batch, self._micro_rows)
        busy_s = self._lane.busy_s(self)
        report, weights = await self._queue([*early, lambda: self._finish_step(last)])
        self._report, self._rows = report, self._rows + report.rows
        self._seats = SEAT_FADE * self._seats + np.array(report.seats)
        per_row_s = (self._lane.busy_s(self) - busy_s) / report.rows
        self._per_row_s = FADE * self._per_row_s + (1 - FADE) * per_row_s if self._per_row_s else per_row_s

        if weights is not None:
            await self._publish(weights, report.step)
        self._on_step(report.step)

    def _finish_step(self, last: Callable[[], StepReport | None]) -> tuple[StepReport, Weights | None]:
        """On the lane's thread: weights that may be published are copied before the next step changes them."""
        report = last()
        assert report is not None, "the last micro-batch of a step reports"
        is_ripe = report.step - self._published.step >= self._publishing.steps
        return report, self._learner.weights() if is_ripe else None

    async def _publish(self, weights: Weights, step: int) -> None:
        """Swap the weights in between two batches, if they have moved far enough or the present ones are old."""
        now_s = self._clock()
        age_s = now_s - self._published.at_s

        def prepare() -> Prepared | None:
            is_due = self._publishing.is_due(distance(weights, self._published.weights), age_s)
            return self._backend.prepare(weights, self._last_version + 1) if is_due else None

        prepared = await self._off_loop(prepare)
        if prepared is not None:
            await self.on_lane(lambda: self._backend.swap(prepared))
            self._published = Published(prepared.version, weights, step, now_s)
            self._last_version = prepared.version
            self._on_published(prepared.version, weights)

    async def _off_loop(self, work: Callable[[], Result]) -> Result:
        """In a thread, or right here where the order of things must not depend on threads."""
        return work() if self._is_lockstep else await asyncio.to_thread(work)

    def _queue(self, runs: list[Callable[[], Any]]) -> asyncio.Future[Any]:
        """Put these on the lane, a turn each; the future gets what the last one returns."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        last = len(runs) - 1
        self._todo.extend(_Turn(run, done, place == last) for place, run in enumerate(runs))
        self._lane.wake()
        return done

    def _set_share(self) -> None:
        inference, training = self._limiter.shares()
        self._lane.set_share(self, training / inference)


def micro_rows(batch_rows: int, per_row_s: float, most_s: float) -> int:
    """Rows of a micro-batch that takes ``most_s`` at most, where that leaves it a decent size."""
    if most_s == math.inf:
        return batch_rows
    fitting = int(most_s / per_row_s) if per_row_s > 0 else LEAST_MICRO_ROWS
    return even_rows(batch_rows, max(fitting, LEAST_MICRO_ROWS))


def even_rows(batch_rows: int, most_rows: int) -> int:
    """Cut a batch into as few parts as ``most_rows`` allows, all about equally long."""
    parts = math.ceil(batch_rows / most_rows)
    return math.ceil(batch_rows / parts)
