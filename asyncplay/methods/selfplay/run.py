"""A run of neural self-play: the engine, a trainer on the same lane, and an arena on the same queue."""

import asyncio
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay import games, rng
from asyncplay.config.loading import Config, SearchSection
from asyncplay.data import files as disk
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.entries import EventEntry, MetricsEntry, VersionEntry
from asyncplay.data.files import read_file
from asyncplay.engine.dispatch import Assignment, Work
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.saver import Saver
from asyncplay.engine.split import shares
from asyncplay.engine.supervise import Member
from asyncplay.engine.tuner import Tuner
from asyncplay.errors import AsyncplayError, WireError
from asyncplay.games.sampling import random_rows
from asyncplay.games.spec import GameSpec
from asyncplay.methods import parts as build
from asyncplay.methods.selfplay import parts
from asyncplay.methods.selfplay.arena import Arena, Match, Score
from asyncplay.methods.selfplay.check import record_flaw
from asyncplay.methods.selfplay.checkpoint import Restored, Stored, capture, losses, read_stored, restore
from asyncplay.methods.selfplay.messages import Game, MatchSpec, SearchSpec, SelfplaySpec
from asyncplay.methods.selfplay.trainer import Publishing, Trainer, TrainerState
from asyncplay.methods.sizes import net_shape, worker_bytes
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import BackendChoice, Candidate
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import check_weights
from asyncplay.model.shape import NetShape
from asyncplay.model.weights import Weights, from_bytes, snapshot, to_bytes
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.snapshot import Result
from asyncplay.payloads import Ints, Positions
from asyncplay.rundir.folder import RunFolder
from asyncplay.search import entries
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

LEARNER_MODEL, HERO_MODEL, RIVAL_MODEL = 0, 1, 2
SAMPLE_ROWS, FULL_ROWS = 256, 1024  # of the batches that backends are measured with
CHOICE_S, FIGURE_S = 3.0, 0.2  # to choose a backend; to have a figure of the only one
REBUILDING = "rebuild"
MOST_DIGITS, WEIGHTS_BYTES = 19, 1 << 34  # of a version's number, of a version
MICRO_BATCHES = 2.0  # a training job takes no longer than this many inference batches

Say = Callable[[str], None]


def load_game(config: Config) -> GameSpec:
    return games.load(config.game.name, config.game.options)


def sample_positions(game: GameSpec, rows: int = SAMPLE_ROWS) -> Positions:
    """Rows of the right shape to measure a network with; what they say does not matter."""
    random = np.random.default_rng(0)
    features = random.integers(0, 2, (rows, game.features)).astype(game.feature_dtype)
    n_legal = min(game.max_legal, game.actions)
    legal = np.tile(np.arange(n_legal, dtype=np.int32), rows)
    return Positions(features, legal, np.arange(rows + 1, dtype=np.int32) * np.int32(n_legal))


def choose_backend(config: Config, shape: NetShape, weights: Weights, game: GameSpec) -> BackendChoice:
    """Measure what the configuration allows and take the fastest; its figure is that of the better batch size."""
    cores = device.usable_cores()
    threads = [config.device.threads] if config.device.threads else sorted({1, cores})
    options = device.candidates(config.device.backend, threads)

    def open_candidate(option: Candidate) -> Backend:
        return open_model(config, shape, weights, 0, option)

    budget_s, sample = CHOICE_S if len(options) > 1 else FIGURE_S, sample_positions(game)
    choice = device.choose(options, open_candidate, sample, budget_s=budget_s)
    rows = min(config.batch.max_rows, FULL_ROWS)
    full = device.forward_limit(open_candidate, [choice.best], sample, [rows], each_s=FIGURE_S / 2)
    return choice.with_figures(full.figures)


def open_model(config: Config, shape: NetShape, weights: Weights, version: int, option: Candidate) -> Backend:
    return device.open_backend(
        option.backend,
        shape,
        weights,
        version,
        option.threads,
        max_rows=config.batch.max_rows,
        sim=build.sim_speed(config),
        sample=random_rows(load_game(config), SAMPLE_ROWS) if option.backend == "onnx-int8" else None,
    )


