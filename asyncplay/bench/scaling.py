"""One worker against two over one table, of a synthetic tree or of hold'em, merging included: whole runs with real
processes, one after the other.

Rounds have about as many nodes a worker as the configuration allows. A run's rate is that between its first and its
last merge; the ratio is the median over pairs of runs beside each other. Beside it stand the processor seconds of
coordinator and workers for a million nodes: they tell where a second worker's time goes, also on a machine that others
use, and ``cpu_ratio`` is what the ratio would be if nobody ever waited.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil

from asyncplay.bench.holdem import holdem_config, with_buckets
from asyncplay.bench.outside import until
from asyncplay.config.loading import SHIPPED, load
from asyncplay.config.sections import Config
from asyncplay.config.tables import SolveSettings
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import unknown
from asyncplay.methods.mccfr.needs import MB
from asyncplay.methods.mccfr.run import MccfrRun
from asyncplay.solve import solvable
from asyncplay.solve.abstraction.blueprint import Blueprint
from asyncplay.solve.mccfr import SamplerSettings

FOREST = {"deals": 40, "depth": 14}  # 655,320 infosets, a table of 30 MB
ROUNDS = 6
PAIRS = 3
SHARED_STACK = 160
MOST_PROBED = 10_000_000  # entries of a table that is made only to count nodes
NODES_OF_LARGE = 1_000  # an iteration of the large tree, about
HELD = "until all workers are there"


class ScalingRate(NamedTuple):
    """Of one run, between its first and its last merge."""

    nodes_per_s: float
    coordinator_s: float  # of the processor, for a million nodes
    workers_s: float  # likewise, of all workers together
    table_mb: float


def measure(
    *, game: str = solvable.SYNTHETIC_TREE, table: Literal["deltas", "shared"] = "deltas", pairs: int = PAIRS
) -> dict[str, Any]:
    """``table``: how workers share it; they send each other what they changed, or all change one."""
    if game not in LOADS:
        raise AsyncplayError(f"--game: {unknown('game whose table grows', game, tuple(LOADS))}")
    if table == "shared" and game != "holdem":
        raise AsyncplayError(f"--table shared: only holdem's table can be shared, not that of {game}")
    config = shared_load() if table == "shared" else LOADS[game]()
    config = replace(config, solve=replace(config.solve, table=table))
    solvable.warm(config.game.name, config.game.options)
    compiled = solvable.compile_game(config.game.name, config.game.options, config.abstraction)
    iterations = config.solve.round_nodes // _nodes_of_iteration(compiled)
    rates = [(_rate(config, 1, iterations), _rate(config, 2, iterations)) for _ in range(pairs)]
    one, two = zip(*rates, strict=True)
    return {
        "game": game,
        "table": table,
        "table_mb": one[0].table_mb,
        "one_worker_nodes_per_s": statistics.median(rate.nodes_per_s for rate in one),
        "two_workers_nodes_per_s": statistics.median(rate.nodes_per_s for rate in two),
        "ratio": statistics.median(second.nodes_per_s / first.nodes_per_s for first, second in rates),
        "cpu_ratio": statistics.median(_cpu_ratio(first, second) for first, second in rates),
        "one_worker_cpu_s": [statistics.median(rate[place] for rate in one) for place in (1, 2)],
        "two_workers_cpu_s": [statistics.median(rate[place] for rate in two) for place in (1, 2)],
        "pairs": [[first.nodes_per_s, second.nodes_per_s] for first, second in rates],
    }


def _cpu_ratio(one: ScalingRate, two: ScalingRate) -> float:
    """Two workers against one if each had a core and the coordinator's work were theirs."""
    return 2 * (one.coordinator_s + one.workers_s) / (two.coordinator_s + two.workers_s)


def _nodes_of_iteration(game: solvable.TableGame) -> int:
    """Of the mean one of the first 20, on a table that is dropped again; of hold'em's tree any buckets do."""
    if isinstance(game, Blueprint) and game.n_entries > MOST_PROBED:
        return NODES_OF_LARGE
    return max(solvable.make_sampler(game, SamplerSettings(), 0).run(0, 20).nodes // 20, 1)


def _forest() -> Config:
    return load(None, {"game": {"name": solvable.SYNTHETIC_TREE, "options": FOREST}})  # type: ignore[dict-item]  # a table, as in a file


LOADS: dict[str, Callable[[], Config]] = {solvable.SYNTHETIC_TREE: _forest, "holdem": holdem_config}


def shared_load() -> Config:
    """The large shipped configuration with 80 big blinds: a table of more than 1 GB."""
    config = load(SHIPPED / "holdem-100bb.toml", {"game": {"options": {"stack": SHARED_STACK}}})  # type: ignore[dict-item]
    return with_buckets(config)


def _rate(config: Config, workers: int, iterations: int) -> ScalingRate:
    """Of a run whose rounds have ``iterations`` for each worker."""
    solve = SolveSettings(
        method="external",
        table=config.solve.table,
        rounds="asynchronous",
        batch=workers * iterations,
        exact_every_s=0,
        exact_nodes=0,
        snapshot_every_s=0,
    )
    config = replace(
        config,
        solve=solve,
        train=replace(config.train, units=ROUNDS * workers * iterations),
        pool=replace(config.pool, workers=workers),
        checkpoint=replace(config.checkpoint, every_s=0),
    )
    merges: list[tuple[float, int, float, float]] = []  # time, nodes, processor time of coordinator and workers
    sizes: list[int] = []

    async def main(folder: Path) -> int:
        run = MccfrRun(config, folder, lambda line: None)
        engine = run.engine
        sizes.append(run.table.n_bytes)

        def merged() -> None:
            times = [psutil.Process(worker.pid).cpu_times() for worker in engine.supervisor.stats()]
            spent_s = sum(each.user + each.system for each in times)
            merges.append((time.perf_counter(), run.rounds.stats.nodes, time.process_time(), spent_s))

        run.rounds.on_merged = merged
        engine.dispatcher.hold(engine.work, HELD, True)
        running = asyncio.create_task(run.run())
        await until(lambda: all(worker.state == "ready" for worker in engine.supervisor.stats()))
        engine.dispatcher.hold(engine.work, HELD, False)
        await running
        return 0

    with tempfile.TemporaryDirectory() as place:
        run_loop(main(Path(place)))
    begin, end = merges[workers - 1], merges[-workers]  # all were at work between
    seconds, nodes, coordinator_s, workers_s = (later - first for first, later in zip(begin, end, strict=True))
    millions = nodes / 1e6
    return ScalingRate(nodes / seconds, coordinator_s / millions, workers_s / millions, sizes[0] / MB)
