"""One stream of jobs with books of its own: what workers are given, and what becomes of what they send back."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.supervise import Member
from asyncplay.errors import WireError
from asyncplay.wire.messages import Done, JobResult, UnitResult

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the workers are asked to do."""

    role: str
    spec: bytes | Callable[[Piece], bytes]  # the role's settings, or a function that makes those of each job
    seed: int
    chunk: int  # units of a job
    low_water: int  # a worker with fewer units under way gets another job


class Desk(Protocol):
    """The dispatcher, as a work knows it."""

    def keep(self, arrival: "Arrival") -> None:
        """Store a game that was checked, if its work is recorded, and settle it."""

    def forget_if_closed(self, work: "Work", job: int) -> None: ...

    def fill(self, member: Member) -> None:
        """Issue jobs to a worker until it has enough."""

    def fill_all(self) -> None: ...


class Work:
    """Jobs whose workers only report which units are done; a method's own work overrides what differs.

    Lifetime: from ``Dispatcher.add`` until it is settled. All methods are called on the loop.
    """

    def __init__(self, assignment: Assignment, ledger: Ledger) -> None:
        self.assignment, self.ledger = assignment, ledger
        self.holds: set[str] = set()  # reasons to issue nothing now
        self.settled = asyncio.Event()
        self.at_barrier = asyncio.Event()
        self._n_quarantined = 0  # pieces that were reported

    def portion(self, worker: int) -> int:
        """How many units to issue to this worker now."""
        is_low = self.ledger.outstanding(worker) < self.assignment.low_water
        return self.assignment.chunk if is_low else 0

    def prepare(self, member: Member, piece: Piece, now_s: float) -> None:
        """Send what a worker must know before it gets this piece."""

    def take(self, desk: Desk, member: Member, result: JobResult) -> None:
        """Take what came of a job that ``member`` has; WireError if it cannot be."""
        if not isinstance(result, Done):
            raise unwanted(member, result)
        self.ledger.done(member.number, result.job, result.units)
        member.units += len(result.units)
        desk.forget_if_closed(self, result.job)
        desk.fill(member)

    def take_late(self, desk: Desk, member: Member, result: JobResult, piece: Piece) -> None:
        """Take what came of a job that ``member`` had lost; WireError if it is not wanted any more."""
        raise unknown_job(member, result.job)

    def worker_lost(self, member: Member, *, is_blamed: bool) -> None:
        """Take back what a worker that is gone had under way."""
        n_lost = self.ledger.lose(member.number, is_blamed=is_blamed)
        if n_lost:
            log.info("worker %d left %d units undone; they are issued again", member.number, n_lost)
        for piece in self.ledger.quarantine[self._n_quarantined :]:
            last = piece.first + piece.size - 1
            log.error("units %d to %d killed every worker that tried them and are set aside", piece.first, last)
            self.quarantined(piece)
        self._n_quarantined = len(self.ledger.quarantine)
        self.check_settled()

    def quarantined(self, piece: Piece) -> None:
        """A piece is not tried any more."""

    def close(self) -> None:
        """Issue nothing new; the work is settled when what was issued has come back."""
        self.ledger.close()
        self.check_settled()

    def check_settled(self) -> None:
        if self.ledger.is_settled:
            self.settled.set()
        if self.ledger.is_at_barrier:
            self.at_barrier.set()


class Arrival(NamedTuple):
    """A unit's result that has come and is not settled yet."""

    work: "UnitWork"
    member: Member  # that sent it
    is_late: bool  # its job was lost: the worker sends it again after a reconnect
    result: UnitResult


class UnitWork(Work):
    """Jobs of which every unit brings a result of its own, a finished game for instance.

    A result is checked when it comes. Where the work is recorded it is stored next; then it is ``finished``, counted
    and acknowledged.
    """

    def __init__(
        self,
        assignment: Assignment,
        ledger: Ledger,
        *,
        finished: Callable[[Any], None],
        check: Callable[[Any], None] = lambda result: None,
    ) -> None:
        """``check`` raises WireError if a result cannot be used. ``finished`` uses one that was checked, is new and,
        where the work is recorded, is on disk."""
        super().__init__(assignment, ledger)
        self.check, self.finished = check, finished

    def take(self, desk: Desk, member: Member, result: JobResult) -> None:
        """Find what is wrong with a result before anything is noted of it: then its unit is issued again."""
        if not isinstance(result, UnitResult):
            raise unwanted(member, result)
        units = np.array([result.unit], np.int64)
        self.ledger.require(member.number, result.job, units)
        self.check(result)
        self.ledger.receive(member.number, result.job, units)
        desk.keep(Arrival(self, member, False, result))

    def take_late(self, desk: Desk, member: Member, result: JobResult, piece: Piece) -> None:
        if not isinstance(result, UnitResult) or not 0 <= result.unit - piece.first < piece.size:
            raise unknown_job(member, result.job)
        self.check(result)
        desk.keep(Arrival(self, member, True, result))


def unwanted(member: Member, result: JobResult) -> WireError:
    """Of a result that a work cannot use; a plain report where results are wanted has a sentence of its own."""
    if isinstance(result, Done):
        return WireError(
            f"worker {member.number} says that units of job {result.job} are done, and not what came of them"
        )
    return WireError(f"worker {member.number} sent a {type(result).__name__}, which nobody wants")


def unknown_job(member: Member, job: int) -> WireError:
    return WireError(f"worker {member.number} reports on job {job}, which it does not have")
