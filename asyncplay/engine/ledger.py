"""The books of work: what was issued, what came back, what was lost and issued again.

A unit is numbered once and for all. At any moment ``issued == done + lost + outstanding``, at the end of a run, when
what is under way is cut short, ``issued == done + lost + cut_short``; and every unit lost is either issued again or,
after it took part in the death of three workers, quarantined. When nothing is outstanding and nothing waits,
``done + quarantined`` is the number of units asked for.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count as counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import WireError

FATAL_DEATHS = 3
NO_WORKER = -1


class Piece(NamedTuple):
    """Units that are issued together."""

    first: int
    size: int
    deaths: int = 0  # of workers that had these units under way


@dataclass(slots=True)
class Books:
    """Units, since the run began."""

    issued: int = 0  # handed out, repeats included
    done: int = 0
    lost: int = 0
    reissued: int = 0
    set_aside: int = 0  # quarantined
    cut_short: int = 0  # under way when the run ended

    @property
    def outstanding(self) -> int:
        return self.issued - self.done - self.lost - self.cut_short


@dataclass(slots=True)
class _Open:
    """A job that a worker has under way."""

    piece: Piece
    worker: int  # NO_WORKER once it has died and only results that wait to be stored are left
    is_in: NDArray[np.bool_]  # bool[piece.size], what has come back, counted as done or not yet
    n_left: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_left = self.piece.size


class Ledger:
    """Hands out units and takes them back; no unit is ever forgotten or counted twice.

    ``total`` of None means work without end. ``is_divisible`` says whether a lost job may come back in
    smaller pieces, which is how the unit that kills workers is told apart from those beside it.
    """

    def __init__(self, total: int | None, *, is_divisible: bool = True) -> None:
        self.books = Books()
        self.quarantine: list[Piece] = []
        self._total, self._is_divisible = total, is_divisible
        self._barrier: int | None = None
        self._next_unit = 0
        self._numbers: Iterator[int] = counter(1)
        self._returned: deque[Piece] = deque()
        self._open: dict[int, _Open] = {}
        self._of: dict[int, dict[int, _Open]] = {}  # by worker: its open jobs
        self._tester: int | None = None
        self._is_ended = False

    def restore(self, done: NDArray[np.int64]) -> None:
        """Go on where these units, ascending, are done: what is missing between them is issued first."""
        edges = np.concatenate([[-1], done]).astype(np.int64)
        next_unit = int(edges[-1]) + 1
        gaps = ((int(edges[at]) + 1, int(edges[at + 1])) for at in np.flatnonzero(np.diff(edges) > 1))
        wanted = next_unit if self._total is None else min(next_unit, self._total)
        self.skip(next_unit, [(first, min(stop, wanted) - first) for first, stop in gaps if first < wanted])
        self.books.issued = self.books.done = len(done)

    @property
    def is_settled(self) -> bool:
        """Whether all work that was asked for has come back or is quarantined."""
        return not self._open and not self.has_work

    @property
    def has_work(self) -> bool:
        """Whether something waits to be issued."""
        return bool(self._returned) or self._total is None or self._next_unit < self._total

    def skip(self, next_unit: int, owed: Iterable[tuple[int, int]]) -> None:
        """Go on at ``next_unit``: all before it is done but these (first, count), which are issued first."""
        assert self.books.issued == 0, "a ledger is told where to begin before it issues anything"
        self._returned.extend(Piece(first, count) for first, count in owed)
        self.books.issued = self.books.done = next_unit - sum(piece.size for piece in self._returned)
        self._next_unit = next_unit

    @property
    def returned(self) -> Piece | None:
        """What will be issued again before anything new."""
        return self._returned[0] if self._returned else None

    @property
    def next_unit(self) -> int:
        """The first unit that was never issued."""
        return self._next_unit

    @property
    def left(self) -> int | None:
        """How many units were never issued; None without end."""
        return None if self._total is None else max(self._total - self._next_unit, 0)

    def set_barrier(self, unit: int) -> None:
        """Issue no fresh unit from this one on, until the barrier is moved."""
        self._barrier = unit

    @property
    def is_at_barrier(self) -> bool:
        """Whether all units before the barrier have come back."""
        is_stopped = self._barrier is not None and self._next_unit >= self._barrier
        return is_stopped and not self._open and not self._returned

    def close(self, extra: int = 0) -> None:
        """Issue nothing new from now on but ``extra`` units; what was issued is still owed."""
        self._total = self._next_unit + extra

    def end(self) -> None:
        """The run is over: what does not come back from now on is cut short, not lost."""
        self._is_ended = True

    def piece(self, worker: int, job: int) -> Piece:
        """The units of a job that this worker has under way."""
        return self._entry(worker, job).piece

    def piece_of(self, job: int, worker: int) -> Piece | None:
        """The units of a job, if this worker has it."""
        entry = self._open[job]
        return entry.piece if entry.worker == worker else None

    def is_open(self, job: int) -> bool:
        """Whether something of a job is still under way."""
        return job in self._open

    def is_orphaned(self, job: int) -> bool:
        """Whether the worker of an open job is gone; results of the job that have come wait to be settled."""
        return self._open[job].worker == NO_WORKER

    def outstanding(self, worker: int) -> int:
        """Return how many units ``worker`` has under way."""
        return sum(job.n_left for job in self._of.get(worker, {}).values())

    def issue(self, worker: int, count: int, numbers: Iterator[int] | None = None) -> tuple[int, Piece] | None:
        """Return a job number and at most ``count`` units for ``worker``, or None where there is nothing for it.

        Units that came back from a dead worker go first, and only to a worker with nothing else under way:
        if it dies too, they are to blame. ``numbers``: where job numbers come from if several ledgers share them.
        """
        assert count > 0, "a job holds at least one unit"
        is_busy = self.outstanding(worker) > 0
        if self._returned and (self._returned[0].deaths == 0 or not is_busy):
            piece = self._returned.popleft()
            if piece.size > count and self._is_divisible:
                rest = piece._replace(first=piece.first + count, size=piece.size - count)
                self._returned.appendleft(rest)
                piece = piece._replace(size=count)
            self.books.reissued += piece.size
            return self._book(worker, piece, numbers)
        is_on_trial = any(job.piece.deaths for job in self._of.get(worker, {}).values())
        if is_busy and (is_on_trial or self._is_tester(worker)):
            return None
        limits = [limit for limit in (self._total, self._barrier) if limit is not None]
        fresh = min([count, *(limit - self._next_unit for limit in limits)])
        if fresh <= 0:
            return None
        self._next_unit += fresh
        return self._book(worker, Piece(self._next_unit - fresh, fresh), numbers)

    def require(self, worker: int, job: int, units: NDArray[np.int64]) -> None:
        """WireError if units are not this worker's or came before."""
        self._marked(self._entry(worker, job), units)

    def receive(self, worker: int, job: int, units: NDArray[np.int64]) -> None:
        """Note that units came back; they are outstanding until ``settle``, but no death loses them any more.

        WireError if they are not this worker's or came before.
        """
        entry = self._entry(worker, job)
        entry.is_in |= self._marked(entry, units)

    def settle(self, job: int, n_units: int, *, is_new: bool = True) -> None:
        """Count units that came back as done, or as lost where somebody else's game of that unit was first."""
        entry = self._open[job]
        if is_new:
            self._count_done(job, entry, n_units)
        else:
            self.books.lost += n_units
            self._close(job, entry, n_units)

    def done(self, worker: int, job: int, units: NDArray[np.int64]) -> None:
        """Count finished units; WireError if they are not this worker's or were counted before."""
        self.receive(worker, job, units)
        self.settle(job, len(units))

    def find(self, unit: int) -> None:
        """Count a unit as done that was given up for lost and has come all the same; it is not issued again."""
        self.books.issued += 1
        self.books.reissued += 1
        self.books.done += 1
        pieces, self._returned = self._returned, deque()
        for piece in pieces:
            before, after = unit - piece.first, piece.first + piece.size - unit - 1
            if before < 0 or after < 0:
                self._returned.append(piece)
            else:
                parts = ((piece.first, before), (unit + 1, after))
                self._returned.extend(Piece(first, size, piece.deaths) for first, size in parts if size)

    def finish(self, worker: int, job: int) -> int:
        """Count a whole job as done at once; return its units."""
        entry = self._entry(worker, job)
        n_units = entry.n_left
        self._count_done(job, entry, n_units)
        return n_units

    def lose(self, worker: int, *, is_blamed: bool = True) -> int:
        """Take back all that ``worker`` had under way; return how many units that is.

        ``is_blamed`` is False when the worker left for reasons of its own, told to stop for example.
        """
        if self._tester == worker:
            self._tester = None
        return sum(self._give_back(number, is_blamed) for number in self._of.pop(worker, {}))

    def _book(self, worker: int, piece: Piece, numbers: Iterator[int] | None) -> tuple[int, Piece]:
        job = next(numbers or self._numbers)
        entry = _Open(piece, worker, np.zeros(piece.size, np.bool_))
        self._open[job] = self._of.setdefault(worker, {})[job] = entry
        self.books.issued += piece.size
        return job, piece

    def _is_tester(self, worker: int) -> bool:
        """While suspect units wait, the first worker to ask for more is given no more until it is idle."""
        if not self._returned:
            self._tester = None
        elif self._tester is None:
            self._tester = worker
        return self._tester == worker

    def _entry(self, worker: int, job: int) -> _Open:
        entry = self._open.get(job)
        if entry is None or entry.worker != worker:
            raise WireError(f"worker {worker} reports on job {job}, which it does not have")
        return entry

    def _marked(self, entry: _Open, units: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The places of ``units`` in their job, each of which must be open."""
        places = units - entry.piece.first
        if ((places < 0) | (places >= entry.piece.size)).any():
            raise WireError(f"worker {entry.worker} reports units outside its job")
        fresh = np.zeros(entry.piece.size, np.bool_)
        fresh[places] = True
        if np.count_nonzero(fresh) < len(places) or (fresh & entry.is_in).any():
            raise WireError(f"worker {entry.worker} reports a unit twice")
        return fresh

    def _count_done(self, job: int, entry: _Open, n_units: int) -> None:
        self.books.done += n_units
        self._close(job, entry, n_units)

    def _close(self, job: int, entry: _Open, n_units: int) -> None:
        entry.n_left -= n_units
        if entry.n_left == 0:
            del self._open[job]
            self._of.get(entry.worker, {}).pop(job, None)

    def _give_back(self, number: int, is_blamed: bool) -> int:
        """Return what has not come back to the queue; what has come stays open, orphaned, until it is settled.

        After each death the pieces are smaller, and single units before the last, so that few are quarantined.
        """
        job = self._open[number]
        left, deaths = np.flatnonzero(~job.is_in), job.piece.deaths + is_blamed
        for run in np.split(left, np.flatnonzero(np.diff(left) > 1) + 1) if len(left) else ():
            size = len(run)
            if self._is_divisible and deaths:
                size = 1 if deaths >= FATAL_DEATHS - 1 else math.isqrt(len(left))
            for part in chunks(job.piece.first + int(run[0]), len(run), max(size, 1)):
                piece = Piece(*part, deaths)
                if deaths < FATAL_DEATHS:
                    self._returned.append(piece)
                else:
                    self.quarantine.append(piece)
                    self.books.set_aside += piece.size
        if self._is_ended:
            self.books.cut_short += len(left)
        else:
            self.books.lost += len(left)
        job.worker, job.is_in = NO_WORKER, np.ones_like(job.is_in)
        self._close(number, job, len(left))
        return len(left)


def shares(total: int, workers: int) -> list[int]:
    """Return int[workers] that add up to ``total`` and differ by one at most, the larger first."""
    assert workers > 0, "work cannot be divided among no workers"
    base, remainder = divmod(total, workers)
    return [base + (worker < remainder) for worker in range(workers)]


def chunks(first: int, count: int, size: int) -> list[tuple[int, int]]:
    """Cut the units first .. first + count - 1 into (first, count) pieces of at most ``size``."""
    assert size > 0, "a piece holds at least one unit"
    return [(start, min(size, first + count - start)) for start in range(first, first + count, size)]
