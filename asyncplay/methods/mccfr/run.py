"""A run of tabular MCCFR: workers traverse, the coordinator merges, sends back what changed, saves and measures."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from asyncplay import machine as memory
from asyncplay.config.sections import Config
from asyncplay.config.tables import SolveSettings
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.policies import BlockArray, save_policy
from asyncplay.engine.engine import Engine
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.saver import Saver
from asyncplay.engine.work import Assignment
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.methods import parts
from asyncplay.methods.mccfr import checkpoint as past
from asyncplay.methods.mccfr import hashing
from asyncplay.methods.mccfr.checkpoint import TableProgress
from asyncplay.methods.mccfr.messages import TraverseSpec
from asyncplay.methods.mccfr.needs import KEPT_POLICIES, MB, check_memory, forecast_disk, memory_needed
from asyncplay.methods.mccfr.pieces import ROLE, Most, Pieces, RoundWork
from asyncplay.methods.mccfr.round_size import RoundSize, idle_warning
from asyncplay.methods.mccfr.rounds import Rounds
from asyncplay.methods.sizes import WORKER_BYTES
from asyncplay.monitor.countdown import countdown
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.snapshot import Result
from asyncplay.payloads import Array
from asyncplay.rundir.folder import RunFolder
from asyncplay.rundir.layout import CHECKPOINTS
from asyncplay.solve import solvable
from asyncplay.solve.abstraction.blueprint import Blueprint
from asyncplay.solve.abstraction.shared_table import SharedTable
from asyncplay.solve.bounds import Bounds, bounds_of
from asyncplay.solve.deltas import MergedTable
from asyncplay.solve.exact import Exploitability, exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.mccfr import sampler_settings
from asyncplay.solve.regret import average_policy, discount, largest_regrets, new_table
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

LOOK_ENTRIES = 1 << 25  # of a shared table, that are read for the figures of an interval

Say = Callable[[str], None]


def most_of(bounds: Bounds, piece: Piece) -> Most:
    """What the iterations of a piece can bring."""
    n, weight = piece.size, bounds.weight(piece.first, piece.size)
    nodes = (n * bounds.least_nodes, n * bounds.most_nodes)
    return Most(weight * bounds.regret, weight * bounds.total, n * bounds.value, *nodes)


class MccfrRun:
    """Everything of one solving run.

    Lifetime: ``run`` from the first worker to the last saved table. ``drain`` finishes the round under way, so that a
    synchronous run that is resumed goes on to the same bits as one that was never stopped.
    """

    def __init__(self, config: Config, folder: Path, say: Say, found: Checkpoint | None = None) -> None:
        self._config, self.folder, self._say = config, RunFolder(folder, say), say
        if found is None and checkpoint.numbers(folder / CHECKPOINTS):
            raise AsyncplayError(f"{folder} holds a run with a checkpoint; `asyncplay train --resume {folder}` goes on")
        game = config.game
        self._is_shared = solvable.is_table_shared(game.name, game.options, config.abstraction, config.solve.table)
        with parts.compiling(f"to solve {game.name}", say) as progress:
            # Once, before workers start: two on a cold cache would both compile.
            solvable.warm(game.name, game.options, progress, is_shared=self._is_shared)
            if self._is_shared:
                hashing.prepare()
        with countdown(f"listing the positions of {game.name}", say):
            self.game = solvable.compile_game(game.name, game.options, config.abstraction)
        # No more workers than iterations of a round or of the run: the others would have nothing to do.
        most = [count for count in (config.solve.batch, config.train.units) if count]
        workers = min([parts.n_workers(config), *most])
        if isinstance(self.game, Blueprint):
            sizes = self.game.tree.sizes
            words = f"{sizes.n_decisions:,} decisions, {sizes.n_infosets:,} infosets, {sizes.n_entries:,} entries"
            say(f"betting tree: {words}; abstraction {self.game.digest[:16]}")
            say(forecast_disk(config, self.game, folder, is_shared=self._is_shared))
        say(check_memory(self.game, workers, memory.at_hand(), is_shared=self._is_shared))
        if warning := idle_warning(config.solve.batch, parts.n_workers(config)):
            say(f"warning: {warning}")
            log.warning("%s", warning)
        self.table = self._make_table()
        ledger = Ledger(config.train.units or None, is_divisible=False)
        self.rounds = self._make_rounds(ledger, found)
        self.engine = self._make_engine(ledger, workers)
        self.saver = Saver(self.folder, self._capture, config.checkpoint)
        self.exploitability: Exploitability | None = None  # when it was last measured
        self._recorder = parts.open_event_recorder(config, self.folder, self.game.players)
        self.note, self.measure = self._recorder.note, self._recorder.measure

    async def run(self) -> None:
        """Solve until the engine ends; the last table, policy and exploitability are saved whatever ended it."""
        solve = self._config.solve
        timed = [(solve.snapshot_every_s, self._save_policy), (solve.exact_every_s, self._measure)]
        timed += [(self._config.train.interval_s, self._add_regrets)]
        async with self._recorder:
            self.note(
                "start", f"seed {self._config.train.seed}, {self.rounds.stats.iterations:,} iterations done before"
            )
            try:
                async with asyncio.TaskGroup() as group:
                    services = [group.create_task(self.saver.run())]
                    services += [group.create_task(_every(seconds, task)) for seconds, task in timed if seconds]
                    await self.engine.run()
                    for service in services:
                        service.cancel()
            finally:
                await self.saver.save()
                await self._save_policy()
                await self._measure()
                await self._add_regrets(self.game.n_entries)
            self.note("stop", f"{self.rounds.stats.iterations:,} iterations{self._nash_conv()}")

    def drain(self) -> None:
        self.engine.drain()

    def checkpoint(self) -> None:
        self.saver.request()

    def figures(self) -> Figures:
        stats, measured = self.rounds.stats, self.exploitability
        return Figures(
            name="nodes",
            total=stats.nodes,
            unit="iterations",
            units=stats.iterations,
            workers=tuple(self.engine.supervisor.stats()),
            parts=(stats,),
            results=() if measured is None else (Result("NashConv", measured.nash_conv, None, None, (), "points"),),
            holds=frozenset(self.engine.work.holds),
        )

    def summary(self, seconds: float) -> list[str]:
        stats = self.rounds.stats
        rows_in, rows_out = stats.bytes_in / max(stats.rows_in, 1), stats.bytes_out / max(stats.rows_out, 1)
        traffic = f"{rows_in:.1f} bytes a touched row in, {rows_out:.1f} out; "
        return [
            f"iterations {stats.iterations:,} in {stats.pieces:,} pieces, {stats.nodes:,} nodes, "
            f"{stats.infosets:,} of {self.game.n_infosets:,} infosets ({stats.visited:.1%}); "
            f"{'' if self._is_shared else traffic}"
            f"utility {stats.mean_utility:+.4f}, regret {stats.regret:.4f}{self._nash_conv()}"
        ]

    def _nash_conv(self) -> str:
        return "" if self.exploitability is None else f"  NashConv {self.exploitability.nash_conv:.5f}"

    def _make_table(self) -> MergedTable | SharedTable:
        if not self._is_shared:
            return MergedTable(self.game.offsets, new_table(self.game))
        assert isinstance(self.game, Blueprint), "only a blueprint has a shared table"
        table = SharedTable(self.game, self.folder.path)
        if table.memory.is_file:
            self._say(f"this system has no memory without a name: the table is {table.memory.path}, which is slower")
        return table

    def _make_rounds(self, ledger: Ledger, found: Checkpoint | None) -> Pieces:
        solve = self._config.solve
        known = TableProgress()
        if found is not None:
            known = past.read(found)
            if known.digest != self._digest:
                raise AsyncplayError(_other_abstraction(known.digest, self._digest))
            past.restore(found, self.table)
        ledger.skip(known.next_unit, known.owed)
        known.stats.table_bytes = self.table.n_bytes
        known.stats.infosets, known.stats.visited = self.table.n_known, self.table.n_known / self.table.n_infosets
        size = RoundSize(solve.batch, solve.round_nodes, int(solve.round_mb * MB))
        workers, most = parts.n_workers(self._config), partial(most_of, bounds_of(self.game, sampler_settings(solve)))
        if isinstance(self.table, SharedTable):
            return Pieces(self.table, ledger, size, workers, False, most=most, stats=known.stats, latest=known.latest)
        is_synchronous, is_discounted = solve.rounds == "synchronous", solve.weighting == "discounted"
        return Rounds(
            self.table,
            ledger,
            size,
            workers,
            is_synchronous,
            discount=partial(_discount, self.table, solve) if is_discounted else None,
            most=most,
            stats=known.stats,
            latest=known.latest,
            period=known.period,
        )

    def _make_engine(self, ledger: Ledger, workers: int) -> Engine:
        config = self._config
        sections = config.game.options, asdict(config.solve), asdict(config.abstraction)
        options, solve, abstraction = map(json.dumps, sections)
        spec = TraverseSpec(config.game.name, options, solve, abstraction)
        worker_bytes = WORKER_BYTES + memory_needed(self.game, 1)
        if isinstance(self.table, SharedTable):
            spec = replace(spec, table=self.table.memory.path, table_bytes=self.table.n_bytes, digest=self.table.digest)
            worker_bytes = WORKER_BYTES + self.game.n_bytes
        assignment = Assignment(ROLE, encode(spec), config.train.seed, chunk=0, low_water=0)
        return Engine(
            parts.make_pool(config.pool.kind),
            RoundWork(assignment, self.rounds),
            workers=workers,
            settings=parts.live_settings(config, workers, asks=False, worker_bytes=worker_bytes),
            limits=parts.limits(config),
            patience=parts.patience(config),
            is_lockstep=config.pool.kind == "inline",
            say=self._say,
        )

    async def _capture(self) -> Checkpoint:
        return past.capture(self.rounds, self.table.capture(), self._digest)

    @property
    def _digest(self) -> str:
        """Of the abstraction, if the game has one."""
        return self.game.digest if isinstance(self.game, Blueprint) else ""

    async def _save_policy(self) -> None:
        game, table, iterations = self.game, self.table, self.rounds.stats.iterations
        arrays: dict[str, Array | BlockArray]
        if isinstance(game, Blueprint):
            digest = np.frombuffer(bytes.fromhex(game.digest), np.uint8)
            if isinstance(table, SharedTable):
                policy: Array | BlockArray = BlockArray(np.dtype(np.float16), game.n_entries, table)
            else:
                policy = average_policy(game, table.values).astype(np.float16)
            arrays = {"policy": policy, "digest": digest}
        else:
            assert isinstance(table, MergedTable), "only a blueprint has a shared table"
            arrays = {"policy": average_policy(game, table.values).astype(np.float32), "keys": game.keys}
            arrays |= {"actions": game.actions, "offsets": game.offsets}
        keep_last = KEPT_POLICIES if isinstance(game, Blueprint) else 0
        await self.folder.persist("policy", lambda place: save_policy(place, iterations, arrays, keep_last=keep_last))

    async def _measure(self) -> None:
        """How far the average policy is from equilibrium, in a thread, if the game is small enough."""
        game = self.game
        if isinstance(game, FlatGame) and game.n_histories <= self._config.solve.exact_nodes:
            assert isinstance(self.table, MergedTable), "only a blueprint has a shared table"
            policy = average_policy(game, self.table.values)
            self.exploitability = await asyncio.to_thread(exploitability, game, policy)
            # At once: the figures of the interval come too late for a run's last value.
            self.measure({"strength/NashConv": self.exploitability.nash_conv})

    async def _add_regrets(self, most_entries: int = LOOK_ENTRIES) -> None:
        """Regrets are divided by the workers of a round when they are merged, so the weights are too. What a discounted
        run's weights add up to is not known. Of a shared table a part is read each time."""
        solve, stats, table = self._config.solve, self.rounds.stats, self.table
        done = stats.iterations
        weights = {"linear": done * (done + 1) / 2, "uniform": float(done)}.get(solve.weighting, 0.0)
        if isinstance(table, SharedTable):
            stats.regret = await asyncio.to_thread(table.look, most_entries) / max(weights, 1.0)
            stats.infosets, stats.visited = table.n_known, table.n_known / table.n_infosets
        elif weights:
            total = await asyncio.to_thread(ready(largest_regrets), self.game.offsets, table.values)
            stats.regret = total / (weights / self.rounds.workers)


def _discount(table: MergedTable, solve: SolveSettings, period: int) -> None:
    discount(table.values, period, solve.alpha, solve.beta, solve.gamma)


def _other_abstraction(known: str, own: str) -> str:
    words = (
        f"the checkpoint is of an abstraction with SHA-256 {known[:16] or 'none'}, this one has {own[:16] or 'none'}"
    )
    return f"{words}; the menus of [abstraction], its buckets and its file must be those that the run began with"


async def _every(seconds: float, task: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await task()
