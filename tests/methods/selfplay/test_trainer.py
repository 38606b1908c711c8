"""The trainer on a real lane with a real, tiny network."""

import asyncio
import json
import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.config.sections import ReplaySettings
from asyncplay.data.replay import Replay, augment, turn_by_table
from asyncplay.engine.lane import Finish, Lane, Task
from asyncplay.engine.limiter import Balance, Limiter, SampleRatio
from asyncplay.errors import AsyncplayError
from asyncplay.methods.selfplay.games import examples_of
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.trainer import LEAST_MICRO_ROWS, Published, Publishing, Trainer, even_rows, micro_rows
from asyncplay.model.backend import Prepared
from asyncplay.model.backends.torch_backend import TorchBackend
from asyncplay.model.learner import Learner, LearnerSettings, StepReport
from asyncplay.model.nets import Weights
from asyncplay.model.schedule import LearningRate
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Examples, Positions

SHAPE = NetShape("mlp", features=4, actions=4, players=2, width=16, blocks=1)
MIRROR = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], np.int32)  # of features and of actions
ROWS = 16  # of a game
SEED = 5


def game(unit: int, version: int = 0) -> Game:
    """The first of four features that is set names the best action; seat 0 wins."""
    random = np.random.default_rng(unit)
    features = random.integers(0, 2, (ROWS, 4)).astype(np.uint8)
    targets = np.zeros((ROWS, 4), np.float32)
    targets[np.arange(ROWS), features.argmax(1)] = 1
    seats = (np.arange(ROWS) % 2).astype(np.int8)
    return Game(
        job=1,
        unit=unit,
        seed=unit,
        reason="",
        returns=np.array([1.0, -1.0]),
        outcome=np.array([1.0, -1.0], np.float32),
        actions=np.zeros(ROWS, np.int32),
        decisions=np.arange(ROWS, dtype=np.int32),
        seats=seats,
        versions=np.full(ROWS, version, np.int32),
        features=features,
        legal=np.tile(np.arange(4, dtype=np.int32), ROWS),
        offsets=np.arange(0, 4 * ROWS + 1, 4, dtype=np.int32),
        targets=targets.reshape(-1),
        values=np.where(seats[:, None] == 0, [1, -1], [-1, 1]).astype(np.float32),
        states=np.empty((ROWS, 0), np.int64),
    )


def new_learner(seed: int = 1) -> Learner:
    return Learner(SHAPE, LearnerSettings(LearningRate(peak=0.01, warmup_steps=1)), seed, threads=(1,))


@dataclass
class FakeBackend:
    """Remembers what was prepared and swapped in, and on which threads."""

    name: str = "fake"
    depth: int = 1
    swapped: list[Prepared] = field(default_factory=list)
    threads: dict[str, set[int]] = field(default_factory=lambda: {"prepare": set(), "swap": set()})

    def launch(self, positions: Positions) -> Finish:
        raise NotImplementedError

    def prepare(self, weights: Weights, version: int) -> Prepared:
        self.threads["prepare"].add(threading.get_ident())
        return Prepared(version, weights)

    def swap(self, prepared: Prepared) -> None:
        self.threads["swap"].add(threading.get_ident())
        self.swapped.append(prepared)


class Inference:
    """A source of the lane that always wants the device."""

    def __init__(self, diary: list[str]) -> None:
        self.diary = diary

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0

    def start(self, now_s: float) -> Task:
        self.diary.append("i")
        return Task(lambda: lambda: None, lambda result, seconds: None, lambda result: None)


