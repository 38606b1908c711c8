"""A run of neural self-play: the engine, a trainer on the same lane, and an arena on the same queue."""

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
from asyncplay.engine.tuner import Tuner
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.methods import parts as shared
from asyncplay.methods.limits import byte_limits
from asyncplay.methods.selfplay import parts
from asyncplay.methods.selfplay.arena import HERO_MODEL, Arena
from asyncplay.methods.selfplay.checkpoint import capture, losses, read_stored, restore
from asyncplay.methods.selfplay.games import Ends, examples_of, misfit, record_flaw
from asyncplay.methods.selfplay.messages import Game, SelfplaySpec
from asyncplay.methods.selfplay.network import choose_backend, load_game, open_model, save_weights
from asyncplay.methods.selfplay.placement import COORDINATOR, ModelKey, Placement
from asyncplay.methods.selfplay.score import Score
from asyncplay.methods.selfplay.trainer import Published, Publishing, Trainer, TrainerState
from asyncplay.methods.sizes import Machine, net_shape, session_bytes, worker_bytes
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import BackendChoice, served
from asyncplay.model.nets import Weights, snapshot
from asyncplay.model.nets import build as build_net
from asyncplay.monitor.countdown import countdown
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.snapshot import Result
from asyncplay.rundir.folder import RunFolder
from asyncplay.search import entries
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

LEARNER_MODEL = 0
PLAYING = ModelKey("selfplay", LEARNER_MODEL)
REFILLING = "rebuild"  # the reason for which play is held
MICRO_BATCHES = 2.0  # a training job takes no longer than this many inference batches

Say = Callable[[str], None]


