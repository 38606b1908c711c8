"""More workers never slow it: the same number of games in flight, split over more and more processes.

All runs are alive at once and take turns: while one plays, the others' pipes are not read, so that their workers
wait. First each has time to learn how long to wait for company; then a round gives each a window from one batch's end
to another's, and a figure is the mean of its shares of its rounds, without the highest and the lowest quarter.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from asyncplay.bench.loads import bench_config
from asyncplay.bench.watched import Watched
from asyncplay.config.sections import Config
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.placement import WORKERS

COUNTS = (1, 2, 4, 8, 16)
LEARN_S, WINDOW_S, SETTLE_S = 15.0, 0.5, 0.3  # short windows: within seconds the machine itself drifts by a third


def measure(
    game: str = "connect4",
    backend: str = "auto",
    *,
    option: Sequence[str] | None = None,
    placement: str = "coordinator",
    counts: Sequence[int] = COUNTS,
    rounds: int,
) -> dict[str, Any]:
    """A row for each number of workers; ``of_best_with_fewer`` is 1 for the first."""
    configs = [bench_config(game, backend, placement=placement, option=option, workers=workers) for workers in counts]
    rates = run_loop(_measure(configs, rounds))
    figures = [_middle(turn[place] / statistics.mean(turn) for turn in rates) for place in range(len(counts))]
    rows = []
    for place, (workers, figure) in enumerate(zip(counts, figures, strict=True)):
        rows_per_s = _middle(turn[place] for turn in rates)
        of_best = figure / max(figures[:place], default=figure)
        rows.append({"workers": workers, "rows_per_s": rows_per_s, "of_best_with_fewer": of_best})
    return {
        "game": game,
        "placement": placement,
        "lowest": min(row["of_best_with_fewer"] for row in rows),
        "rows": rows,
    }


def _middle(figures: Iterable[float]) -> float:
    """The mean of all but the highest and the lowest quarter: as robust as a median, and less a matter of chance."""
    ordered = sorted(figures)
    quarter = len(ordered) // 4
    return statistics.mean(ordered[quarter : len(ordered) - quarter])


async def _measure(configs: Sequence[Config], rounds: int) -> list[list[float]]:
    """Each run's rows/s in each round; every other round goes the other way, so that a drift favours no run."""
    rates: list[list[float]] = []
    with ExitStack() as places:
        folders = [Path(places.enter_context(tempfile.TemporaryDirectory())) for _ in configs]
        runs = [Watched(config, folder) for config, folder in zip(configs, folders, strict=True)]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run.neural.run()) for run in runs]
            for run in runs:
                await run.until_asked()
                await run.until_placed()
            _pause(runs, True)
            for run in runs:
                await _alone(run, LEARN_S)
            for number in range(rounds):
                order = range(len(runs)) if number % 2 == 0 else range(len(runs) - 1, -1, -1)
                turn = {place: await _alone(runs[place], WINDOW_S) for place in order}
                rates.append([turn[place] for place in range(len(runs))])
            _pause(runs, False)
            for run in runs:
                run.neural.engine.halt()
            await asyncio.gather(*tasks)
    return rates


async def _alone(run: Watched, seconds: float) -> float:
    """Let one run play; return its rows/s once it has found its pace."""
    _pause([run], False)
    await asyncio.sleep(SETTLE_S)
    window = await run.whole_batches(seconds)
    _pause([run], True)
    return window.rows_per_s


def _pause(runs: Sequence[Watched], is_paused: bool) -> None:
    """Do not read from a run's workers, which then wait for answers; those that answer themselves are held."""
    for run in runs:
        supervisor = run.neural.engine.supervisor
        (supervisor.hold if run.neural.placement == WORKERS else supervisor.pause)(is_paused)
