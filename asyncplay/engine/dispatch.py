"""Gives ready workers their work and routes what they send back."""

import logging
import time
from collections.abc import Callable, Iterable
from itertools import count as counter
from typing import NamedTuple, Protocol

import numpy as np

from asyncplay.engine.evaluator import Evaluator
from asyncplay.engine.ledger import Piece
from asyncplay.engine.supervise import Member
from asyncplay.engine.work import Arrival, Work, unknown_job
from asyncplay.errors import WireError
from asyncplay.wire.messages import Ack, Answer, Ask, Computed, Job, JobResult, Message, PlaceModel

log = logging.getLogger(__name__)

LOST_JOBS = 1024  # remembered of workers that are gone, the latest


class Recorder(Protocol):
    """Stores results and hands them to ``Dispatcher.settle`` when they are on disk."""

    def take(self, arrival: Arrival) -> None: ...


class _LostJob(NamedTuple):
    work: Work
    worker: int
    piece: Piece


class Dispatcher:
    """The supervisor's listener: the books of every kind of work on one side, the evaluator on the other."""

    def __init__(
        self,
        evaluator: Evaluator,
        clock: Callable[[], float] = time.perf_counter,
        on_death: Callable[[Member], None] = lambda member: None,
    ) -> None:
        """``on_death`` is called with each worker that ended without being told to."""
        self._evaluator, self._clock, self._on_death = evaluator, clock, on_death
        self._works: dict[Work, Recorder | None] = {}
        self._members: dict[int, Member] = {}
        self._jobs: dict[int, Work] = {}  # by number: jobs under way
        self._numbers = counter(1)  # of jobs, whatever work they are of: an old number never comes back
        self._announced: dict[tuple[str, int], PlaceModel] = {}  # by role and model
        self._lost: dict[int, _LostJob] = {}  # of workers that are gone and might come back with their results

    def add(self, work: Work, recorder: Recorder | None = None) -> None:
        """Issue this work too, from now on. ``recorder``: stores its results before they count."""
        self._works[work] = recorder
        self.fill_all()

    def remove(self, work: Work) -> None:
        """Forget a work that is settled."""
        del self._works[work]

    def hold(self, work: Work, why: str, is_held: bool) -> None:
        """Issue no units of ``work`` while there is a reason to hold it; what was issued goes on."""
        was_held = bool(work.holds)
        work.holds = work.holds | {why} if is_held else work.holds - {why}
        if was_held and not work.holds:
            self.fill_all()

    def move_barrier(self, work: Work, unit: int) -> None:
        """Go on issuing units of ``work`` up to this one."""
        work.at_barrier.clear()
        work.ledger.set_barrier(unit)
        self.fill_all()

    def announce(self, message: PlaceModel) -> None:
        """Tell all workers where a model answers, and those that are yet to come before their first job."""
        self._announced[message.role, message.model] = message
        for member in self._members.values():
            member.tell(message)

    def ready(self, member: Member) -> None:
        self._members[member.number] = member
        for message in self._announced.values():
            member.tell(message)
        self.fill(member)
        self._evaluator.reset()

    def heard(self, member: Member, message: Message, now_s: float) -> None:
        """Route an ask to the evaluator, a result to its work; WireError if the worker may not say that."""
        if isinstance(message, Ask):
            self._evaluator.submit(member.number, message, lambda answer: self._reply(member, message, answer), now_s)
            return
        if isinstance(message, Computed):
            member.rows += self._evaluator.count_computed(message, len(self._members))
            return
        if not isinstance(message, JobResult):
            raise WireError(f"worker {member.number} sent a {type(message).__name__}, which nobody wants")
        work, lost = self._jobs.get(message.job), self._lost.get(message.job)
        if work is not None and not work.ledger.is_orphaned(message.job):
            work.take(self, member, message)
        elif lost is not None and lost.worker == member.number:
            lost.work.take_late(self, member, message, lost.piece)
        else:
            raise unknown_job(member, message.job)

    def idle(self) -> None:
        self._evaluator.wake()

    def gone(self, member: Member, *, is_blamed: bool) -> None:
        self._members.pop(member.number, None)
        self._evaluator.forget(member.number)
        if is_blamed:
            self._on_death(member)
        lost = {
            number: _LostJob(work, member.number, piece)
            for number, work in self._jobs.items()
            if (piece := work.ledger.piece_of(number, member.number)) is not None
        }
        for work in self._works:
            work.worker_lost(member, is_blamed=is_blamed)
        self._lost = dict(list((self._lost | lost).items())[-LOST_JOBS:])
        self._jobs = {number: work for number, work in self._jobs.items() if work.ledger.is_open(number)}
        self.fill_all()
        self._evaluator.reset()

    def keep(self, arrival: Arrival) -> None:
        """Store a result that was checked, if its work is recorded, and settle it."""
        recorder = self._works.get(arrival.work)
        if recorder is None:
            self.settle([(arrival, True)])
        else:
            recorder.take(arrival)

    def settle(self, arrivals: Iterable[tuple[Arrival, bool]]) -> None:
        """Count results and tell their workers to forget them; False: the result was there already.

        A recorder calls it when they are stored and not before.
        """
        of_members: dict[int, list[Arrival]] = {}
        for arrival, is_new in arrivals:
            work, member, is_late, result = arrival
            member.units += 1
            if is_new:
                work.finished(result)
            if not is_late:
                work.ledger.settle(result.job, 1, is_new=is_new)
                self.forget_if_closed(work, result.job)
            elif is_new:
                work.ledger.find(result.unit)
                log.info("worker %d sent game %d again, which had not arrived", member.number, result.unit)
            of_members.setdefault(id(member), []).append(arrival)
        for of_one in of_members.values():
            work, member, *_ = of_one[0]
            if self._works.get(work) is not None:
                jobs, units = np.array([(each.result.job, each.result.unit) for each in of_one], np.int64).T
                member.tell(Ack(jobs.copy(), units.copy()))
            if self._members.get(member.number) is member:
                self.fill(member)
            work.check_settled()

    def forget_if_closed(self, work: Work, job: int) -> None:
        """A job of which nothing is under way any more cannot be reported on."""
        if not work.ledger.is_open(job):
            del self._jobs[job]

    def fill(self, member: Member) -> None:
        """Issue jobs to ``member`` until it has enough of every work under way."""
        for work, recorder in self._works.items():
            is_open = not (work.holds or member.is_leaving)
            while is_open and (count := work.portion(member.number)):
                issued = work.ledger.issue(member.number, count, self._numbers)
                if issued is None:
                    break
                number, piece = issued
                self._jobs[number] = work
                last = piece.first + piece.size - 1
                log.debug("job %d: units %d to %d to worker %d", number, piece.first, last, member.number)
                work.prepare(member, piece, self._clock())
                role, spec, seed = work.assignment.role, work.assignment.spec, work.assignment.seed
                settings = spec if isinstance(spec, bytes) else spec(piece)
                job = Job(number, role, piece.first, piece.size, seed, settings, is_kept=recorder is not None)
                member.order(job, self._clock())
            work.check_settled()
        member.has_work = any(work.ledger.outstanding(member.number) for work in self._works)

    def fill_all(self) -> None:
        """Issue what there is to all workers."""
        for member in list(self._members.values()):
            self.fill(member)

    def _reply(self, member: Member, ask: Ask, answer: Answer) -> None:
        member.answer(ask, answer, self._clock())
