"""A run of a population: the engine, a trainer beside the lane, and greedy episodes on the same queue."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from asyncplay import machine as memory
from asyncplay import rng
from asyncplay.config.sections import Config
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.entries import VersionEntry
from asyncplay.engine.engine import Engine, Storage
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import shares
from asyncplay.engine.recorder import GameRecorder
from asyncplay.engine.saver import Saver
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.games import environments
from asyncplay.methods import parts as shared
from asyncplay.methods.limits import byte_limits
from asyncplay.methods.population import parts
from asyncplay.methods.population.checkpoint import capture, restore
from asyncplay.methods.population.episodes import episode_flaw
from asyncplay.methods.population.members import read_members
from asyncplay.methods.population.messages import ActSpec, Episode
from asyncplay.methods.population.refill import RingRefill
from asyncplay.methods.population.trainer import PopulationProgress, PopulationTrainer, PublishedStack, Stack
from asyncplay.methods.population.tryout import Rewards, Tryout
from asyncplay.methods.selfplay.checkpoint import losses, read_stored
from asyncplay.methods.selfplay.trainer import Publishing
from asyncplay.model.backends.quantile_backend import QuantileBackend
from asyncplay.model.nets import to_bytes
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.snapshot import Result
from asyncplay.rundir import weights as stored_weights
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

ACTING_MODEL, TRIED_MODEL = 0, 1  # what asks name: the newest weights; those of the last tryout
REFILLING = "rebuild"  # the reason for which play is held

Say = Callable[[str], None]


class PopulationRun:
    """Everything of one run.

    Lifetime: ``run`` from the first worker to the last saved weights. ``drain`` stops at once and saves: episodes
    under way were not promised to anybody.
    """

    def __init__(
        self, config: Config, folder: Path, say: Say, found: Checkpoint | None = None, *, is_resumed: bool = False
    ) -> None:
        """``found`` is the checkpoint to go on from; a resumed run may have none and still have episodes."""
        self._config, self.folder, self._say = config, RunFolder(folder, say), say
        self._is_lockstep, self._is_draining = config.pool.kind == "inline", False
        self.environment = environments.load(config.game.name, config.game.options)
        self.members = read_members(config.population, self.environment.players)
        self.shape = parts.quantile_shape(config, self.environment, self.members)
        say(f"compiling the kernels of {self.environment.name}, unless they are in the cache")
        # Once, before workers start: two on a cold cache would both compile.
        self.environment.warm(lambda done, total, name: log.info("kernel %d of %d %s", done, total, name))
        self.device = parts.training_device(config)
        self.limits = byte_limits(config, memory.at_hand())
        self.learner = parts.make_learner(config, self.shape, self.device)
        restored = restore(found, self.learner, time.perf_counter())
        self._backend = self._open_model(restored.published)
        store = shared.open_game_store(config, folder, self.environment.players, is_resumed=is_resumed)
        stored = read_stored(folder)
        self._stored_rows = stored.kept.rows
        self.engine = self._make_engine(
            UnitWork(
                self._make_assignment(),
                parts.make_ledger(config, stored),
                finished=self._take,
                check=lambda episode: self._check(episode, rng.derive(config.train.seed, episode.unit)),
            ),
            Storage(self.folder, store, shared.recorder_limits(config, self.limits)),
        )
        assert self.engine.recorder is not None, "episodes are stored"
        self.recorder: GameRecorder = self.engine.recorder
        self.note, self.measure = self.recorder.note, self.recorder.measure
        self.limiter = parts.make_limiter(config, self.members, stored.kept.rows, self.learner.steps, restored.ratio)
        self.saver = Saver(self.folder, self._capture, config.checkpoint, saved_step=self.learner.most_steps)
        last_version = max(restored.last_version, stored.last_version)
        self.trainer = self._make_trainer(restored.published, last_version)
        self.tried: tuple[int, Rewards] | None = None  # the latest greedy episodes, and of which version
        self.engine.settings.listen(self._retune)
        self.limiter.listen(self._heed_limiter)
        self._heed_limiter()
        for line in losses(folder, stored.kept, restored.kept):
            log.error("%s", line)
            say(f"warning: {line}")
        self._episodes_before, self._latest_unit = stored.kept.games, 0

    async def run(self) -> None:
        """Play and learn until the engine ends; everything is saved whatever ended it."""
        try:
            async with self.recorder:
                agents, networks = self.environment.players, self.shape.networks
                self.note(
                    "start", f"seed {self._config.train.seed}, {agents} agents, {networks} networks, {self.device}"
                )
                async with asyncio.TaskGroup() as group:
                    services = [
                        group.create_task(self._learn()),
                        group.create_task(self._save_at_barriers() if self._is_lockstep else self.saver.run()),
                    ]
                    if self._config.arena.every_s:
                        services.append(group.create_task(self._try()))
                    await self.engine.run()
                    for service in services:
                        service.cancel()
                self.note("stop", f"version {self.trainer.version} after {self.learner.most_steps} steps")
        finally:
            self.trainer.close()
            await self._save_weights(self.trainer.version, self.trainer.weights)
            await self.saver.write(self._checkpoint_of(self.trainer.last_progress()))

    def drain(self) -> None:
        """In lockstep the run goes on to its next barrier, from where it can be resumed exactly."""
        self._is_draining = True
        if not self._is_lockstep:
            self.engine.halt()

    def checkpoint(self) -> None:
        """Save soon."""
        self.saver.request()

    def figures(self) -> Figures:
        stats, population = self.engine.stats(), self._config.population
        epsilon = max(population.epsilon * population.epsilon_factor**self._latest_unit, population.epsilon_least)
        return Figures(
            name="rows",
            total=stats.rows,
            unit="games",
            units=self.engine.ledger.books.done,
            workers=tuple(self.engine.supervisor.stats()),
            parts=(stats, replace(self.trainer.stats(), epsilon=epsilon), self.recorder.stats()),
            results=() if self.tried is None else (_result(*self.tried),),
            device="cpu" if self.device == "cpu" else "gpu",
            holds=frozenset(self.engine.work.holds),
        )

    def summary(self, seconds: float) -> list[str]:
        train, n_episodes = self.trainer.stats(), self.engine.ledger.books.done
        per_minute = (n_episodes - self._episodes_before) / seconds * 60
        lines = [
            f"episodes {n_episodes:,}, {per_minute:,.0f} a minute; version {train.version} after {train.steps:,} "
            f"steps; reward of the latest {train.reward:.1f}; published {train.published:,}, skipped "
            f"{train.skipped:,}, {train.publish_s / seconds:.2%} of the time"
        ]
        if self.tried is not None:
            version, found = self.tried
            lines.append(f"greedy, version {version}: {found.total}")
        return lines

    def _make_trainer(self, published: PublishedStack, last_version: int) -> PopulationTrainer:
        config, learn = self._config, self._config.learn
        age_s = math.inf if self._is_lockstep else learn.publish_age_s
        return PopulationTrainer(
            self.learner,
            self._backend,
            parts.make_ring(config, self.environment),
            self.limiter,
            self.members,
            batch_rows=learn.batch_rows,
            seed=config.train.seed,
            publishing=Publishing(learn.publish_steps, learn.publish_distance, age_s),
            published=published,
            last_version=last_version,
            threads=parts.n_threads(config) if self.device == "cpu" else 0,
            on_published=self._published,
            on_step=self.saver.stepped,
            is_lockstep=self._is_lockstep,
        )

    def _make_assignment(self) -> Assignment:
        config, population = self._config, self._config.population
        each = max(shares(population.environments, shared.n_workers(config))[0], 1)
        spec = ActSpec(
            config.game.name,
            json.dumps(config.game.options),
            each,
            ACTING_MODEL,
            float(population.epsilon),
            float(population.epsilon_factor),
            float(population.epsilon_least),
        )
        return Assignment("act", encode(spec), config.train.seed, chunk=each, low_water=each)

    def _make_engine(self, work: UnitWork, storage: Storage) -> Engine:
        config = self._config
        engine = Engine(
            shared.make_pool(config.pool.kind),
            work,
            workers=shared.n_workers(config),
            settings=shared.live_settings(config, learns=True),
            limits=shared.limits(config, self.limits),
            patience=shared.patience(config),
            is_lockstep=self._is_lockstep,
            storage=storage,
            say=self._say,
            on_death=lambda member: self.note(
                "death", f"worker {member.number} died: {member.cause}", {"worker": member.number}
            ),
        )
        engine.serve(ACTING_MODEL, self._endpoint(self._backend))
        return engine

    def _open_model(self, published: PublishedStack) -> QuantileBackend:
        weights = self.members.acting(published.history)
        quantiles = self.shape.quantiles
        return QuantileBackend(weights, published.version, quantiles=quantiles, device=self.device, threads=1)

    def _endpoint(self, backend: QuantileBackend) -> Endpoint:
        rows = (1 + self.environment.features, self.environment.actions)
        return Endpoint(*rows, backend.launch, dtype=self.environment.feature_dtype)

    def _check(self, episode: Episode, seed: int) -> None:
        """WireError if an episode cannot be stored and learned from; ``seed`` is its unit's."""
        if flaw := episode_flaw(episode, self.environment, seed=seed, version=self.trainer.last_version):
            raise WireError(f"episode {episode.unit} has {flaw}")

    def _take(self, episode: Episode) -> None:
        """Train on an episode that is stored."""
        self._latest_unit = max(self._latest_unit, episode.unit)
        self.trainer.add(episode)

    async def _learn(self) -> None:
        """Train, once the rings hold what they held; no episode begins before."""
        dispatcher, work, config = self.engine.dispatcher, self.engine.work, self._config
        if self._stored_rows:
            dispatcher.hold(work, REFILLING, True)
            refill = RingRefill(config, self.folder.path, dispatcher, self._check, self.trainer.keep)
            held = config.population.replay_rows * self.environment.players
            await refill.run(max(self._stored_rows - held, 0), self._stored_rows)
            dispatcher.hold(work, REFILLING, False)
        await self.trainer.run()

    async def _save_at_barriers(self) -> None:
        """Come to rest every so many episodes, with nothing under way, and save: from there a resumed run goes on bit
        for bit."""
        work, leg = self.engine.work, parts.leg_episodes(self._config)
        while True:
            await work.at_barrier.wait()
            await self.trainer.until_at_rest()
            await self.saver.save()
            if self._is_draining:
                self.engine.halt()
                return
            self.engine.dispatcher.move_barrier(work, work.ledger.next_unit + leg)

    async def _try(self) -> None:
        """Every so often, see what the newest weights get when nothing is random."""
        while True:
            await asyncio.sleep(self._config.arena.every_s)
            version, weights = self.trainer.version, self.trainer.weights
            await self._save_weights(version, weights)
            published = PublishedStack(version, [weights], 0, 0.0)
            self.engine.serve(TRIED_MODEL, self._endpoint(self._open_model(published)))
            tryout = Tryout(
                self._config,
                self.environment,
                model=TRIED_MODEL,
                episodes=self._config.arena.games,
                seed=self._config.train.seed,
            )
            found = await tryout.play(self.engine.dispatcher)
            self.tried = (version, found)
            text = f"version {version}, greedy: {found.total} in {found.episodes} episodes"
            self._say(f"arena: {text}")
            log.info("arena: %s", text)
            facts = {"against": "greedy", "version": version, "score": found.total.mean}
            facts |= {"low": found.total.low, "high": found.total.high}
            self.note("arena", text, facts | {"points_by_seat": [agent.mean for agent in found.agents]})

    async def _capture(self) -> Checkpoint:
        return self._checkpoint_of(await self.trainer.progress())

    def _checkpoint_of(self, progress: PopulationProgress) -> Checkpoint:
        counts, ratio = self.limiter.state(), self.limiter.ratio_state()
        return capture(self._config, progress, counts=counts, ratio=ratio, kept=self.recorder.position)

    def _retune(self) -> None:
        if (ratio := self.engine.settings.samples_per_insert) is not None:
            self.limiter.retune(ratio)

    def _heed_limiter(self) -> None:
        self.engine.dispatcher.hold(self.engine.work, "limiter", self.limiter.is_play_ahead)

    def _published(self, version: int, weights: Stack) -> None:
        log.info("version %d after %d steps", version, self.learner.most_steps)
        self.recorder.add(VersionEntry(version, time.time(), self.learner.most_steps, self.recorder.stats().games))

    async def _save_weights(self, version: int, weights: Stack) -> None:
        facts = json.dumps(asdict(self.shape)).encode()
        await self.folder.persist(
            "weights", lambda place: stored_weights.save(place, version, to_bytes(weights), facts)
        )


def _result(version: int, found: Rewards) -> Result:
    by_agent = tuple(agent.mean for agent in found.agents)
    return Result(f"greedy, version {version}", found.total.mean, found.total.low, found.total.high, by_agent)
