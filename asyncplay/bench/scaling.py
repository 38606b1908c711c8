"""One worker against two over one table, of a synthetic tree or of hold'em, merging included: whole runs with real
processes, one after the other.

Rounds have about as many nodes a worker as the configuration allows. A run's rate is that between its first and its
last merge; the ratio is the median over pairs of runs beside each other.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from asyncplay.bench.holdem import holdem_config
from asyncplay.bench.outside import until
from asyncplay.config.loading import load
from asyncplay.config.sections import Config, SolveSettings
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import unknown
from asyncplay.methods.mccfr.needs import MB
from asyncplay.methods.mccfr.run import MccfrRun
from asyncplay.solve import solvable
from asyncplay.solve.mccfr import SamplerSettings

FOREST = {"deals": 40, "depth": 14}  # 655,320 infosets, a table of 30 MB
ROUNDS = 6
PAIRS = 3
HELD = "until all workers are there"


def measure(*, game: str = solvable.SYNTHETIC_TREE, table: Literal["deltas"] = "deltas") -> dict[str, Any]:
    """``table``: how workers share it; they send each other what they changed."""
    if game not in LOADS:
        raise AsyncplayError(f"--game: {unknown('game whose table grows', game, tuple(LOADS))}")
    config = LOADS[game]()
    solvable.warm(config.game.name, config.game.options)
    compiled = solvable.compile_game(config.game.name, config.game.options, config.abstraction)
    iterations = config.solve.round_nodes * 20 // solvable.make_sampler(compiled, SamplerSettings(), 0).run(0, 20).nodes
    pairs = [(_rate(config, 1, iterations), _rate(config, 2, iterations)) for _ in range(PAIRS)]
    one, two = zip(*pairs, strict=True)
    return {
        "game": game,
        "table": table,
        "table_mb": 16 * compiled.n_entries / MB,
        "one_worker_nodes_per_s": statistics.median(one),
        "two_workers_nodes_per_s": statistics.median(two),
        "ratio": statistics.median(second / first for first, second in pairs),
        "pairs": [list(pair) for pair in pairs],
    }


def _forest() -> Config:
    return load(None, {"game": {"name": solvable.SYNTHETIC_TREE, "options": FOREST}})  # type: ignore[dict-item]  # a table, as in a file


LOADS: dict[str, Callable[[], Config]] = {solvable.SYNTHETIC_TREE: _forest, "holdem": holdem_config}


def _rate(config: Config, workers: int, iterations: int) -> float:
    """Nodes/s of a run whose rounds have ``iterations`` for each worker."""
    solve = SolveSettings(
        method="external",
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
    merges: list[tuple[float, int]] = []

    async def main(folder: Path) -> int:
        run = MccfrRun(config, folder, lambda line: None)
        run.rounds.on_merged = lambda: merges.append((time.perf_counter(), run.rounds.stats.nodes))
        engine = run.engine
        engine.dispatcher.hold(engine.work, HELD, True)
        running = asyncio.create_task(run.run())
        await until(lambda: all(worker.state == "ready" for worker in engine.supervisor.stats()))
        engine.dispatcher.hold(engine.work, HELD, False)
        await running
        return 0

    with tempfile.TemporaryDirectory() as place:
        run_loop(main(Path(place)))
    (begin_s, begin_nodes), (end_s, end_nodes) = merges[workers - 1], merges[-workers]  # all were at work between
    return (end_nodes - begin_nodes) / (end_s - begin_s)
