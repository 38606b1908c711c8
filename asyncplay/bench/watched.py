"""A run of self-play that a bench looks at in windows, with the model's own limit measured in between.

A window of the limit is a task on the run's own lane: while the device computes it no answer goes out, so the
workers have nothing to do and wait. What the machine can do just then is thus measured beside what it did.
"""

import asyncio
import math
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from asyncplay.bench.outside import until
from asyncplay.bench.tally import Tally, whole_rounds
from asyncplay.config.sections import Config
from asyncplay.engine.lane import Finish, Task
from asyncplay.errors import AsyncplayError
from asyncplay.games.sampling import random_rows
from asyncplay.methods.selfplay.network import SAMPLE_ROWS, open_model
from asyncplay.methods.selfplay.placement import WORKERS
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import Candidate
from asyncplay.payloads import Positions

BATCHES = (64, 128, 256, 512, 1024)
MOST_HELD = 0.02  # of a core that held workers may take
QUIET_S = 0.2  # until workers that were thinking have asked and wait


class ForwardLimit:
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
        """As many batches in flight as the backend likes."""
        began_s, n_done = time.perf_counter(), 0
        flying: deque[Finish] = deque()
        while (spent_s := time.perf_counter() - began_s) < seconds:
            flying.append(self._backend.launch(self._positions))
            if len(flying) == self._backend.depth:
                flying.popleft()()
                n_done += 1
        for finish in flying:
            finish()
        return n_done * len(self._positions.features) / spent_s

    def _deliver(self, rows_per_s: float) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(rows_per_s)


class Watched:
    """One run. Make it inside a loop."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.neural = SelfplayRun(config, folder, lambda line: None)

    @property
    def under_way(self) -> int:
        """Games at a time."""
        return self.config.search.games

    def tally(self) -> Tally:
        stats, engine = self.neural.engine.evaluator.stats(), self.neural.engine
        return Tally(
            time.perf_counter(),
            games=engine.ledger.books.done,
            rows=stats.rows,
            batches=stats.batches,
            decisions=self.neural.trainer.stats().inserted_rows,
            spared=stats.spared_rows,
        )

    async def until_placed(self) -> None:
        """Until it is settled where the network answers."""
        await until(lambda: self.neural.is_placed)

    async def limit_window(self, limit: ForwardLimit, seconds: float) -> float:
        """Rows/s of the limit with all workers waiting; those that answer themselves are held meanwhile."""
        if self.neural.placement != WORKERS:
            return await limit.measure(seconds)
        supervisor = self.neural.engine.supervisor
        supervisor.hold(True)
        try:
            await asyncio.sleep(QUIET_S)
            before_s = self._worker_cpu_s()
            rows_per_s = await limit.measure(seconds)
            if self._worker_cpu_s() - before_s > MOST_HELD * seconds:
                raise AsyncplayError("a worker that was held went on computing; the limit beside it is no limit")
            return rows_per_s
        finally:
            supervisor.hold(False)

    def _worker_cpu_s(self) -> float:
        """What the workers have taken of the cores so far."""
        times = [psutil.Process(member.pid).cpu_times() for member in self.neural.engine.supervisor.members()]
        return float(sum(each.user + each.system for each in times))

    async def until_asked(self) -> None:
        """Until every worker has."""
        await until(lambda: all(worker.rows for worker in self.neural.engine.supervisor.stats()))

    async def until_games(self, n_games: float) -> None:
        await until(lambda: self.tally().games >= n_games)

    async def window(self, seconds: float, n_games: float = math.inf) -> Tally:
        """What is done in so many seconds, or until ``n_games`` have ended since the run began."""
        before = self.tally()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.until_games(n_games)
        return self.tally().since(before)

    async def whole_batches(self, seconds: float) -> Tally:
        """What is done from one batch's end to the first one after so many seconds: no batch is cut in two."""
        before = await self._batch_end()
        await asyncio.sleep(seconds)
        return (await self._batch_end()).since(before)

    async def _batch_end(self) -> Tally:
        n_batches = self.tally().batches
        await until(lambda: self.tally().batches > n_batches)
        return self.tally()

    def attach_limit(self) -> ForwardLimit:
        """The thread count and batch size at which this backend is fastest, found before any worker runs."""
        neural, best = self.neural, self.neural.choice.best
        weights, sample = neural.learner.weights(), random_rows(neural.game, SAMPLE_ROWS)

        def open_candidate(option: Candidate) -> Backend:
            return open_model(self.config, neural.shape, weights, 0, option)

        options = device.candidates(best.backend, sorted({1, device.usable_cores()}))
        figure = device.forward_limit(open_candidate, options, sample, BATCHES).figures[0]
        limit = ForwardLimit(open_candidate(figure.candidate), device.resize(sample, figure.rows))
        neural.engine.lane.attach(limit, share=1.0, is_first=True)
        limit.wake = neural.engine.lane.wake
        return limit


async def play_rounds(config: Config, seconds: float) -> Tally:
    """A whole run, from its first worker's start to its end: what it did in whole rounds of its games."""
    with tempfile.TemporaryDirectory() as place:
        watched = Watched(config, Path(place))
        async with asyncio.TaskGroup() as group:
            running = group.create_task(watched.neural.run())
            await watched.until_asked()
            tally = await whole_rounds(watched.tally, watched.under_way, seconds)
            watched.neural.engine.halt()
            await running
        return tally
