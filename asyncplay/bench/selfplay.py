"""Self-play against the model's own limit: real workers, pipes and network.

The forward limit is the best this backend reaches over thread counts and batch sizes with no worker running,
measured before and after the run; the better one counts. The learner is off for ``share_of_limit`` and on for
``share_while_learning``.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from asyncplay import build
from asyncplay.app import run_loop
from asyncplay.config import Config, load
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import Candidate
from asyncplay.neural import NeuralRun, open_model, sample_positions
from asyncplay.wire.messages import Game

WINDOW_S, WINDOWS = 5.0, 4
BATCHES = (64, 256, 512, 1024)
NETS = {"connect4": {"kind": "resnet", "width": "64", "blocks": "6"}, "tictactoe": {"kind": "mlp"}}


def bench_config(game: str, backend: str, *, workers: int = 0) -> Config:
    """Play is never held back, whatever the learner does."""
    return load(
        None,
        {
            "game": {"name": game},
            "net": NETS.get(game, {}),
            "device": {"backend": backend},
            "pool": {"workers": str(workers)},
            "learn": {"band_steps": "1e9"},
            "arena": {"every_s": "0"},
        },
    )


def measure(game: str = "connect4", backend: str = "auto") -> dict[str, Any]:
    config = bench_config(game, backend)
    with tempfile.TemporaryDirectory() as place:
        run = _Watched(config, Path(place))
        limit = run.forward_limit()
        run_loop(run.measure())
        limit = max(limit, run.forward_limit())
    rows_per_s = statistics.median(run.alone.rows_per_s)
    return {
        "game": game,
        "backend": str(run.neural.choice.best),
        "games_per_min": statistics.median(run.alone.games_per_min),
        "rows_per_s": rows_per_s,
        "forward_limit_rows_per_s": limit,
        "share_of_limit": rows_per_s / limit,
        "share_while_learning": statistics.median(run.learning.rows_per_s) / limit,
        "mean_batch": run.neural.spine.evaluator.stats().mean_batch,
        "sims_per_s": statistics.median(run.alone.simulations_per_s),
        "workers": build.n_workers(config),
    }


class _Windows:
    """What was counted in each window."""

    def __init__(self) -> None:
        self.rows_per_s: list[float] = []
        self.games_per_min: list[float] = []
        self.simulations_per_s: list[float] = []


class _Watched:
    """A run looked at in windows."""

    def __init__(self, config: Config, folder: Path) -> None:
        self._config = config
        self._decisions = 0
        self.neural: NeuralRun
        self._folder = folder
        self.alone, self.learning = _Windows(), _Windows()
        run_loop(self._build())

    async def _build(self) -> int:
        self.neural = NeuralRun(self._config, self._folder, lambda line: None)
        return 0

    def forward_limit(self) -> float:
        neural, best = self.neural, self.neural.choice.best
        weights = neural.learner.weights()
        options = device.candidates(best.backend, sorted({1, device.usable_cores()}))

        def open_candidate(option: Candidate) -> Backend:
            return open_model(self._config, neural.shape, weights, 0, option)

        return device.forward_limit(open_candidate, options, sample_positions(neural.game), BATCHES).rows_per_s

    async def measure(self) -> int:
        spine = self.neural.spine
        take = spine.work.on_game
        assert take is not None, "self-play hands its games over"

        def count(game: Game) -> None:
            self._decisions += len(game.decisions)
            take(game)

        spine.work.on_game = count
        async with asyncio.TaskGroup() as group:
            running = group.create_task(spine.run())
            while spine.ledger.books.done == 0:  # noqa: ASYNC110  # a bench looks from outside
                await asyncio.sleep(0.05)
            await self._watch(self.alone)
            training = group.create_task(self.neural.trainer.run())
            await self._watch(self.learning)
            training.cancel()
            spine.halt()
            await running
        return 0

    async def _watch(self, windows: _Windows) -> None:
        spine = self.neural.spine
        for _ in range(WINDOWS):
            rows, games, decisions = spine.evaluator.stats().rows, spine.ledger.books.done, self._decisions
            began_s = time.perf_counter()
            await asyncio.sleep(WINDOW_S)
            seconds = time.perf_counter() - began_s
            windows.rows_per_s.append((spine.evaluator.stats().rows - rows) / seconds)
            windows.games_per_min.append((spine.ledger.books.done - games) / seconds * 60)
            simulations = (self._decisions - decisions) * self._config.search.simulations
            windows.simulations_per_s.append(simulations / seconds)
