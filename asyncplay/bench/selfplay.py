"""Self-play against the model's own limit: real workers, pipes and network.

Each window of play is followed by one of the limit: the best this backend reaches over thread counts and batch
sizes with the workers waiting. Their ratio counts, so a machine that slows down for a while slows both. The
learner is off for ``share_of_limit`` and on for ``share_while_learning``.
"""

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from asyncplay import build
from asyncplay.app import run_loop
from asyncplay.bench.loads import bench_config
from asyncplay.bench.sequential import Sequential
from asyncplay.bench.watched import Watched, Window
from asyncplay.config import Config

WINDOW_S, LIMIT_S, SEQUENTIAL_S = 4.0, 2.0, 10.0
WINDOWS = 6


class Pair(NamedTuple):
    """A window of play and the limit beside it."""

    window: Window
    limit_rows_per_s: float

    @property
    def share(self) -> float:
        return self.window.rows_per_s / self.limit_rows_per_s


def measure(game: str = "connect4", backend: str = "auto") -> dict[str, Any]:
    alone = _Session(bench_config(game, backend))
    learning = _Session(bench_config(game, backend, learns=True))
    games_per_min = _median([pair.window.games_per_min for pair in alone.pairs])
    decisions_per_s = _median([pair.window.decisions_per_s for pair in alone.pairs])
    return {
        "game": game,
        "backend": alone.backend,
        "games_per_min": games_per_min,
        "rows_per_s": _median([pair.window.rows_per_s for pair in alone.pairs]),
        "forward_limit_rows_per_s": _median([pair.limit_rows_per_s for pair in alone.pairs]),
        "share_of_limit": _median([pair.share for pair in alone.pairs]),
        "share_while_learning": _median([pair.share for pair in learning.pairs]),
        "mean_batch": _median([pair.window.mean_batch for pair in alone.pairs]),
        "sims_per_s": decisions_per_s * alone.simulations,
        "workers": alone.workers,
        "sequential_games_per_min": alone.sequential_games_per_min,
        "times_sequential": games_per_min / alone.sequential_games_per_min,
    }


class _Session:
    """A whole run, watched: half of the sequential baseline before it and half after."""

    def __init__(self, config: Config) -> None:
        self.pairs: list[Pair] = []
        self.simulations, self.workers = config.search.simulations, build.n_workers(config)
        self.backend, self.sequential_games_per_min = "", 0.0
        with tempfile.TemporaryDirectory() as place:
            run_loop(self._watch(config, Path(place)))

    async def _watch(self, config: Config, folder: Path) -> int:
        watched = Watched(config, folder)
        self.backend = str(watched.neural.choice.best)
        sequential = Sequential(config, watched.neural)
        before = sequential.games_per_min(SEQUENTIAL_S / 2)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(watched.neural.run())
            await watched.until_game()
            for _ in range(WINDOWS):
                window = await watched.window(WINDOW_S)
                self.pairs.append(Pair(window, await watched.limit.measure(LIMIT_S)))
            watched.neural.spine.halt()
            await running
        self.sequential_games_per_min = (before + sequential.games_per_min(SEQUENTIAL_S / 2)) / 2
        return 0


def _median(figures: list[float]) -> float:
    return statistics.median(figures)