class Rig:
    """A trainer with all it needs, and what it published."""

    def __init__(
        self, pace: SampleRatio, *, is_lockstep: bool = False, learner: Learner | None = None, **kind: object
    ) -> None:
        self.learner = learner or new_learner()
        self.backend = kind.pop("backend", None) or FakeBackend()
        self.replay = Replay(4, np.uint8, 2, window=ReplaySettings(start_rows=10_000), block_rows=64)
        self.limiter = Limiter(pace)
        self.lane = kind.pop("lane", None) or Lane(is_inline=is_lockstep)
        self.published: list[tuple[int, int]] = []  # version and step
        self.trainer = Trainer(
            self.learner,
            self.backend,
            self.replay,
            self.limiter,
            self.lane,
            seed=SEED,
            is_lockstep=is_lockstep,
            on_published=lambda version, weights: self.published.append((version, self.learner.steps)),
            **kind,
        )

    def take(self, played: Game) -> None:
        self.trainer.add(examples_of(played, self.learner.shape.players))

    def play(self, games: int, first: int = 0) -> None:
        for unit in range(first, first + games):
            self.take(game(unit))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Each look takes a turn on the lane, so something has happened since the last one."""
        while not is_so():
            await self.trainer.on_lane(lambda: None)

    async def until_ahead(self) -> None:
        """All steps that the games played allow are made, and all but the last have been published or not."""
        stats = self.trainer.stats
        await self.until(lambda: not self.limiter.can_sample and stats().rows == stats().sampled_rows)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[list[asyncio.Task[None]]]:
        """Lane and trainer at work, and their tasks."""
        tasks = [asyncio.create_task(self.lane.run()), asyncio.create_task(self.trainer.run())]
        try:
            yield tasks
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


def assert_equal(left: Weights, right: Weights) -> None:
    for name, weight in left.items():
        np.testing.assert_array_equal(weight, right[name], err_msg=name)


async def test_the_loss_falls_on_a_toy_problem():
    """Which action is best can be read off the features and who wins off nothing: ln 4 + 1 at first."""
    rig = Rig(SampleRatio(ratio=8, batch_rows=64, band_rows=64), micro_s=lambda: 0.001)
    async with rig.running():
        rig.play(1)
        await rig.until_ahead()
        first = rig.trainer.stats()
        rig.play(99, first=1)
        await rig.until_ahead()
    last = rig.trainer.stats()
    assert first.policy_loss == pytest.approx(math.log(4), abs=0.3)
    assert last.steps == (8 * 100 * ROWS + 64) // 64 == 201
    assert last.policy_loss < 0.3


async def test_micro_batches_on_the_lane_learn_what_whole_batches_learn():
    """The twin draws the same rows and trains on each batch in one piece."""
    pace = SampleRatio(ratio=4, batch_rows=128, band_rows=128)
    rig = Rig(pace, micro_s=lambda: 0.0, turns=(MIRROR, turn_by_table(MIRROR)))
    rig.play(16)
    async with rig.running():
        await rig.until_ahead()
    assert rig.trainer.stats().micro_rows == LEAST_MICRO_ROWS

    twin, kept = new_learner(), Replay(4, np.uint8, 2, window=ReplaySettings(start_rows=10_000))
    for unit in range(16):
        kept.add(examples_of(game(unit), 2))
    for step in range(9):
        random = np.random.default_rng((SEED, step))
        twin.train(augment(kept.sample(128, random), MIRROR, turn_by_table(MIRROR), random))
    assert rig.learner.steps == twin.steps == 9
    theirs = twin.weights()
    for name, weight in rig.learner.weights().items():
        np.testing.assert_allclose(weight, theirs[name], atol=1e-5, err_msg=name)


async def test_steps_are_made_as_the_limiter_allows_and_then_wait_for_games():
    rig = Rig(SampleRatio(ratio=2, batch_rows=32, band_rows=32, minimum_rows=4 * ROWS))
    async with rig.running():
        rig.play(3)
        await rig.trainer.on_lane(lambda: None)
        assert rig.trainer.stats().balance == Balance.FILLING.value
        assert rig.learner.steps == 0
        rig.play(1, first=3)
        await rig.until_ahead()
        assert rig.learner.steps == (2 * 64 + 32) // 32
        rig.play(2, first=4)
        await rig.until_ahead()
        assert rig.learner.steps == (2 * 96 + 32) // 32


async def test_weights_are_published_after_every_so_many_steps():
    rig = Rig(SampleRatio(ratio=4, batch_rows=32, band_rows=32), publishing=Publishing(steps=3))
    rig.play(5)
    async with rig.running():
        await rig.until_ahead()
        await rig.until(lambda: len(rig.published) == 3)
    assert rig.learner.steps == (4 * 80 + 32) // 32 == 11
    assert rig.published == [(1, 3), (2, 6), (3, 9)]
    assert [prepared.version for prepared in rig.backend.swapped] == [1, 2, 3]


async def test_what_is_swapped_in_are_the_weights_of_the_step():
    rig = Rig(SampleRatio(ratio=1, batch_rows=16, band_rows=16), publishing=Publishing(steps=2))
    rig.play(1)
    async with rig.running():
        await rig.until(lambda: bool(rig.published))
    assert rig.published == [(1, 2)]
    assert_equal(rig.backend.swapped[0].engine, rig.learner.weights())


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def test_weights_that_hardly_moved_wait_until_they_are_old():
    clock = Clock()
    publishing = Publishing(steps=1, distance=1e6, age_s=60)
    rig = Rig(SampleRatio(ratio=1, batch_rows=16, band_rows=16), publishing=publishing, clock=clock)
    async with rig.running():
        rig.play(5)
        await rig.until_ahead()
        assert (rig.learner.steps, rig.published) == (6, [])
        clock.now_s += 60
        rig.play(2, first=5)
        await rig.until_ahead()
        assert rig.published == [(1, 7)]


async def test_weights_are_published_as_soon_as_they_have_moved_far_enough():
    """Each step moves them, at this rate, by a few percent of their length."""
    rig = Rig(SampleRatio(ratio=4, batch_rows=32, band_rows=32), publishing=Publishing(steps=1, distance=0.05))
    start = rig.learner.weights()
    rig.play(10)
    async with rig.running():
        await rig.until_ahead()
        await rig.until(lambda: bool(rig.published))
    steps = [step for _, step in rig.published]
    assert min(np.diff([0, *steps])) > 1
    assert set(start) == set(rig.backend.swapped[0].engine)


async def test_weights_are_prepared_off_the_loop_and_off_the_lane_and_swapped_on_the_lane():
    rig = Rig(SampleRatio(ratio=1, batch_rows=16, band_rows=16), publishing=Publishing(steps=1))
    rig.play(1)
    async with rig.running():
        await rig.until(lambda: bool(rig.published))
        lane_thread = await rig.trainer.on_lane(threading.get_ident)
    assert rig.backend.threads["swap"] == {lane_thread}
    assert rig.backend.threads["prepare"].isdisjoint({lane_thread, threading.get_ident()})


async def test_answers_carry_the_version_that_was_published():
    learner = new_learner()
    backend = TorchBackend(SHAPE, learner.weights(), 0)
    rig = Rig(
        SampleRatio(ratio=1, batch_rows=16, band_rows=16),
        learner=learner,
        backend=backend,
        publishing=Publishing(steps=2),
    )
    rows = Positions(np.eye(4, dtype=np.float32), np.arange(4, dtype=np.int32), np.arange(5, dtype=np.int32))
    rig.play(3)
    async with rig.running():
        await rig.until_ahead()
        await rig.until(lambda: rig.trainer.version == 2)
        answer = (await rig.trainer.on_lane(partial(backend.launch, rows)))()
    assert answer.version == rig.trainer.version == 2


async def test_inference_gets_its_turns_within_a_training_step():
    """One step in 8 parts; both sides have their turn before it is over."""
    diary: list[str] = []
    rig = Rig(SampleRatio(ratio=1, batch_rows=512, band_rows=512), micro_s=lambda: 0.0)
    inference = Inference(diary)
    rig.lane.attach(inference, share=1.0)
    real_start = rig.trainer.start

    def start(now_s: float) -> Task:
        diary.append("t")
        return real_start(now_s)

    rig.trainer.start = start  # type: ignore[method-assign]
    rig.play(1)
    async with rig.running():
        await rig.until(lambda: rig.learner.steps == 1)
    during = "".join(diary).strip("i")
    assert during.count("t") >= 8
    assert during.count("i") >= 4


@pytest.mark.parametrize("micro_s", [0.0, math.inf])
async def test_a_run_in_lockstep_can_be_repeated_exactly(micro_s):
    """Games come in at certain turns of the inference; time, and what it suggests, must not matter."""
    assert await lockstep_run(0.001) == await lockstep_run(micro_s)


async def lockstep_run(micro_s: float) -> tuple[str, list[tuple[int, int]], bytes]:
    rig = Rig(
        SampleRatio(ratio=4, batch_rows=300, band_rows=300),
        is_lockstep=True,
        micro_s=lambda: micro_s,
        turns=(MIRROR, turn_by_table(MIRROR)),
        publishing=Publishing(steps=2),
    )
    diary = Diary(rig)
    rig.lane.attach(diary, share=1.0)
    async with rig.running():
        await diary.is_full.wait()
    weights = rig.learner.weights()
    return "".join(diary.lines), rig.published, b"".join(weights[name].tobytes() for name in sorted(weights))


class Diary(Inference):
    """Inference that ends a game every third batch, and writes down how far training was at each."""

    def __init__(self, rig: Rig) -> None:
        super().__init__([])
        self.rig, self.lines = rig, self.diary
        self.is_full = asyncio.Event()

    def start(self, now_s: float) -> Task:
        steps, version = self.rig.learner.steps, self.rig.trainer.version
        self.lines.append(f"{steps}/{version} ")
        return Task(lambda: lambda: None, lambda result, seconds: None, self._deliver)

    def _deliver(self, result: None) -> None:
        if len(self.lines) % 3 == 0:
            self.rig.play(1, first=len(self.lines))
        if len(self.lines) > 120:
            self.is_full.set()


async def test_in_lockstep_no_inference_runs_between_the_parts_of_a_step():
    diary: list[str] = []
    rig = Rig(SampleRatio(ratio=1, batch_rows=1024, band_rows=1024), is_lockstep=True)
    rig.lane.attach(Inference(diary), share=1000.0)
    job = rig.learner._learn

    def learn(part, total):
        diary.append("t")
        job(part, total)

    rig.learner._learn = learn  # type: ignore[method-assign]
    rig.play(1)
    async with rig.running():
        await rig.until(lambda: rig.learner.steps == 1)
    assert "tttt" in "".join(diary)


async def test_a_failing_step_ends_the_run():
    rig = Rig(SampleRatio(ratio=1, batch_rows=16, band_rows=16))

    def fail(part: object, total: float) -> None:
        raise AsyncplayError("training diverged")

    rig.learner._learn = fail  # type: ignore[method-assign]
    rig.play(1)
    training = asyncio.create_task(rig.trainer.run())
    with pytest.raises(AsyncplayError, match="diverged"):
        await rig.lane.run()
    training.cancel()
    with suppress(asyncio.CancelledError):
        await training


async def test_a_step_that_is_broken_off_leaves_no_trace():
    rig = Rig(SampleRatio(ratio=1, batch_rows=1024, band_rows=1024), micro_s=lambda: 0.0)
    before = rig.learner.weights()
    part_done = asyncio.Event()
    loop, micro_batches = asyncio.get_running_loop(), rig.learner.micro_batches

    def watched(batch: Examples, rows: int) -> list[Callable[[], StepReport | None]]:
        first, *rest = micro_batches(batch, rows)
        return [lambda: (first(), loop.call_soon_threadsafe(part_done.set))[0], *rest]

    rig.learner.micro_batches = watched  # type: ignore[method-assign]
    rig.play(1)
    async with rig.running() as (_, training):
        await part_done.wait()
        training.cancel()
        after = await rig.trainer.on_lane(rig.learner.weights)
    assert rig.learner.steps == 0
    assert_equal(before, after)


def test_the_share_of_the_lane_follows_the_limiter():
    """The band is 160 rows wide: 80 of them with the first game, 16 more with each, never over 95 %."""
    shares: list[float] = []

    class Scale(Lane):
        def set_share(self, source: object, share: float) -> None:
            shares.append(share)

    rig = Rig(SampleRatio(ratio=1, batch_rows=16, band_rows=64, minimum_rows=32), lane=Scale())
    rig.play(6)
    assert shares == pytest.approx([1, 96 / 64, 112 / 48, 128 / 32, 144 / 16, 19])


async def test_statistics_tell_age_lag_and_counts():
    learner = new_learner()
    published = Published(7, learner.weights(), 0, 0.0)
    rig = Rig(SampleRatio(ratio=1, batch_rows=64, band_rows=64), learner=learner, published=published)
    rig.take(game(0, version=4))
    rig.take(game(1, version=6))
    async with rig.running():
        await rig.until_ahead()
    stats = rig.trainer.stats()
    assert (stats.steps, stats.rows, stats.version) == (1, 64, 7)
    assert (stats.inserted_rows, stats.window_rows, stats.sampled_rows) == (32, 32, 64)
    assert 1 < stats.version_lag < 3
    assert 0 < stats.age_rows < 31
    assert stats.samples_per_insert == 2
    assert stats.balance == Balance.TRAINING_AHEAD.value
    assert stats.device_s > 0


@pytest.mark.parametrize(
    ("per_row_s", "most_s", "rows"),
    [
        (0.0, 0.01, 64),  # nothing measured yet: begin small
        (1e-4, 0.02, 171),  # 200 rows fit; six equal parts
        (1e-4, 1e-6, 64),
        (1e-4, 1.0, 1024),
        (0.0, math.inf, 1024),
    ],
)
def test_a_micro_batch_is_as_long_as_it_may_be(per_row_s, most_s, rows):
    assert micro_rows(1024, per_row_s, most_s) == rows


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_a_batch_is_cut_into_the_fewest_parts_and_evenly(batch_rows, most_rows):
    rows = even_rows(batch_rows, most_rows)
    assert 1 <= rows <= most_rows or rows == batch_rows <= most_rows
    assert math.ceil(batch_rows / rows) == math.ceil(batch_rows / most_rows)


@pytest.mark.parametrize(
    ("moved", "age_s", "is_due"), [(0.0, 0, False), (0.1, 0, True), (0.09, 59, False), (0.0, 60, True)]
)
def test_publishing_is_due_on_change_or_age(moved, age_s, is_due):
    assert Publishing(steps=1, distance=0.1, age_s=60).is_due(moved, age_s) is is_due


async def test_progress_is_taken_between_two_steps():
    """The rows sampled are exactly those trained on, though a batch is counted when it is drawn."""
    rig = Rig(SampleRatio(ratio=4, batch_rows=16, band_rows=64), publishing=Publishing(steps=3))
    rig.play(8)
    seen = []
    async with rig.running():
        for _ in range(5):
            progress = await rig.trainer.progress()
            seen.append((json.loads(progress.learner.facts)["rows"], rig.limiter.state().sampled))
            await rig.trainer.on_lane(lambda: None)
        await rig.trainer.until_at_rest()
        last = await rig.trainer.progress()
    assert [trained for trained, _ in seen] == [sampled for _, sampled in seen]
    facts = json.loads(last.learner.facts)
    assert facts["rows"] == rig.limiter.state().sampled == 4 * 8 * 16 + 64
    assert last.published.version == last.last_version == facts["steps"] // 3
    assert json.loads(rig.trainer.last_progress().learner.facts) == facts


async def test_a_trainer_that_goes_on_gives_no_version_twice():
    """Versions 6 to 9 were published after the checkpoint and are lost, but games that were stored name them."""
    learner = new_learner()
    published = Published(5, learner.weights(), 0, 0.0)
    rig = Rig(
        SampleRatio(ratio=1, batch_rows=16, band_rows=16),
        learner=learner,
        published=published,
        last_version=9,
        publishing=Publishing(steps=1),
    )
    assert rig.trainer.version == 5
    rig.play(1)
    async with rig.running():
        await rig.trainer.until_at_rest()
    assert [version for version, _ in rig.published] == [10, 11]
