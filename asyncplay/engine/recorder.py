"""Stores what a run reports: events and figures, and games before they are counted.

A game that a worker is told to forget, that is trained on or counted is on disk.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Self, cast

from asyncplay.data.entries import EventEntry, FinishedGame, GameEntry, MetricsEntry, Note, StorePosition, Written
from asyncplay.data.store import Store
from asyncplay.data.watermark import Watermark
from asyncplay.data.writer import CommitListener, CommitPolicy, InlineWriter, ThreadedWriter, Writer
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.figures import StoreFigures
from asyncplay.engine.work import Arrival, UnitWork
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.codec import payload_bytes
from asyncplay.wire.messages import MOST_MESSAGE_BYTES

log = logging.getLogger(__name__)

SLICE = 32  # games that are counted in one go: the loop has other things to do in between
DISK = "disk"  # the reason for which play is held
GAMES = "games"


class RecorderLimits(NamedTuple):
    """How far play may run ahead of the disk."""

    policy: CommitPolicy = CommitPolicy()
    queue_games: int = 4096
    queue_bytes: int = MOST_MESSAGE_BYTES


class EventRecorder:
    """Stores the events and figures of a run.

    Lifetime: an ``async with`` around the run, at whose end the store is closed. Order: as they come. Limit: while
    nothing can be written the oldest entries make room for newer ones, and the run goes on. End: what has come is
    written, as soon as it can be; a run that fails waits for no disk.
    """

    def __init__(self, folder: RunFolder, store: Store, policy: CommitPolicy) -> None:
        self.store, self._folder, self._policy = store, folder, policy
        self._writer: Writer

    async def __aenter__(self) -> Self:
        self._writer = self._open_writer(asyncio.get_running_loop(), Watermark(self._folder.path))
        self._folder.listeners.append(self._folder_changed)
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._folder.give_up()
        await self._close_writer()
        self._folder.listeners.remove(self._folder_changed)

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        """Store an event with the next commit; on the loop, inside the ``async with``."""
        self.add(EventEntry(time.time(), kind, text, json.dumps(data or {})))

    def measure(self, values: Mapping[str, float]) -> None:
        """Store the present figures."""
        self.add(MetricsEntry(time.time(), values))

    def add(self, note: Note) -> None:
        self._writer.note(note)

    def committed(self, written: Written, seconds: float) -> None:
        """Events and figures are not waited for."""

    def trouble(self, why: str) -> None:
        self._folder.note_trouble("events and figures", why)

    def failed(self, error: BaseException) -> None:
        log.error("events and figures cannot be stored any more: %s", error)

    def _open_writer(self, loop: asyncio.AbstractEventLoop, watermark: Watermark) -> Writer:
        return ThreadedWriter(self.store, watermark, _OnLoop(self, loop), self._policy)

    async def _close_writer(self) -> None:
        await self._folder.close(self._writer)

    def _folder_changed(self) -> None:
        if self._folder.is_given_up:
            self._writer.give_up()


class GameRecorder(EventRecorder):
    """Stores the games of one work too, between the dispatcher and the store.

    Lifetime: as above; ``run`` is one task of the run's group and ends it when nothing can be stored any more. Order:
    games are stored, counted and acknowledged in the order they came. Limit: with ``queue_games`` waiting, or while
    the folder cannot be written, no new games are issued until it is better; those under way still come in. With
    ``queue_bytes`` of games that are not counted yet nobody is read from until half of them are. End: what
    has come is stored and counted, as soon as it can be; what is given up was never acknowledged.

    In lockstep each game is stored the moment it comes, on the loop: nothing depends on a clock or a thread.
    """

    def __init__(
        self,
        folder: RunFolder,
        store: Store,
        limits: RecorderLimits,
        dispatcher: Dispatcher,
        work: UnitWork,
        *,
        is_lockstep: bool = False,
        on_full: Callable[[bool], None] = lambda is_full: None,
    ) -> None:
        """``on_full`` is called when the games here take too many bytes, and when they no longer do."""
        super().__init__(folder, store, limits.policy)
        self._dispatcher, self._work, self._on_full = dispatcher, work, on_full
        self._queue_games, self._queue_bytes = limits.queue_games, limits.queue_bytes
        self._is_lockstep = is_lockstep
        self._bytes, self._is_heavy = 0, False  # of all games that are not counted; whether these are too many
        self._position = store.kept
        self._waiting: deque[tuple[Arrival, float]] = deque()  # with the time of arrival
        self._stored: deque[tuple[Arrival, bool]] = deque()  # not counted yet
        self._trouble, self._is_full = "", False
        self._commits, self._busy_s, self._lag_s, self._repeats = 0, 0.0, 0.0, 0
        self._failure: asyncio.Future[None]

    @property
    def position(self) -> StorePosition:
        """Where the store stands."""
        return self._position

    async def __aenter__(self) -> Self:
        self._failure = asyncio.get_running_loop().create_future()
        return await super().__aenter__()

    async def run(self) -> None:
        """Return never; raise when nothing can be stored any more."""
        await asyncio.shield(self._failure)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await super().__aexit__(kind, error, trace)
        while self._stored:
            self._count_slice()
        if self._waiting:
            log.error("%d games could not be stored; their workers were never told so", len(self._waiting))
            self._folder.unsaved[f"{len(self._waiting):,} games"] = self._trouble
        if self._failure.done() and self._failure.exception() is not None and error is None:
            self._failure.result()

    def take(self, arrival: Arrival) -> None:
        """Queue a game to be stored; hold play when too many wait."""
        self._waiting.append((arrival, time.monotonic()))
        self._weigh(payload_bytes(arrival.result))
        if len(self._waiting) >= self._queue_games:
            self._is_full = True
            self._hold_play()
        game = cast(FinishedGame, arrival.result)  # the results of a recorded work are games
        self._writer.add(GameEntry(game, arrival.member.number, time.time()))

    def committed(self, written: Written, seconds: float) -> None:
        """The oldest games that waited are on disk: count them, a slice at a time."""
        self._commits, self._busy_s = self._commits + 1, self._busy_s + seconds
        self._repeats += written.is_new.count(False)
        self._position = written.kept
        is_counting = bool(self._stored)
        for is_new in written.is_new:
            arrival, came_s = self._waiting.popleft()
            self._stored.append((arrival, is_new))
            self._lag_s = time.monotonic() - came_s
        self._is_full = self._is_full and len(self._waiting) > self._queue_games // 2
        self._hold_play()
        if not is_counting:
            self._count()

    def trouble(self, why: str) -> None:
        self._folder.note_trouble(GAMES, why)

    def failed(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)

    def stats(self) -> StoreFigures:
        oldest_s = time.monotonic() - self._waiting[0][1] if self._waiting else 0.0
        return StoreFigures(
            games=self._position.games,
            queued=len(self._waiting),
            queued_mb=self._bytes / (1 << 20),
            commit_lag_ms=1000 * max(self._lag_s, oldest_s),
            is_holding=self._is_full or bool(self._trouble),
            trouble=self._trouble,
            rows=self._position.rows,
            commits=self._commits,
            busy_s=self._busy_s,
            repeats=self._repeats,
        )

    def _open_writer(self, loop: asyncio.AbstractEventLoop, watermark: Watermark) -> Writer:
        if self._is_lockstep:
            return InlineWriter(self.store, watermark, self, partial(self._folder.persist_here, GAMES))
        return super()._open_writer(loop, watermark)

    async def _close_writer(self) -> None:
        if self._is_lockstep:
            self._writer.close()
        else:
            await super()._close_writer()

    def _folder_changed(self) -> None:
        if bool(self._folder.trouble) != bool(self._trouble):
            self.note("trouble" if self._folder.trouble else "recovered", self._folder.said)
        self._trouble = self._folder.trouble
        self._hold_play()
        super()._folder_changed()

    def _hold_play(self) -> None:
        """In lockstep everything stands still by itself, and to go on changes no order."""
        if not self._is_lockstep:
            self._dispatcher.hold(self._work, DISK, self._is_full or bool(self._trouble))

    def _count(self) -> None:
        while self._stored:
            self._count_slice()
            if self._stored and not self._is_lockstep:
                asyncio.get_running_loop().call_soon(self._count)
                return

    def _count_slice(self) -> None:
        arrivals = [self._stored.popleft() for _ in range(min(SLICE, len(self._stored)))]
        self._dispatcher.settle(arrivals)
        self._weigh(-sum(payload_bytes(arrival.result) for arrival, _ in arrivals))

    def _weigh(self, n_bytes: int) -> None:
        """In lockstep a game is counted before the next one comes."""
        self._bytes += n_bytes
        is_heavy = self._bytes > self._queue_bytes // (2 if self._is_heavy else 1)
        if is_heavy != self._is_heavy and not self._is_lockstep:
            self._is_heavy = is_heavy
            self._on_full(is_heavy)


class _OnLoop:
    """Carries the writer's words from its thread to the loop."""

    def __init__(self, listener: CommitListener, loop: asyncio.AbstractEventLoop) -> None:
        self._listener, self._loop = listener, loop

    def committed(self, written: Written, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._listener.committed, written, seconds)

    def trouble(self, why: str) -> None:
        self._loop.call_soon_threadsafe(self._listener.trouble, why)

    def failed(self, error: BaseException) -> None:
        self._loop.call_soon_threadsafe(self._listener.failed, error)
