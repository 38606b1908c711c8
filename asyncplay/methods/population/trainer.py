"""Trains on what the agents did: takes episodes in, trains all networks in rounds of steps, publishes new weights."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from asyncplay.data.transitions import DrawnRows, Transitions
from asyncplay.engine.limiter import Limiter
from asyncplay.methods.population.episodes import passages
from asyncplay.methods.population.figures import PopulationFigures
from asyncplay.methods.population.members import Members
from asyncplay.methods.population.messages import Episode
from asyncplay.methods.selfplay.trainer import Publishing
from asyncplay.model.backends.quantile_backend import QuantileBackend
from asyncplay.model.learner import LearnerState
from asyncplay.model.quantile_learner import Lessons, QuantileLearner, QuantileReport
from asyncplay.payloads import Array

Stack = Mapping[str, Array]

ROUND_STEPS = 8  # most of a round: an odd number of networks leaves a core idle only at its end
LATEST = 100  # episodes whose rewards are averaged


class PublishedStack(NamedTuple):
    """What the agents act by: the newest versions, as many as the oldest of them needs."""

    version: int
    history: list[Stack]  # of networks, the newest last
    step: int  # after which they were last compared with those that are trained
    at_s: float


class PopulationProgress(NamedTuple):
    """What a checkpoint keeps of a trainer, taken between two rounds."""

    learner: LearnerState
    published: PublishedStack
    age_s: float  # of what is published
    last_version: int


class PopulationTrainer:
    """Trains the networks of a population as its limiter allows.

    Lifetime: ``run`` is one task of the run's group. Order: a round draws batches for up to ROUND_STEPS steps of every
    network; the steps of a network follow each other, different networks are trained side by side, on threads beside
    the lane, where they compete with decisions for cores as the system shares these out. Weights are published between
    two rounds. Limit: one round is in work at a time. End: a round that is under way when ``run`` is cancelled is not
    part of what is saved.

    Which rows are drawn depends on the seed and on counts alone; in lockstep, all is computed on the loop, and
    with an inline pool a run is exactly repeatable.
    """

    def __init__(
        self,
        learner: QuantileLearner,
        backend: QuantileBackend,
        replay: Transitions,
        limiter: Limiter,
        members: Members,
        *,
        batch_rows: int,  # of a step of one network
        seed: int,
        publishing: Publishing,
        published: PublishedStack,
        last_version: int,
        threads: int,  # on which networks are trained side by side; 0: all in one call, 1 thread
        on_published: Callable[[int, Stack], None] = lambda version, weights: None,
        on_step: Callable[[int], None] = lambda step: None,
        is_lockstep: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._learner, self._backend, self._replay, self._limiter = learner, backend, replay, limiter
        self._members, self._batch_rows, self._seed = members, batch_rows, seed
        self._publishing, self._published, self._last_version = publishing, published, last_version
        self._is_fused, self._is_lockstep, self._clock = threads == 0, is_lockstep, clock
        self._crew = ThreadPoolExecutor(max(threads, 1), "population")  # they end with the trainer
        self._on_published, self._on_step = on_published, on_step
        self._round_lock = asyncio.Lock()  # held from a draw until what follows from it is published
        self._returns: deque[Array] = deque(maxlen=LATEST)
        self._losses = [0.0] * learner.shape.networks
        self._age_rows = self._version_lag = 0.0
        self._n_published = self._n_skipped = 0
        self._publish_s = self._train_s = 0.0

    @property
    def version(self) -> int:
        """Of the weights that answer."""
        return self._published.version

    @property
    def last_version(self) -> int:
        """The newest that has ever answered, in this run or before it was resumed."""
        return self._last_version

    @property
    def weights(self) -> Stack:
        """That answer now: of networks, not of agents."""
        return self._published.history[-1]

    def keep(self, episode: Episode) -> None:
        """Put the transitions of an episode into the rings."""
        for agent, passage in passages(episode, len(self._members.network_of)):
            self._replay.add(agent, passage)

    def add(self, episode: Episode) -> None:
        """Take a new episode."""
        self.keep(episode)
        self._returns.append(episode.returns)
        self._limiter.count_inserted(len(episode.actions))

    async def run(self) -> None:
        """Train until cancelled."""
        while True:
            await self._limiter.until_can_sample()
            async with self._round_lock:
                await self._round()

    async def progress(self) -> PopulationProgress:
        """Take a copy of everything between two rounds."""
        async with self._round_lock:
            return self.last_progress()

    def last_progress(self) -> PopulationProgress:
        """The same once this trainer does not run any more."""
        age_s = self._clock() - self._published.at_s
        return PopulationProgress(self._learner.save(), self._published, age_s, self._last_version)

    async def until_at_rest(self) -> None:
        """Return when the limiter lets no further step begin and none is under way."""
        while True:
            await self._limiter.until_training_waits()
            async with self._round_lock:
                if not self._limiter.can_sample:
                    return

    def close(self) -> None:
        """Wait for steps that are under way; then the learner is at rest."""
        self._crew.shutdown(cancel_futures=True)

    def stats(self) -> PopulationFigures:
        counts = self._limiter.state()
        means = np.mean(self._returns, axis=0).tolist() if self._returns else []
        return PopulationFigures(
            reward=sum(means),
            agent_rewards=tuple(means),
            version=self.version,
            steps=self._learner.most_steps,
            losses=tuple(self._losses),
            window_rows=self._replay.rows,
            age_rows=self._age_rows,
            version_lag=self._version_lag,
            samples_per_insert=counts.sampled / max(counts.inserted, 1),
            balance=self._limiter.balance.value,
            published=self._n_published,
            skipped=self._n_skipped,
            inserted_rows=counts.inserted,
            sampled_rows=counts.sampled,
            publish_s=self._publish_s,
            train_s=self._train_s,
        )

    async def _round(self) -> None:
        """Draw the batches of some steps, train on them, publish the weights if they are due.

        All is drawn on the loop, so that counts alone decide what is in a batch.
        """
        networks = [own for own in self._members.learning if self._replay.has_rows(self._members.agents_of(own))]
        batches: dict[int, list[DrawnRows]] = {network: [] for network in networks}
        for ahead in range(ROUND_STEPS):
            for network in networks:
                random = np.random.default_rng((self._seed, network, self._learner.steps[network] + ahead))
                drawn = self._replay.draw(self._members.agents_of(network), self._batch_rows, random)
                batches[network].append(drawn)
            self._limiter.count_sampled()
            if not self._limiter.can_sample:
                break
        reports = await self._train(batches)
        for network, found in reports.items():
            self._losses[network] = found[-1].loss
            for drawn, report in zip(batches[network], found, strict=True):
                self._replay.prioritise(drawn, report.errors)
        every = [drawn for of_one in batches.values() for drawn in of_one]
        self._age_rows = float(np.mean([drawn.age_rows for drawn in every]))
        self._version_lag = self.version - float(np.mean([drawn.versions.mean() for drawn in every]))
        if self._learner.most_steps - self._published.step >= self._publishing.steps:
            await self._publish()
        self._on_step(self._learner.most_steps)

    async def _train(self, batches: Mapping[int, list[DrawnRows]]) -> dict[int, list[QuantileReport]]:
        """The steps of each network in order: all networks in one call, or each on whichever thread is free."""
        reports: dict[int, list[QuantileReport]] = {network: [] for network in batches}

        async def train(networks: list[int]) -> None:
            for drawn in zip(*(batches[network] for network in networks), strict=True):
                step = partial(self._timed, networks, [lessons_of(rows) for rows in drawn])
                for report in await self._compute(step):
                    reports[report.network].append(report)

        groups = [list(batches)] if self._is_fused else [[network] for network in batches]
        async with asyncio.TaskGroup() as group:
            for networks in groups:
                group.create_task(train(networks))
        return reports

    def _timed(self, networks: list[int], lessons: list[Lessons]) -> list[QuantileReport]:
        started_s = self._clock()
        reports = self._learner.train(networks, lessons)
        self._train_s += self._clock() - started_s
        return reports

    async def _publish(self) -> None:
        """Let the weights answer that have moved far enough, or if the present ones are old."""
        now_s, step = self._clock(), self._learner.most_steps
        age_s, version = now_s - self._published.at_s, self._last_version + 1
        history = self._published.history

        def prepare() -> tuple[list[Stack], Any]:
            if not self._publishing.is_due(self._learner.distance(history[-1]), age_s):
                return history, None
            newer = [*history, self._learner.weights()][-1 - max(self._members.older) :]
            return newer, self._backend.prepare(self._members.acting(newer), version)

        newer, prepared = await self._compute(prepare)
        if prepared is None:
            self._n_skipped += 1
            self._published = self._published._replace(step=step)
        else:
            self._backend.swap(prepared)
            self._published, self._last_version = PublishedStack(version, newer, step, now_s), version
            self._n_published += 1
            self._on_published(version, newer[-1])
        self._publish_s += self._clock() - now_s

    async def _compute(self, work: Callable[[], Any]) -> Any:
        """On a thread, or right here where the order of things must not depend on threads."""
        if self._is_lockstep:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._crew, work)


def lessons_of(rows: DrawnRows) -> Lessons:
    """As a network learns from them."""
    return Lessons(
        rows.features,
        rows.actions,
        rows.rewards,
        rows.discounts,
        rows.next_features,
        rows.next_legal,
        rows.weight,
    )