class SelfplayRun:
    """Everything of one training run.

    Lifetime: ``run`` from the first worker to the last saved weights. ``drain`` stops at once and saves: games under
    way were not promised to anybody.
    """

    def __init__(
        self, config: Config, folder: Path, say: Say, found: Checkpoint | None = None, *, is_resumed: bool = False
    ) -> None:
        """``found`` is the checkpoint to go on from; a resumed run may have none and still have games."""
        self._config, self.folder, self._say = config, RunFolder(folder, say), say
        self._is_lockstep, self._is_draining = config.pool.kind == "inline", False
        self.game = load_game(config)
        self.shape, self._facts = net_shape(config, self.game), parts.game_facts(self.game)
        with shared.compiling(f"of {self.game.name}", say) as progress:
            entries.warm(self.game, progress)  # once, before workers start: two on a cold cache would both compile
        self.choice = self._choose_backend()
        self.limits = byte_limits(config, memory.at_hand())
        log.info("at most: %s", self.limits)
        say(f"at most: {self.limits}")

        self.learner = parts.make_learner(config, self.shape, self.choice.best)
        restored = restore(found, self.learner, time.perf_counter())
        version, self._latest = restored.published.version, restored.published.weights
        self._backend = open_model(config, self.shape, self._latest, version, self.choice.best)
        store = shared.open_game_store(config, folder, self.game.players, is_resumed=is_resumed)
        stored = read_stored(folder)
        self.engine = self._make_engine(
            UnitWork(
                self._make_assignment(),
                parts.make_ledger(config, stored),
                finished=self._take,
                check=lambda game: self._check(game, rng.derive(config.train.seed, game.unit)),
            ),
            Storage(self.folder, store, shared.recorder_limits(config, self.limits)),
        )
        assert self.engine.recorder is not None, "games are stored"
        self.recorder: GameRecorder = self.engine.recorder
        self.note, self.measure = self.recorder.note, self.recorder.measure
        self.limiter = parts.make_limiter(config, stored, self.learner.rows, restored.ratio)
        self.replay, self._missing = parts.make_replay(
            config, self.game, self.shape, folder, stored, capacity_bytes=self.limits.window
        )
        self.saver = Saver(self.folder, self._capture, config.checkpoint, saved_step=self.learner.steps)
        self.trainer = self._make_trainer(restored.published, max(restored.last_version, stored.last_version))
        self._placement = self._make_placement()
        self._arena = Arena(
            config,
            self.game,
            self.engine.dispatcher,
            restored.arena,
            newest=lambda: (self.trainer.version, self._latest),
            serve=self._serve_copy,
            on_result=self._note_result,
        )
        self.engine.settings.listen(self._retune)
        self.limiter.listen(self._heed_limiter)
        self._heed_limiter()
        if restored.tuner is not None and isinstance(self.engine.tuner, Tuner):
            self.engine.tuner.restore(restored.tuner)
        for line in losses(folder, stored.kept, restored.kept):
            log.error("%s", line)
            say(f"warning: {line}")
        self._games_before = stored.kept.games
        self._shortened = self._unrecorded = 0
        self._arena_versions: dict[str, int] = {}  # that met each opponent last, since this process began
        self._ends = Ends(self.game.players)

    def _choose_backend(self) -> BackendChoice:
        fresh = snapshot(build_net(self.shape, self._config.train.seed))
        with countdown("measuring what computes fastest", self._say):
            choice = choose_backend(self._config, self.shape, fresh, self.game)
        for line in choice.report():
            log.info("backend %s", line)
        self._say(f"backend {choice.best}: {choice.rows_per_s:,.0f} rows/s")
        return choice

    async def run(self) -> None:
        """Play and learn until the engine ends; everything is saved whatever ended it."""
        try:
            async with self.recorder:
                self.note("start", f"seed {self._config.train.seed}, backend {self.choice.best}")
                async with asyncio.TaskGroup() as group:
                    services = [
                        group.create_task(self._learn()),
                        group.create_task(self._save_at_barriers() if self._is_lockstep else self.saver.run()),
                    ]
                    if self._placement is not None:
                        services.append(group.create_task(self._placement.run()))
                    if self._config.arena.every_s:
                        services.append(group.create_task(self._arena.run()))
                    await self.engine.run()
                    for service in services:
                        service.cancel()
                self.note("stop", f"version {self.trainer.version} after {self.learner.steps} steps")
        finally:
            await self._save_weights(self.trainer.version, self._latest)
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
        stats, backend = self.engine.stats(), self.choice.best.backend
        if self._placement is not None:
            stats = replace(stats, placement=self.placement)
        learning = replace(self.trainer.stats(), shortened=self._shortened, unrecorded=self._unrecorded)
        return Figures(
            name="rows",
            total=stats.rows,
            unit="games",
            units=self.engine.ledger.books.done,
            workers=tuple(self.engine.supervisor.stats()),
            parts=(stats, learning, self.recorder.stats(), self._ends.figures()),
            results=tuple(
                Result(
                    f"vs {name}", result.score, result.low, result.high, result.points, result.unit, self._judged(name)
                )
                for name, result in self._arena.state.results.items()
            ),
            limit_per_s=self.choice.rows_per_s,
            device="cpu" if backend in device.ON_CPU else "sim" if backend == "sim" else "gpu",
            holds=frozenset(self.engine.work.holds),
        )

    def summary(self, seconds: float) -> list[str]:
        train, n_games = self.trainer.stats(), self.engine.ledger.books.done
        per_minute = (n_games - self._games_before) / seconds * 60
        line = (
            f"games {n_games:,}, {per_minute:,.0f} a minute; version {train.version} after "
            f"{train.steps:,} steps; loss {train.policy_loss:.3f} policy, {train.value_loss:.3f} value"
        )
        return [line] + [f"arena against {name}: {result}" for name, result in self._arena.state.results.items()]

    @property
    def placement(self) -> str:
        """Where the network answers now."""
        return COORDINATOR if self._placement is None else self._placement.in_force

    @property
    def is_placed(self) -> bool:
        """Whether that is settled: it was not for the run to choose, or the run has chosen."""
        return self._placement is None or self._placement.is_settled

    @property
    def _may_place(self) -> bool:
        """Whether the network may answer in the workers."""
        return not self._is_lockstep and self.choice.best.backend in device.IN_WORKERS

    def _make_placement(self) -> Placement | None:
        if not self._may_place:
            return None
        placement = Placement(
            self.engine,
            self.folder,
            session_bytes=session_bytes(self.shape),
            free_bytes=memory.at_hand,
            say=self._say,
            note=self.note,
        )
        placement.publish(PLAYING, served(self._backend))
        return placement

    def _make_trainer(self, published: Published, last_version: int) -> Trainer:
        learn, is_lockstep = self._config.learn, self._is_lockstep
        age_s = math.inf if is_lockstep else learn.publish_age_s
        return Trainer(
            self.learner,
            self._backend,
            self.replay,
            self.limiter,
            self.engine.lane,
            seed=self._config.train.seed,
            publishing=Publishing(learn.publish_steps, learn.publish_distance, age_s),
            turns=parts.make_turns(self.game) if learn.symmetries else None,
            published=published,
            last_version=last_version,
            micro_s=self._micro_s,
            on_published=self._published,
            on_step=self.saver.stepped,
            is_lockstep=is_lockstep,
        )

    def _make_assignment(self) -> Assignment:
        config = self._config
        n_games = max(shares(config.search.games, shared.n_workers(config))[0], 2)
        spec = SelfplaySpec(
            config.game.name,
            json.dumps(config.game.options),
            n_games,
            json.dumps(asdict(config.search)),
            cache=0 if self._is_lockstep else config.search.cache_positions,
            cache_bytes=self.limits.cache,
            shows_hidden=config.net.hidden_features,
        )
        return Assignment("selfplay", encode(spec), config.train.seed, chunk=n_games, low_water=2 * n_games)

    def _make_engine(self, work: UnitWork, storage: Storage) -> Engine:
        config, workers = self._config, shared.n_workers(self._config)
        one_more = worker_bytes(config, self.game, Machine(workers, memory.at_hand()))
        engine = Engine(
            shared.make_pool(config.pool.kind),
            work,
            workers=workers,
            settings=shared.live_settings(config, learns=True, places=self._may_place, worker_bytes=one_more),
            limits=shared.limits(config, self.limits),
            patience=shared.patience(config),
            depth=1 if self._is_lockstep else self._backend.depth,
            is_lockstep=self._is_lockstep,
            storage=storage,
            say=self._say,
            on_death=lambda member: self.note(
                "death", f"worker {member.number} died: {member.cause}", {"worker": member.number}
            ),
        )
        engine.serve(LEARNER_MODEL, self._endpoint(self._backend))
        return engine

    def _check(self, game: Game, seed: int) -> None:
        """WireError if a game cannot be stored and learned from; ``seed`` is its unit's."""
        if why := misfit(game, self.shape, self.replay.feature_dtype):
            raise WireError(f"game {game.unit} does not fit the network: {why}")
        if flaw := record_flaw(game, self._facts, seed=seed, version=self.trainer.last_version):
            raise WireError(f"game {game.unit} has {flaw}")

    def _take(self, game: Game) -> None:
        """Train on a game that is stored."""
        self._shortened, self._unrecorded = self._shortened + game.shortened, self._unrecorded + game.unrecorded
        self._ends.add(game)
        if len(game.features):
            self.trainer.add(examples_of(game, self.shape.players))

    async def _learn(self) -> None:
        """Train, once the window holds what it held; in lockstep no game begins before."""
        dispatcher, work = self.engine.dispatcher, self.engine.work
        if not self.replay.is_whole:
            dispatcher.hold(work, REFILLING, self._is_lockstep)
            refill = parts.make_refill(
                self._config, self.folder.path, self.replay, dispatcher, self.shape.players, check=self._check
            )
            await refill.run(self._missing)
            dispatcher.hold(work, REFILLING, False)
        await self.trainer.run()

    async def _save_at_barriers(self) -> None:
        """Come to rest every so many games, with nothing under way, and save: from there a resumed run goes on bit for
        bit."""
        work, leg_games = self.engine.work, parts.leg_games(self._config)
        while True:
            await work.at_barrier.wait()
            await self.trainer.until_at_rest()
            await self.saver.save()
            if self._is_draining:
                self.engine.halt()
                return
            self.engine.dispatcher.move_barrier(work, work.ledger.next_unit + leg_games)

    async def _capture(self) -> Checkpoint:
        """With each checkpoint the weights are saved as a version too, so that others can play them."""
        await self._save_weights(self.trainer.version, self._latest)
        return self._checkpoint_of(await self.trainer.progress())

    def _checkpoint_of(self, trainer: TrainerState) -> Checkpoint:
        tuner = self.engine.tuner
        return capture(
            self._config,
            trainer,
            counts=self.limiter.state(),
            ratio=self.limiter.ratio_state(),
            kept=self.recorder.position,
            arena=self._arena.state,
            tuner=tuner.state() if isinstance(tuner, Tuner) else None,
        )

    def _retune(self) -> None:
        if (ratio := self.engine.settings.samples_per_insert) is not None:
            self.limiter.retune(ratio)

    def _heed_limiter(self) -> None:
        self.engine.dispatcher.hold(self.engine.work, "limiter", self.limiter.is_play_ahead)

    def _micro_s(self) -> float:
        stats = self.engine.evaluator.stats()
        return MICRO_BATCHES * (stats.fixed_s + stats.per_row_s * (stats.rows / max(stats.batches, 1)))

    def _published(self, version: int, weights: Weights) -> None:
        self._latest = weights
        if self._placement is not None:
            self._placement.publish(PLAYING, served(self._backend))
        log.info("version %d after %d steps", version, self.learner.steps)
        self.recorder.add(VersionEntry(version, time.time(), self.learner.steps, self.recorder.stats().games))

    async def _save_weights(self, version: int, weights: Weights) -> None:
        await self.folder.persist("weights", lambda place: save_weights(place, version, weights, self.shape))

    async def _serve_copy(self, model: int, version: int, weights: Weights) -> None:
        """Let a version answer as a model of the arena; our own is saved, so that others can play it too."""
        if model == HERO_MODEL:
            await self._save_weights(version, weights)
        backend = await asyncio.to_thread(open_model, self._config, self.shape, weights, version, self.choice.best)
        self.engine.serve(model, self._endpoint(backend))
        if self._placement is not None:
            await self._placement.serve(ModelKey("match", model), served(backend))

    def _endpoint(self, backend: Backend) -> Endpoint:
        is_timed = self.choice.best.backend == "sim"
        shape = (self.shape.row_features, self.shape.actions)
        return Endpoint(*shape, backend.launch, is_timed=is_timed, dtype=self.game.feature_dtype)

    def _judged(self, name: str) -> str:
        """What the last result against an opponent is of; a resumed run knows no more than its last arena."""
        return f"version {self._arena_versions.get(name, self._arena.state.version)}"

    def _note_result(self, name: str, version: int, result: Score) -> None:
        self._arena_versions[name] = version
        text = f"version {version} against {name}: {result}"
        self._say(f"arena: {text}")
        log.info("arena: %s", text)
        facts = {"against": name, "version": version, "score": result.score, "low": result.low, "high": result.high}
        facts |= {"points_by_seat": result.points, "points_of_others": result.others} if result.points else {}
        self.note("arena", text, facts)