def search_spec(search: SearchSection, *, simulations: int | None = None, is_match: bool = False) -> bytes:
    """How to think; in a match there is no noise, hardly any chance, and nothing is decided quickly."""
    return encode(
        SearchSpec(
            simulations=simulations or search.simulations,
            leaves=search.leaves,
            fill_rows=search.fill_rows,
            c_puct=search.c_puct,
            first_play_reduction=search.first_play_reduction,
            noise_alpha=search.noise_alpha,
            noise_weight=0.0 if is_match else search.noise_weight,
            temperatures=_temperatures(search, is_match=is_match),
            worlds=search.worlds,
            candidates=search.candidates,
            exact_decisions=search.exact_decisions,
            quick_simulations=0 if is_match else search.quick_simulations,
            full_share=search.full_share,
            root=search.root,
            gumbel_actions=search.gumbel_actions,
            gumbel_visits=search.gumbel_visits,
            gumbel_scale=search.gumbel_scale,
        )
    )


def _temperatures(search: SearchSection, *, is_match: bool) -> NDArray[np.float64]:
    """By decision; the last one is for the rest."""
    if is_match:
        return np.zeros(1)
    warm, mild = [1.0] * search.warm_decisions, [0.5] * search.mild_decisions
    return np.array([*warm, *mild, search.late_temperature])


def match_assignment(
    config: Config,
    rival: str,
    *,
    simulations: int,
    games_at_once: int,
    seed: int,
    rival_search: SearchSection | None = None,
) -> Assignment:
    """Games between model HERO_MODEL and ``rival``; who never errs is met from the very beginning, as chance might
    open with a lost position. Where cards are dealt, the deal is the opening.

    ``rival_search``: if a model that is the rival thinks in another way.
    """
    spec = MatchSpec(
        game=config.game.name,
        options=json.dumps(config.game.options),
        games=games_at_once,
        search=search_spec(config.search, simulations=simulations, is_match=True),
        hero=f"model:{HERO_MODEL}",
        rival=rival,
        opening=0 if rival == "perfect" or load_game(config).is_hidden else config.arena.opening,
        rival_search=b"" if rival_search is None else search_spec(rival_search, is_match=True),
    )
    return Assignment("match", encode(spec), seed, chunk=games_at_once, low_water=games_at_once)


def save_weights(folder: Path, version: int, weights: Weights, shape: NetShape) -> None:
    """Write a version of the weights whole or not at all, from any thread."""
    place = folder / "weights"
    place.mkdir(exist_ok=True)
    draft = place / f"draft-{threading.get_ident()}"
    for path, data in (
        (folder / "net.json", json.dumps(asdict(shape)).encode()),
        (place / f"{version:06d}.safetensors", to_bytes(weights)),
    ):
        disk.write(draft, data)
        draft.rename(path)


def versions(folder: Path) -> list[int]:
    """The versions a run folder has weights of, oldest first."""
    names = [path.stem for path in (folder / "weights").glob("*.safetensors")]
    return sorted(int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < MOST_DIGITS)


def load_weights(folder: Path, version: int, shape: NetShape) -> Weights:
    """The weights of a network of this shape; AsyncplayError where the folder has others or none."""
    path = folder / "weights" / f"{version:06d}.safetensors"
    if not path.exists():
        known = ", ".join(map(str, versions(folder))) or "none"
        raise AsyncplayError(f"{folder} has no weights of version {version}; it has {known}")
    try:
        weights = from_bytes(read_file(path, WEIGHTS_BYTES))
        check_weights(shape, weights)
    except OSError as error:
        raise AsyncplayError(f"{path} cannot be read: {error.strerror}") from None
    except AsyncplayError as error:
        raise AsyncplayError(f"{path} is damaged: {error}; --version takes another one") from None
    return weights


