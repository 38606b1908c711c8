"""The store: how fast it takes games, how long it holds the loop up, and what a slow disk costs a run.

Games of Connect Four's size go through the coordinator's own parts (dispatcher, recorder, writer) as fast as they are
acknowledged, at both levels of durability, and again with 20 ms more in every transaction. Then a real run of
Connect Four, nothing learning, plays in windows with and without those 20 ms in turn. ``acknowledged_early`` counts
games that were acknowledged to their worker before another connection could read them.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from asyncplay.bench.loads import bench_config
from asyncplay.bench.outside import rows_per_s, until
from asyncplay.data.entries import GameEntry, Note, Written
from asyncplay.data.store import Durability, Store, open_read_only, open_store
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.evaluator import Evaluator
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.loop import run_loop
from asyncplay.engine.recorder import GameRecorder, RecorderLimits
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.work import Arrival, Assignment, UnitWork
from asyncplay.methods.selfplay.messages import Game
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.payloads import offsets_of
from asyncplay.pools.link import Link
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Job

SLOW_S = 0.02
LEVELS: tuple[Durability, ...] = ("process", "power")
ROWS, ACTIONS, FEATURES = 30, 7, 84
AHEAD = 2048  # games under way
SLICE = 16  # games between two looks at the loop
TICK_S = 0.001
RUN_GAMES = "128"  # fewer games at a time than usual, so that the first ones are over soon


class SlowStore(Store):
    """A store whose disk can be made slower."""

    delay_s = 0.0

    @classmethod
    def over(cls, store: Store) -> "SlowStore":
        return cls(store.connection, store.path)

    def write(self, games: Sequence[GameEntry], notes: Sequence[Note]) -> Written:
        written = super().write(games, notes)
        if self.delay_s:
            time.sleep(self.delay_s)
        return written


class Auditor:
    """Looks over the dispatcher's shoulder: is each game that is settled in the database already?"""

    def __init__(self, folder: Path, dispatcher: Dispatcher) -> None:
        self._reader, self._settle = open_read_only(folder), dispatcher.settle
        self.settled = self.early = 0
        dispatcher.settle = self.settle  # type: ignore[method-assign]  # the recorder calls it there

    def settle(self, arrivals: Iterable[tuple[Arrival, bool]]) -> None:
        arrivals = list(arrivals)
        self.settled += sum(is_new for _, is_new in arrivals)
        stored = int(self._reader.execute("SELECT ifnull(max(number), 0) FROM games").fetchone()[0])
        self.early += max(self.settled - stored, 0)
        self._settle(arrivals)

    def close(self) -> None:
        self._reader.close()


class StoreBench(NamedTuple):
    """One row of the table."""

    durability: str
    added_ms: float
    games_per_s: float
    longest_pause_ms: float
    games_per_commit: float
    acknowledged_early: int


def measure(*, quick: bool = False) -> dict[str, Any]:
    seconds, windows = (1.0, 3) if quick else (5.0, 10)
    rows = [_flood(level, added_s, seconds) for level in LEVELS for added_s in (0.0, SLOW_S)]
    run = _Run(windows, 2.0 if quick else 4.0)
    return {
        "rows": [row._asdict() for row in rows],
        "run_ratio": statistics.median(run.ratios),
        "run_ratios": run.ratios,
        "run_games_per_min": run.games_per_min,
        "acknowledged_early": sum(row.acknowledged_early for row in rows) + run.early,
    }


def _flood(level: Durability, added_s: float, seconds: float) -> StoreBench:
    """As many games as the store takes."""
    with tempfile.TemporaryDirectory() as place:
        flood = _Flood(Path(place), level, added_s)
        run_loop(flood.run(seconds))
    return StoreBench(
        level,
        added_s * 1e3,
        flood.games / flood.seconds,
        flood.longest_pause_s * 1e3,
        flood.games / max(flood.commits, 1),
        flood.early,
    )


