"""A run of self-play that a bench looks at in windows, with the model's own limit measured in between.

A window of the limit is a task on the run's own lane: while the device computes it no answer goes out, so the
workers have nothing to do and wait. What the machine can do just then is thus measured beside what it did.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from asyncplay.bench.outside import until
from asyncplay.config import Config
from asyncplay.coordinator.lane import Finish, Task
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import Candidate
from asyncplay.neural import NeuralRun, open_model, sample_positions
from asyncplay.payloads import Positions

BATCHES = (64, 128, 256, 512, 1024)
QUIET_S = 0.2  # until workers that were thinking have asked and wait


class Window(NamedTuple):
    """What a run did in a while."""

    rows_per_s: float
    games_per_min: float
    decisions_per_s: float
    mean_batch: float


class Limit:
    """A source of the lane that, when asked to, runs the network as fast as it can for a while."""

    def __init__(self, backend: Backend, positions: Positions) -> None:
        self._backend, self._positions = backend, positions
        self._seconds = 0.0
        self._answer: asyncio.Future[float] | None = None
        self.wake: Callable[[], None] = lambda: None

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0 if self._answer is not None and self._seconds else float("inf")

    def start(self, now_s: float) -> Task:
        seconds, self._seconds = self._seconds, 0.0
        return Task(lambda: self._launch(seconds), lambda result, _: None, self._deliver)

    async def measure(self, seconds: float) -> float:
        """Return rows/s with all workers waiting."""
        self._answer = asyncio.get_running_loop().create_future()
        self._seconds = seconds
        self.wake()
        try:
            return await self._answer
        finally:
            self._answer = None

    def _launch(self, seconds: float) -> Finish:
        self._run_for(QUIET_S)
        rows_per_s = self._run_for(seconds)
        return lambda: rows_per_s

    def _run_for(self, seconds: float) -> float:
        began_s, rows = time.perf_counter(), 0
        while (spent_s := time.perf_counter() - began_s) < seconds:
            self._backend.launch(self._positions)()
            rows += len(self._positions.features)
        return rows / spent_s

    def _deliver(self, rows_per_s: float) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(rows_per_s)


class Watched:
    """One run. Make it inside a loop."""

    def __init__(self, config: Config, folder: Path) -> None:
        self._config = config
        self.neural = NeuralRun(config, folder, lambda line: None)
        self.limit = self._make_limit()
        self.neural.spine.lane.attach(self.limit, share=1.0, is_first=True)
        self.limit.wake = self.neural.spine.lane.wake

    @property
    def n_games(self) -> int:
        return self.neural.spine.ledger.books.done

    async def until_asked(self) -> None:
        await until(lambda: self.neural.spine.evaluator.stats().rows > 0)

    async def until_game(self) -> None:
        await until(lambda: self.n_games > 0)

    async def window(self, seconds: float) -> Window:
        evaluator, trainer = self.neural.spine.evaluator, self.neural.trainer
        before, games, decisions = evaluator.stats(), self.n_games, trainer.stats().inserted_rows
        began_s = time.perf_counter()
        await asyncio.sleep(seconds)
        spent_s = time.perf_counter() - began_s
        now = evaluator.stats()
        return Window(
            rows_per_s=(now.rows - before.rows) / spent_s,
            games_per_min=(self.n_games - games) / spent_s * 60,
            decisions_per_s=(trainer.stats().inserted_rows - decisions) / spent_s,
            mean_batch=(now.rows - before.rows) / max(now.batches - before.batches, 1),
        )

    def _make_limit(self) -> Limit:
        """The thread count and batch size at which this backend is fastest, found before any worker runs."""
        neural, best = self.neural, self.neural.choice.best
        weights, sample = neural.learner.weights(), sample_positions(neural.game)

        def open_candidate(option: Candidate) -> Backend:
            return open_model(self._config, neural.shape, weights, 0, option)

        options = device.candidates(best.backend, sorted({1, device.usable_cores()}))
        figure = device.forward_limit(open_candidate, options, sample, BATCHES).figures[0]
        return Limit(open_candidate(figure.candidate), device.resize(sample, figure.rows))