class NeuralRun:
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
        self._warm_kernels()
        fresh = snapshot(build_net(self.shape, config.train.seed))
        self.choice = choose_backend(config, self.shape, fresh, self.game)
        for line in self.choice.report():
            log.info("backend %s", line)
        say(f"backend {self.choice.best}: {self.choice.rows_per_s:,.0f} rows/s")
        self.learner = parts.make_learner(config, self.shape, self.choice.best)
        memory = restore(found, self.learner, time.perf_counter())
        version, self._latest = memory.published.version, memory.published.weights
        self._arena = memory.arena
        self._backend = open_model(config, self.shape, self._latest, version, self.choice.best)
        self.recorder = build.make_keeper(config, self.folder, self.game.players, is_resumed=is_resumed)
        stored = read_stored(folder)
        self.engine = self._make_spine(parts.make_ledger(config, stored))
        self.limiter = parts.make_limiter(config, stored, self.learner.rows, memory.held)
        self.replay, self._missing = parts.make_replay(config, self.game, self.shape, folder, stored)
        schedule, keep = parts.saving(config)
        self.saver = Saver(self.folder, self._capture, schedule=schedule, keep=keep)
        self.saver.begin_at(self.learner.steps)
        self.trainer = self._make_trainer(memory, stored)
        if memory.tuner is not None and isinstance(self.engine.tuner, Tuner):
            self.engine.tuner.restore(memory.tuner)
        self._warn(losses(folder, stored.kept, memory.kept))
        self._games_before = stored.kept.games

    async def run(self) -> None:
        """Play and learn until the engine ends; everything is saved whatever ended it."""
        try:
            async with self.recorder:
                self.note("start", f"seed {self._config.train.seed}, backend {self.choice.best}")
                async with asyncio.TaskGroup() as group:
                    services = [group.create_task(service) for service in self._services()]
                    await self.engine.run()
                    for service in services:
                        service.cancel()
                self.note("stop", f"version {self.trainer.version} after {self.learner.steps} steps")
        finally:
            await self._save_weights(self.trainer.version, self._latest)
            await self.saver.write(self._remember(self.trainer.last_progress()))

    def drain(self) -> None:
        """In lockstep the run goes on to its next standstill, from where it can be resumed exactly."""
        self._is_draining = True
        if not self._is_lockstep:
            self.engine.halt()

    def checkpoint(self) -> None:
        """Save soon."""
        self.saver.request()

    def _services(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield self._learn()
        yield self._stand_still() if self._is_lockstep else self.saver.run()
        if self._config.arena.every_s:
            yield self._make_arena().run()

    async def _learn(self) -> None:
        """Train, once the window holds what it held; in lockstep nothing else begins before."""
        dispatcher, work = self.engine.dispatcher, self.engine.work
        if not self.replay.is_whole:
            dispatcher.hold(work, REBUILDING, self._is_lockstep)
            rebuild = parts.make_rebuild(
                self._config, self.folder.path, self.replay, dispatcher, self.shape.players, check=self._check_record
            )
            await rebuild.run(self._missing)
            dispatcher.hold(work, REBUILDING, False)
        await self.trainer.run()

    async def _stand_still(self) -> None:
        """Come to rest every so many games, with nothing under way, and save: from such a moment a resumed run goes on
        bit for bit."""
        work, leg_games = self.engine.work, parts.leg_games(self._config)
        while True:
            await work.at_fence.wait()
            await self.trainer.until_at_rest()
            await self.saver.save()
            if self._is_draining:
                self.engine.halt()
                return
            self.engine.dispatcher.move_fence(work, work.ledger.next_unit + leg_games)

    async def _capture(self) -> Checkpoint:
        return self._remember(await self.trainer.progress())

    def _remember(self, progress: TrainerState) -> Checkpoint:
        tuner = self.engine.tuner
        return capture(
            self._config,
            progress,
            counts=self.limiter.state(),
            held=self.limiter.held(),
            kept=self.recorder.kept,
            arena=self._arena,
            tuner=tuner.state() if isinstance(tuner, Tuner) else None,
        )

    def _warn(self, lines: list[str]) -> None:
        for line in lines:
            log.error("%s", line)
            self._say(f"warning: {line}")

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        """Store an event of the run."""
        self.recorder.note(EventEntry(time.time(), kind, text, json.dumps(data or {})))

    def measure(self, values: Mapping[str, float]) -> None:
        """Store the figures of this moment."""
        self.recorder.note(MetricsEntry(time.time(), values))

    def figures(self) -> Figures:
        stats, backend = self.engine.evaluator.stats(), self.choice.best.backend
        return Figures(
            name="rows",
            total=stats.rows,
            unit="games",
            units=self.engine.ledger.books.done,
            workers=tuple(self.engine.supervisor.stats()),
            batch=stats,
            train=self.trainer.stats(),
            store=self.recorder.stats(),
            results=tuple(
                Result(f"vs {name}", result.score, result.low, result.high, result.points)
                for name, result in self._arena.results.items()
            ),
            limit_per_s=self.choice.rows_per_s,
            device="cpu" if backend in device.ON_CPU else "sim" if backend == "sim" else "gpu",
            holds=frozenset(self.engine.work.holds),
        )

    def summary(self, seconds: float) -> list[str]:
        train, n_games = self.trainer.stats(), self.engine.ledger.books.done
        per_minute = (n_games - self._games_before) / seconds * 60
        lines = [
            f"games {n_games:,}, {per_minute:,.0f} a minute; version {train.version} after "
            f"{train.steps:,} steps; loss {train.policy_loss:.3f} policy, {train.value_loss:.3f} value"
        ]
        if train.belief_loss is not None:
            lines.append(f"belief {train.belief_loss:.3f} nats a card, counting cards {train.counting_loss:.3f}")
        return lines + [f"arena against {name}: {result}" for name, result in self._arena.results.items()]

    def _warm_kernels(self) -> None:
        """Compile once, before workers start: two on a cold cache would both compile."""
        self._say(f"compiling the kernels of {self.game.name}, unless they are in the cache")
        entries.warm(
            self.game,
            lambda done, total, name: log.info("kernel %d of %d %s", done, total, name),
            believes=self.shape.beliefs > 0,
        )

    def _make_spine(self, ledger: Ledger) -> Engine:
        config = self._config
        workers = build.n_workers(config)
        n_games = max(shares(config.search.games, workers)[0], 2)
        spec = SelfplaySpec(
            config.game.name,
            json.dumps(config.game.options),
            n_games,
            search_spec(config.search),
            cache=0 if config.pool.kind == "inline" else config.search.cache_positions,
            believes=config.net.belief,
        )
        assignment = Assignment("selfplay", encode(spec), config.train.seed, chunk=n_games, low_water=2 * n_games)
        engine = Engine(
            build.make_pool(config.pool.kind),
            Work(assignment, ledger, on_game=self._take, check=self._check),
            workers=workers,
            settings=build.live_settings(config, learns=True, worker_bytes=worker_bytes(config, self.game, workers)),
            limits=build.limits(config),
            patience=build.patience(config),
            depth=1 if self._is_lockstep else self._backend.depth,
            is_lockstep=self._is_lockstep,
            recorder=self.recorder,
        )
        engine.dispatcher.on_death, engine.supervisor.say = self._note_death, self._say
        engine.serve(LEARNER_MODEL, self._endpoint(self._backend))
        return engine

    def _make_trainer(self, memory: Restored, stored: Stored) -> Trainer:
        config, learn = self._config, self._config.learn
        age_s = math.inf if self._is_lockstep else learn.publish_age_s
        trainer = Trainer(
            self.learner,
            self._backend,
            self.replay,
            self.limiter,
            seed=config.train.seed,
            publishing=Publishing(learn.publish_steps, learn.publish_distance, age_s),
            turns=self._turns(),
            published=memory.published,
            last_version=max(memory.last_version, stored.last_version),
            micro_s=self._micro_s,
            on_published=self._published,
            on_step=self.saver.stepped,
            is_lockstep=self._is_lockstep,
        )
        trainer.join(self.engine.lane)
        self.engine.settings.listen(self._retune)
        self.limiter.listen(self._heed_limiter)
        self._heed_limiter()
        return trainer

    def _retune(self) -> None:
        if (ratio := self.engine.settings.samples_per_insert) is not None:
            self.limiter.retune(ratio)

    def _heed_limiter(self) -> None:
        self.engine.dispatcher.hold(self.engine.work, "limiter", self.limiter.is_play_ahead)

    def _turns(self) -> tuple[Ints, Ints] | None:
        if self.game.n_symmetries == 1:
            return None
        symmetries = self.game.symmetries()
        return symmetries.features, symmetries.actions

    def _make_arena(self) -> Arena:
        return Arena(self._config.arena.every_s, self._matches, self.engine.dispatcher, self._note_result)

    def _check(self, game: Game) -> None:
        self._check_record(game, rng.derive(self._config.train.seed, game.unit))

    def _check_record(self, game: Game, seed: int) -> None:
        self.trainer.check(game)
        if flaw := record_flaw(game, self._facts, seed=seed, version=self.trainer.last_version):
            raise WireError(f"game {game.unit} has {flaw}")

    def _take(self, game: Game) -> None:
        self.trainer.take(game)

    def _note_death(self, member: Member) -> None:
        self.note("death", f"worker {member.number} died: {member.cause}", {"worker": member.number})

    def _micro_s(self) -> float:
        stats = self.engine.evaluator.stats()
        return MICRO_BATCHES * (stats.fixed_s + stats.per_row_s * stats.mean_batch)

    def _published(self, version: int, weights: Weights) -> None:
        self._latest = weights
        steps = self.learner.steps
        log.info("version %d after %d steps", version, steps)
        self.recorder.note(VersionEntry(version, time.time(), steps, self.recorder.stats().games))

    async def _matches(self) -> Sequence[tuple[str, Match]]:
        """The present weights against random play, the rule-based player if there is one, and the last arena's."""
        version, weights = self.trainer.version, self._latest
        rival_version, rival_weights = self._arena.version, self._arena.weights
        self._arena = self._arena._replace(version=version, weights=weights)
        await self._save_weights(version, weights)
        await self._serve_copy(HERO_MODEL, version, weights)
        fixed = ["random", "rules"] if self.game.advise is not None else ["random"]
        matches = [(name, self._match(name)) for name in fixed]
        if rival_version != version:
            await self._serve_copy(RIVAL_MODEL, rival_version, rival_weights)
            matches.append((f"version {rival_version}", self._match(f"model:{RIVAL_MODEL}")))
        return matches

    async def _save_weights(self, version: int, weights: Weights) -> None:
        await self.folder.persist("weights", lambda place: save_weights(place, version, weights, self.shape))

    async def _serve_copy(self, model: int, version: int, weights: Weights) -> None:
        option = self.choice.best
        backend = await asyncio.to_thread(open_model, self._config, self.shape, weights, version, option)
        self.engine.serve(model, self._endpoint(backend))

    def _match(self, rival: str) -> Match:
        arena = self._config.arena
        at_once = max(math.ceil(arena.games / build.n_workers(self._config)), 1)
        assignment = match_assignment(
            self._config, rival, simulations=arena.simulations, games_at_once=at_once, seed=self._config.train.seed
        )
        return Match(assignment, arena.games, self.game.players)

    def _note_result(self, name: str, result: Score) -> None:
        version, results = self._arena.version, self._arena.results
        others = {key: old for key, old in results.items() if not key.startswith("version")}
        self._arena = self._arena._replace(results=others | {name: result})
        self._say(f"arena: version {version} against {name}: {result}")
        log.info("arena: version %d against %s: %s", version, name, result)
        facts = {"against": name, "version": version, "score": result.score, "low": result.low, "high": result.high}
        facts |= {"points_by_seat": result.points, "points_of_others": result.others} if result.points else {}
        self.note("arena", f"version {version} against {name}: {result}", facts)

    def _endpoint(self, backend: Backend) -> Endpoint:
        is_timed = self.choice.best.backend == "sim"
        shape = (self.game.features, self.game.actions)
        return Endpoint(*shape, backend.launch, is_timed=is_timed, dtype=self.game.feature_dtype)
