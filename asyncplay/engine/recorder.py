"""Stores games before anybody counts them: what a worker is told to forget, what is trained on and what is counted
is on disk."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Self

from asyncplay.data.entries import EventEntry, GameEntry, Note, StorePosition, Written
from asyncplay.data.store import Store
from asyncplay.data.watermark import Watermark
from asyncplay.data.writer import CommitPolicy, InlineWriter, ThreadedWriter, Writer
from asyncplay.engine.dispatch import Arrival, Dispatcher, Work
from asyncplay.methods.selfplay.messages import Game
from asyncplay.records import Record, sparse
from asyncplay.rundir.folder import RunFolder
from asyncplay.stats import StoreStats

log = logging.getLogger(__name__)

SLICE = 32  # games that are counted in one go: the loop has other things to do in between
DISK = "disk"  # why play is held
GAMES = "games"


class RecorderLimits(NamedTuple):
    """How far play may run ahead of the disk."""

    pace: CommitPolicy = CommitPolicy()
    queue_games: int = 4096


class _Waiting(NamedTuple):
    arrival: Arrival
    came_s: float


class GameRecorder:
    """Between the dispatcher and the store.

    Lifetime: an ``async with`` around the whole run; ``run`` is one task of its group and ends it when nothing can be
    stored any more. Order: games are stored, counted and acknowledged in the order they came. Limit: with
    ``queue_games`` waiting, or while anybody cannot write to the folder, no new games are issued until it is better;
    those under way still come in. End: what has come is stored and counted, as soon as it can be; what is given up was
    never acknowledged. A run that fails waits for no disk.

    In lockstep each game is stored the moment it comes, on the loop: nothing depends on a clock or a thread.
    """

    def __init__(self, folder: RunFolder, store: Store, limits: RecorderLimits, *, is_lockstep: bool = False) -> None:
        self.store, self._folder, self._limits, self._is_lockstep = store, folder, limits, is_lockstep
        self._kept = store.kept
        self._waiting: deque[_Waiting] = deque()
        self._stored: deque[tuple[Arrival, bool]] = deque()
        self._trouble = ""
        self._is_full = False
        self._commits, self._busy_s, self._lag_s, self._repeats = 0, 0.0, 0.0, 0
        self.settle: Callable[[list[tuple[Arrival, bool]]], None]  # counts and acknowledges what is stored
        self._hold: Callable[[str, bool], None]
        self._writer: Writer
        self._failure: asyncio.Future[None]

    @property
    def kept(self) -> StorePosition:
        """Where the store stands."""
        return self._kept

    def join(self, dispatcher: Dispatcher, work: Work) -> None:
        """Keep the games of ``work`` from now on."""
        work.keep = self.take
        self.settle, self._hold = dispatcher.settle, partial(dispatcher.hold, work)

    async def __aenter__(self) -> Self:
        loop, mark = asyncio.get_running_loop(), Watermark(self._folder.path)
        self._failure = loop.create_future()
        if self._is_lockstep:
            self._writer = InlineWriter(self.store, mark, self, partial(self._folder.persist_here, GAMES))
        else:
            self._writer = ThreadedWriter(self.store, mark, _Elsewhere(self, loop), self._limits.pace)
        self._folder.listeners.append(self._heed_folder)
        return self

    async def run(self) -> None:
        """Wait for the worst."""
        await asyncio.shield(self._failure)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._folder.give_up()
        if self._is_lockstep:
            self._writer.close()
        else:
            await self._folder.close(self._writer)
        self._folder.listeners.remove(self._heed_folder)
        while self._stored:
            self._count_slice()
        if self._waiting:
            log.error("%d games could not be stored; their workers were never told so", len(self._waiting))
            self._folder.unsaved[f"{len(self._waiting):,} games"] = self._trouble
        if self._failure.done() and self._failure.exception() is not None and error is None:
            self._failure.result()

    def take(self, arrival: Arrival) -> None:
        self._waiting.append(_Waiting(arrival, time.monotonic()))
        if len(self._waiting) >= self._limits.queue_games:
            self._is_full = True
            self._hold_play()
        self._writer.add(entry_of(arrival.game, arrival.member.number))

    def note(self, note: Note) -> None:
        """Store a version, an event or figures with the next commit; on the loop, inside the ``async with``."""
        self._writer.note(note)

    def stats(self) -> StoreStats:
        oldest_s = time.monotonic() - self._waiting[0].came_s if self._waiting else 0.0
        return StoreStats(
            games=self._kept.games,
            queued=len(self._waiting),
            lag_s=max(self._lag_s, oldest_s),
            is_holding=self._is_holding,
            trouble=self._trouble,
            rows=self._kept.rows,
            commits=self._commits,
            busy_s=self._busy_s,
            repeats=self._repeats,
        )

    @property
    def _is_holding(self) -> bool:
        return self._is_full or bool(self._trouble)

    def _hold_play(self) -> None:
        """In lockstep everything stands still by itself, and to go on changes no order."""
        if not self._is_lockstep:
            self._hold(DISK, self._is_holding)

    def committed(self, written: Written, seconds: float) -> None:
        self._commits, self._busy_s = self._commits + 1, self._busy_s + seconds
        self._repeats += written.is_new.count(False)
        self._kept = written.kept
        is_idle = not self._stored
        for is_new in written.is_new:
            arrival, came_s = self._waiting.popleft()
            self._stored.append((arrival, is_new))
            self._lag_s = time.monotonic() - came_s
        self._is_full = self._is_full and len(self._waiting) > self._limits.queue_games // 2
        self._hold_play()
        if is_idle and self._stored:
            self._count()

    def trouble(self, why: str) -> None:
        self._folder.note_trouble(GAMES, why)

    def _heed_folder(self) -> None:
        if bool(self._folder.trouble) != bool(self._trouble):
            kind = "trouble" if self._folder.trouble else "recovered"
            self.note(EventEntry(time.time(), kind, self._folder.said))
        self._trouble = self._folder.trouble
        self._hold_play()
        if self._folder.is_given_up:
            self._writer.give_up()

    def failed(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)

    def _count(self) -> None:
        """Hand over what is stored, a slice at a time; the end may have done the rest."""
        while self._stored:
            self._count_slice()
            if self._stored and not self._is_lockstep:
                asyncio.get_running_loop().call_soon(self._count)
                return

    def _count_slice(self) -> None:
        self.settle([self._stored.popleft() for _ in range(min(SLICE, len(self._stored)))])


class _Elsewhere:
    """Carries the writer's words from its thread to the loop."""

    def __init__(self, recorder: GameRecorder, loop: asyncio.AbstractEventLoop) -> None:
        self._recorder, self._loop = recorder, loop

    def committed(self, written: Written, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._recorder.committed, written, seconds)

    def trouble(self, why: str) -> None:
        self._loop.call_soon_threadsafe(self._recorder.trouble, why)

    def failed(self, error: BaseException) -> None:
        self._loop.call_soon_threadsafe(self._recorder.failed, error)


def entry_of(game: Game, worker: int) -> GameEntry:
    """What of a game is stored."""
    ending = (game.seed, game.reason, game.returns, game.outcome)
    return GameEntry(game.unit, time.time(), worker, *ending, record_of(game))


def record_of(game: Game) -> Record:
    """What of a game is stored beside its ending."""
    policies = sparse(game.legal, game.offsets, game.targets)
    return Record(game.actions, game.decisions, game.seats, game.versions, *policies)
