"""Stores games before anybody counts them: what a worker is told to forget, what is trained on and what is counted
is on disk."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from asyncplay.coordinator.dispatch import Arrival, Dispatcher, Work
from asyncplay.coordinator.gamerows import record_of
from asyncplay.data.entries import EventEntry, GameEntry, Kept, Note, Written
from asyncplay.data.mark import Mark
from asyncplay.data.store import Store
from asyncplay.data.writer import InlineWriter, Pace, ThreadedWriter, Writer
from asyncplay.stats import StoreStats
from asyncplay.wire.messages import Game

log = logging.getLogger(__name__)

SLICE = 32  # games that are counted in one go: the loop has other things to do in between
DISK = "disk"  # why play is held


class Limits(NamedTuple):
    """How far play may run ahead of the disk."""

    pace: Pace = Pace()
    queue_games: int = 4096


class _Waiting(NamedTuple):
    arrival: Arrival
    came_s: float


class Keeper:
    """Between the dispatcher and the store.

    Lifetime: an ``async with`` around the whole run; ``run`` is one task of its group and ends it when nothing can be
    stored any more. Order: games are stored, counted and acknowledged in the order they came. Limit: with
    ``queue_games`` waiting, or while the disk is in trouble, no new games are issued until it is better; those under
    way still come in. End: what has come is stored and counted; what cannot be stored was never acknowledged.

    In lockstep each game is stored the moment it comes, on the loop: nothing depends on a clock or a thread.
    """

    def __init__(self, folder: Path, store: Store, limits: Limits, *, is_lockstep: bool = False) -> None:
        self.store, self._folder, self._limits, self._is_lockstep = store, folder, limits, is_lockstep
        self._kept = store.kept
        self._waiting: deque[_Waiting] = deque()
        self._stored: deque[tuple[Arrival, bool]] = deque()
        self._trouble, self._since_s = "", 0.0
        self._is_full = False
        self._commits, self._busy_s, self._lag_s, self._repeats = 0, 0.0, 0.0, 0
        self.settle: Callable[[list[tuple[Arrival, bool]]], None]  # counts and acknowledges what is stored
        self._hold: Callable[[str, bool], None]
        self._writer: Writer
        self._failure: asyncio.Future[None]

    @property
    def kept(self) -> Kept:
        """Where the store stands."""
        return self._kept

    def join(self, dispatcher: Dispatcher, work: Work) -> None:
        """Keep the games of ``work`` from now on."""
        work.keep = self.take
        self.settle, self._hold = dispatcher.settle, partial(dispatcher.hold, work)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._failure = loop.create_future()
        if self._is_lockstep:
            self._writer = InlineWriter(self.store, Mark(self._folder), self)
        else:
            self._writer = ThreadedWriter(self.store, Mark(self._folder), _Elsewhere(self, loop), self._limits.pace)
        return self

    async def run(self) -> None:
        """Wait for the worst."""
        await asyncio.shield(self._failure)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._is_lockstep:
            self._writer.close()
        else:
            await asyncio.to_thread(self._writer.close)
        while self._stored:
            self._count_slice()
        if self._waiting:
            log.error("%d games could not be stored; their workers were never told so", len(self._waiting))
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
        if why and not self._trouble:
            self._since_s = time.monotonic()
            log.error("nothing can be stored: %s; play pauses, training goes on", why)
            self.note(EventEntry(time.time(), "trouble", f"nothing can be stored: {why}"))
        elif self._trouble and not why:
            lasted_s = time.monotonic() - self._since_s
            log.warning("games can be stored again after %.1f s", lasted_s)
            self.note(EventEntry(time.time(), "recovered", f"games can be stored again after {lasted_s:.1f} s"))
        self._trouble = why
        self._hold_play()

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

    def __init__(self, keeper: Keeper, loop: asyncio.AbstractEventLoop) -> None:
        self._keeper, self._loop = keeper, loop

    def committed(self, written: Written, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._keeper.committed, written, seconds)

    def trouble(self, why: str) -> None:
        self._loop.call_soon_threadsafe(self._keeper.trouble, why)

    def failed(self, error: BaseException) -> None:
        self._loop.call_soon_threadsafe(self._keeper.failed, error)


def entry_of(game: Game, worker: int) -> GameEntry:
    """What of a game is stored."""
    ending = (game.seed, game.reason, game.returns, game.outcome)
    return GameEntry(game.unit, time.time(), worker, *ending, record_of(game))