class _Flood:
    """A worker without a game: whatever it is given is finished at once."""

    def __init__(self, folder: Path, level: Durability, added_s: float) -> None:
        self._folder, self._level, self._added_s = folder, level, added_s
        self.games = self.commits = self.early = 0
        self.seconds = self.longest_pause_s = 0.0
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()

    def send(self, frame: bytes) -> None:
        """The worker's end of the link."""
        message = decode(frame[HEADER.size :])
        if isinstance(message, Job):
            self._jobs.put_nowait(message)

    async def run(self, seconds: float) -> int:
        slow = SlowStore.over(open_store(self._folder, {}, self._level))
        slow.delay_s = self._added_s
        dispatcher = Dispatcher(cast(Evaluator, _Unasked()))
        auditor = Auditor(self._folder, dispatcher)
        assignment = Assignment("none", b"", seed=0, chunk=AHEAD // 4, low_water=AHEAD)
        work = UnitWork(assignment, Ledger(None), finished=lambda game: None)
        recorder = GameRecorder(RunFolder(self._folder), slow, RecorderLimits(), dispatcher, work)
        dispatcher.add(work, recorder)
        async with recorder, asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._play(dispatcher)), group.create_task(self._listen_for_pauses())]
            began_s = time.perf_counter()
            await asyncio.sleep(seconds)
            self.games, self.commits = work.ledger.books.done, recorder.stats().commits
            self.seconds = time.perf_counter() - began_s
            for task in tasks:
                task.cancel()
        self.early = auditor.early
        auditor.close()
        return 0

    async def _play(self, dispatcher: Dispatcher) -> None:
        member = Member(0, Phase.READY, 0.0)
        member.link = cast(Link, self)
        dispatcher.ready(member)
        game = _sample_game()
        while True:
            job = await self._jobs.get()
            for unit in range(job.first, job.first + job.count):
                dispatcher.heard(member, replace(game, job=job.number, unit=unit), 0.0)
                if unit % SLICE == 0:
                    await asyncio.sleep(0)

    async def _listen_for_pauses(self) -> None:
        while True:
            began_s = time.perf_counter()
            await asyncio.sleep(TICK_S)
            self.longest_pause_s = max(self.longest_pause_s, time.perf_counter() - began_s - TICK_S)


class _Unasked:
    """An evaluator in a bench that asks nothing."""

    def reset(self) -> None:
        """Nobody's habits are known here."""


def _sample_game() -> Game:
    """A game of Connect Four, as long as such games are."""
    random = np.random.default_rng(0)
    legal = np.tile(np.arange(ACTIONS, dtype=np.int32), ROWS)
    targets = random.dirichlet(np.ones(ACTIONS), ROWS).astype(np.float32).reshape(-1)
    decisions = np.arange(ROWS, dtype=np.int32)
    return Game(
        job=0,
        unit=0,
        seed=1,
        reason="rules",
        returns=np.array([1.0, -1.0]),
        outcome=np.array([1.0, -1.0], np.float32),
        actions=random.integers(0, ACTIONS, ROWS).astype(np.int32),
        decisions=decisions,
        seats=(decisions % 2).astype(np.int8),
        versions=np.zeros(ROWS, np.int32),
        features=np.zeros((ROWS, FEATURES), np.uint8),
        legal=legal,
        offsets=offsets_of(np.full(ROWS, ACTIONS)),
        targets=targets,
        values=np.zeros((ROWS, 2), np.float32),
        states=np.empty((ROWS, 0), np.int64),
    )


class _Run:
    """Connect Four with real workers; the disk is slow in every other window."""

    def __init__(self, n_pairs: int, window_s: float) -> None:
        self.ratios: list[float] = []  # rows/s with the slow disk by those of the windows around it
        self.games_per_min = 0.0
        self.early = 0
        with tempfile.TemporaryDirectory() as place:
            run_loop(self._watch(Path(place), n_pairs, window_s))

    async def _watch(self, folder: Path, n_pairs: int, window_s: float) -> int:
        neural = SelfplayRun(bench_config("connect4", "auto", search={"games": RUN_GAMES}), folder, lambda line: None)
        recorder, books = neural.recorder, neural.engine.ledger.books
        recorder.store = slow = SlowStore.over(recorder.store)
        auditor = Auditor(folder, neural.engine.dispatcher)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(neural.run())
            await until(lambda: books.done > 0)
            n_games, began_s = books.done, time.perf_counter()
            rates = []
            for number in range(2 * n_pairs + 1):
                slow.delay_s = SLOW_S * (number % 2)
                rates.append(await rows_per_s(neural.engine.evaluator, window_s))
            self.games_per_min = (books.done - n_games) / (time.perf_counter() - began_s) * 60
            neural.engine.halt()
            await running
        self.ratios = [2 * rates[at] / (rates[at - 1] + rates[at + 1]) for at in range(1, len(rates), 2)]
        self.early = auditor.early
        auditor.close()
        return 0
