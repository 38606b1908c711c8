"""Four ways to feed a network, really run on the same load: Blob, four players, five cards, 3 worlds x 30 simulations.

- ``sequential``: one process, one game, torch, one row a batch.
- ``processes``: a network each (torch), one game each; the rows of a game's worlds are a batch.
- ``threads``: one process, a game for each thread, one network (torch) behind an evaluator with a timeout of 5 ms.
- ``ours``: a run as `asyncplay train` makes it, with worker processes, pipes and store.

A figure is of whole rounds of the games under way (see tally.py), after every worker has begun. Only the last strategy
is a part of asyncplay; the others exist for this comparison.
"""

import sys
from collections.abc import Sequence
from typing import Any

from asyncplay.bench import processes, threads
from asyncplay.bench.loads import bench_config
from asyncplay.bench.solo import Sequential
from asyncplay.bench.tally import Tally
from asyncplay.bench.watched import play_rounds
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.network import load_game
from asyncplay.search import entries

COUNTS = (1, 2, 4, 8, 16)
SECONDS = 8.0


def measure(backend: str = "auto", *, seconds: float = SECONDS, counts: Sequence[int] = COUNTS) -> dict[str, Any]:
    """A row for each strategy and number of workers; ``backend`` is that of ``ours``."""
    config = bench_config("blob", backend)
    entries.warm(load_game(config), lambda done, total, name: None)  # once, before processes do it at the same time
    rows = [_row("sequential", 1, Sequential(config).play_for(seconds))]
    rows += [_row("processes", n, run_loop(processes.measure(config, n, seconds))) for n in counts]
    rows += [_row("threads", n, run_loop(threads.measure(config, n, seconds))) for n in counts]
    rows += [_row("ours", n, run_loop(play_rounds(bench_config("blob", backend, workers=n), seconds))) for n in counts]
    return {"rows": rows}


def _row(strategy: str, workers: int, tally: Tally) -> dict[str, Any]:
    sys.stderr.write(f"{strategy} with {workers}: {tally.games_per_min:,.0f} games/min\n")
    return {
        "strategy": strategy,
        "workers": workers,
        "games_per_min": tally.games_per_min,
        "rows_per_s": tally.rows_per_s,
        "mean_batch": tally.mean_batch,
    }
