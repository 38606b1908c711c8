"""Brings entries to disk, many in one transaction, from a thread of its own or right where it is called."""

import errno
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from asyncplay.data.entries import GameEntry, Note, Written
from asyncplay.data.store import Store, unusable
from asyncplay.data.watermark import Watermark

MOST_NOTES = 10_000  # while nothing can be written, older ones make room for newer ones
TRANSIENT = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY", "SQLITE_LOCKED")
"""What may pass by itself. Everything else that SQLite says is a damaged database or a bug."""
TRANSIENT_ERRORS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),  # no room
    *(errno.EIO, errno.EROFS, errno.ESTALE, errno.ETIMEDOUT, errno.EBUSY, errno.EAGAIN),  # a disk that is not well
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM),
}
"""The same of the system's errors: others say that something is in the way, and stays."""

Result = TypeVar("Result")


class CommitPolicy(NamedTuple):
    """When a transaction ends, and when a failed one is tried again."""

    games: int = 256  # with so many waiting, or
    age_s: float = 0.05  # when the oldest has waited so long
    retry_s: float = 1.0


class CommitListener(Protocol):
    """Who is told; a threaded writer calls from its thread."""

    def committed(self, written: Written, seconds: float) -> None:
        """The oldest games that waited are on disk, as many as ``written`` has."""

    def trouble(self, why: str) -> None:
        """Nothing can be stored, for the time being; an empty ``why``: it is over."""

    def failed(self, error: BaseException) -> None:
        """Nothing will be stored any more."""


class Writer(Protocol):
    """Takes entries in order; games come out of it through the listener in the same order."""

    def add(self, game: GameEntry) -> None: ...

    def note(self, note: Note) -> None: ...

    def give_up(self) -> None:
        """Wait for the disk no more: what is left is tried once."""

    def close(self) -> None:
        """Write what is left and close store and mark; blocks until the disk takes it or it is given up."""


class GivenUp(Exception):
    """The disk does not let us, and nobody waits for it any more."""


def persist(step: Callable[[], Result], wait: Callable[[str], None]) -> Result:
    """Do a step, again and again while the disk does not let us; ``wait`` hears why, and returns when it is worth
    another try or raises GivenUp."""
    while True:
        try:
            return step()
        except (sqlite3.OperationalError, OSError) as error:
            if not is_transient(error):
                raise
            wait(str(error))


class Persist(Protocol):
    def __call__(self, step: Callable[[], Result], /) -> Result: ...


class InlineWriter:
    """Commits each game where it is added, so that what happens next depends on no clock and no thread.

    ``persist`` does a step until it succeeds and lets nothing else happen before. Where it gives up, nothing is written
    any more: games stay in the order in which they came.
    """

    def __init__(self, store: Store, mark: Watermark, listener: CommitListener, persist: Persist) -> None:
        self._store, self._mark, self._listener, self._persist = store, mark, listener, persist
        self._notes: deque[Note] = deque(maxlen=MOST_NOTES)
        self._is_over = False

    def add(self, game: GameEntry) -> None:
        self._commit([game])

    def note(self, note: Note) -> None:
        """Goes to disk with the next game."""
        self._notes.append(note)

    def give_up(self) -> None:
        """Who waits for the disk here holds up everybody who could say so."""

    def close(self) -> None:
        try:
            self._commit([])
        finally:
            self._store.close()
            self._mark.close()

    def _commit(self, games: list[GameEntry]) -> None:
        if self._is_over:
            return
        began_s = time.perf_counter()
        try:
            written = self._persist(lambda: self._store.write(games, list(self._notes)))
            self._persist(lambda: self._mark.write(written.kept))
        except GivenUp:
            self._is_over = True
            return
        except sqlite3.Error as error:
            raise unusable(self._store.path, error) from None
        self._notes.clear()
        self._listener.committed(written, time.perf_counter() - began_s)


class ThreadedWriter:
    """Group commit off the loop.

    Lifetime: until ``close``. Order: first come, first stored; one transaction
    at a time, and while one is being synced the next gathers. Limit: none here; the recorder counts what waits and
    holds new work. Trouble: a transaction that fails for reasons outside is tried again until it succeeds, and games
    are never dropped. End: ``close`` waits for the disk too, unless it is given up; what is not stored then, nobody
    was told was.
    """

    def __init__(self, store: Store, mark: Watermark, listener: CommitListener, pace: CommitPolicy) -> None:
        self._store, self._mark, self._listener, self._pace = store, mark, listener, pace
        self._changed = threading.Condition()
        self._games: list[GameEntry] = []
        self._notes: deque[Note] = deque(maxlen=MOST_NOTES)
        self._oldest_s = 0.0
        self._is_closing = self._is_given_up = False
        self._is_troubled = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def add(self, game: GameEntry) -> None:
        with self._changed:
            self._begin_waiting()
            self._games.append(game)
            if len(self._games) in (1, self._pace.games):
                self._changed.notify()

    def note(self, note: Note) -> None:
        with self._changed:
            self._begin_waiting()
            self._notes.append(note)
            self._changed.notify()

    def give_up(self) -> None:
        with self._changed:
            self._is_given_up = True
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()
        self._store.close()
        self._mark.close()

    def _begin_waiting(self) -> None:
        if not (self._games or self._notes):
            self._oldest_s = time.monotonic()

    def _run(self) -> None:
        try:
            while (batch := self._next_batch()) is not None:
                self._commit(*batch)
        except GivenUp:
            return
        except sqlite3.Error as error:
            self._listener.failed(unusable(self._store.path, error))
        except BaseException as error:
            self._listener.failed(error)

    def _next_batch(self) -> tuple[list[GameEntry], list[Note]] | None:
        """Wait until a transaction is due and take all there is; None at the end."""
        with self._changed:
            while (wait_s := self._due_in_s()) is None or wait_s > 0:
                self._changed.wait(wait_s)
            if not (self._games or self._notes):
                return None
            games, notes = self._games, list(self._notes)
            self._games = []
            self._notes.clear()
            return games, notes

    def _due_in_s(self) -> float | None:
        """None: nothing to write, so not before somebody adds something."""
        if self._is_closing or len(self._games) >= self._pace.games:
            return 0.0
        if not (self._games or self._notes):
            return None
        return self._oldest_s + self._pace.age_s - time.monotonic()

    def _commit(self, games: list[GameEntry], notes: list[Note]) -> None:
        began_s = time.perf_counter()
        written = self._persist(lambda: self._store.write(games, notes))
        self._persist(lambda: self._mark.write(written.kept))
        self._listener.committed(written, time.perf_counter() - began_s)

    def _persist(self, step: Callable[[], Result]) -> Result:
        result = persist(step, self._wait_out)
        if self._is_troubled:
            self._is_troubled = False
            self._listener.trouble("")
        return result

    def _wait_out(self, why: str) -> None:
        """Until it is worth another try; giving up is worth one."""
        with self._changed:
            was_given_up = self._is_given_up
        if was_given_up:
            raise GivenUp
        self._is_troubled = True
        self._listener.trouble(why)
        deadline_s = time.monotonic() + self._pace.retry_s
        with self._changed:
            while not self._is_given_up and (wait_s := deadline_s - time.monotonic()) > 0:
                self._changed.wait(wait_s)


def is_transient(error: Exception) -> bool:
    """Whether an error may pass by itself: no room, a busy or unwritable disk."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "").startswith(TRANSIENT)
    return isinstance(error, OSError) and error.errno in TRANSIENT_ERRORS
