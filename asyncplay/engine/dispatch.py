"""Gives ready workers their work and routes what they send back."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.engine.evaluator import Evaluator
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.supervise import Member
from asyncplay.errors import WireError
from asyncplay.methods.mccfr.messages import Delta
from asyncplay.methods.selfplay.messages import Game
from asyncplay.wire.messages import Ack, Answer, Ask, Done, Job, Message

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the workers are asked to do."""

    role: str
    spec: bytes | Callable[[Piece], bytes]  # the role's settings, or what makes those of each job
    seed: int
    chunk: int  # units of a job
    low_water: int  # a worker with fewer units under way gets another job


class Plan(Protocol):
    """Cuts a work into pieces where a fixed chunk will not do, one for each worker at a time."""

    @property
    def owed(self) -> int:
        """Units that are still to be issued when nothing new is to be begun."""

    def portion(self) -> int:
        """Units that an idle worker may be given now, 0 for none."""

    def prepare(self, worker: Member, piece: Piece, now_s: float) -> None:
        """Send what a worker must know before it gets this piece."""

    def take(self, worker: int, piece: Piece, delta: Delta) -> bool:
        """Take what came of a piece; return whether that was all of it."""

    def gone(self, worker: int) -> None: ...


@dataclass(slots=True, eq=False)
class Work:
    """One stream of jobs with books of its own."""

    assignment: Assignment
    ledger: Ledger
    on_game: Callable[[Game], None] | None = None  # when it is stored if it is kept, before it is counted as done
    on_aside: Callable[[Piece], None] = lambda piece: None
    check: Callable[[Game], None] = lambda game: None  # WireError if a game cannot be used; asked when it comes
    keep: "Callable[[Arrival], None] | None" = None  # stores games and hands them to ``Dispatcher.settle``
    plan: Plan | None = None  # without one, the assignment's chunk
    holds: set[str] = field(init=False, default_factory=set)  # who wants that nothing is issued now
    settled: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    at_fence: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    n_aside: int = field(init=False, default=0)

    def portion(self, worker: int) -> int:
        """How many units to issue to this worker now."""
        under_way = self.ledger.outstanding(worker)
        if self.plan is not None:
            return 0 if under_way else self.plan.portion()
        return self.assignment.chunk if under_way < self.assignment.low_water else 0

    def check_settled(self) -> None:
        if self.ledger.is_settled:
            self.settled.set()
        if self.ledger.is_at_fence:
            self.at_fence.set()


LOST_JOBS = 1024  # remembered of workers that are gone, the latest


class _Sent(NamedTuple):
    """A job as a worker knows it."""

    work: Work
    job: int  # the ledger's number
    worker: int
    piece: Piece


class Arrival(NamedTuple):
    """A game that has come and is not settled yet."""

    work: Work
    member: Member  # who played it
    job: int | None  # the ledger's number; None: nobody's any more, sent again after a reconnect
    game: Game


class Dispatcher:
    """The supervisor's listener: the books of every kind of work on one side, the evaluator on the other."""

    def __init__(self, evaluator: Evaluator, clock: Callable[[], float] = time.perf_counter) -> None:
        self._evaluator, self._clock = evaluator, clock
        self.on_death: Callable[[Member], None] = lambda member: None  # of a worker that nobody told to leave
        self._works: list[Work] = []
        self._members: dict[int, Member] = {}
        self._jobs: dict[int, _Sent] = {}  # by the number workers know
        self._lost: dict[int, _Sent] = {}  # of workers that are gone and might come back with their games
        self._numbers = count(1)

    def add(self, work: Work) -> None:
        """Issue this work too, from now on."""
        self._works.append(work)
        self._fill_all()

    def remove(self, work: Work) -> None:
        """Forget a work that is settled."""
        self._works.remove(work)

    def hold(self, work: Work, why: str, is_held: bool) -> None:
        """Issue no units of ``work`` while anybody has a reason to hold it; what was issued goes on."""
        was_held = bool(work.holds)
        work.holds = work.holds | {why} if is_held else work.holds - {why}
        if was_held and not work.holds:
            self._fill_all()

    def move_fence(self, work: Work, unit: int) -> None:
        """Go on issuing units of ``work`` up to this one."""
        work.at_fence.clear()
        work.ledger.fence(unit)
        self._fill_all()

    def close(self, work: Work) -> None:
        """Issue nothing new of ``work``; it is settled when what was issued has come back."""
        work.ledger.close(work.plan.owed if work.plan is not None else 0)
        work.check_settled()

    def settle(self, arrivals: Iterable[tuple[Arrival, bool]]) -> None:
        """Count games and tell their workers to forget them; False: the game was there already.

        Called by whoever keeps them, when they are stored and not before.
        """
        told: dict[int, list[Arrival]] = {}
        for arrival, is_new in arrivals:
            self._count(arrival, is_new)
            told.setdefault(id(arrival.member), []).append(arrival)
        for of_one in told.values():
            member, work = of_one[0].member, of_one[0].work
            if work.keep is not None:
                jobs, units = np.array([(each.game.job, each.game.unit) for each in of_one], np.int64).T
                member.tell(Ack(jobs.copy(), units.copy()))
            if self._members.get(member.number) is member:
                self._fill(member)
            work.check_settled()

    def ready(self, member: Member) -> None:
        self._members[member.number] = member
        self._fill(member)
        self._evaluator.reset()

    def heard(self, member: Member, message: Message, now_s: float) -> None:
        match message:
            case Ask():
                self._ask(member, message, now_s)
            case Done():
                self._done(member, message.job, message.units)
            case Game():
                self._game(member, message)
            case Delta():
                self._delta(member, message)
            case _:
                raise WireError(f"worker {member.number} sent a {type(message).__name__}, which nobody wants")

    def idle(self) -> None:
        self._evaluator.wake()

    def gone(self, member: Member, *, is_blamed: bool) -> None:
        self._members.pop(member.number, None)
        self._evaluator.forget(member.number)
        if is_blamed:
            self.on_death(member)
        for work in self._works:
            n_lost = work.ledger.lose(member.number, is_blamed=is_blamed)
            if work.plan is not None:
                work.plan.gone(member.number)
            if n_lost:
                log.info("worker %d left %d units undone; they are issued again", member.number, n_lost)
            _tell_aside(work)
            work.check_settled()
        lost = {number: sent for number, sent in self._jobs.items() if sent.worker == member.number}
        self._lost = dict(list((self._lost | lost).items())[-LOST_JOBS:])
        self._jobs = {number: sent for number, sent in self._jobs.items() if sent.work.ledger.is_open(sent.job)}
        self._fill_all()
        self._evaluator.reset()

    def _fill_all(self) -> None:
        for member in list(self._members.values()):
            self._fill(member)

    def _fill(self, member: Member) -> None:
        """Issue jobs to ``member`` until it has enough of everything under way."""
        for work in self._works:
            is_open = not (work.holds or member.is_leaving)
            while is_open and (count := work.portion(member.number)):
                issued = work.ledger.issue(member.number, count)
                if issued is None:
                    break
                self._send(member, work, *issued)
            work.check_settled()
        member.has_work = any(work.ledger.outstanding(member.number) for work in self._works)

    def _send(self, member: Member, work: Work, job: int, piece: Piece) -> None:
        number, first = next(self._numbers), piece.first
        self._jobs[number] = _Sent(work, job, member.number, piece)
        assignment = work.assignment
        log.debug("job %d: units %d to %d to worker %d", number, first, first + piece.size - 1, member.number)
        if work.plan is not None:
            work.plan.prepare(member, piece, self._clock())
        spec = assignment.spec if isinstance(assignment.spec, bytes) else assignment.spec(piece)
        order = (number, assignment.role, first, piece.size, assignment.seed, spec)
        member.order(Job(*order, is_kept=work.keep is not None), self._clock())

    def _ask(self, member: Member, ask: Ask, now_s: float) -> None:
        def reply(answer: Answer) -> None:
            try:
                member.answer(ask, answer, self._clock())
            except WireError as error:  # it asked for more than a frame can answer
                assert member.link is not None, "who asks has a link"
                member.link.refuse(str(error))

        self._evaluator.submit(member.number, ask, reply, now_s)

    def _game(self, member: Member, game: Game) -> None:
        """What is wrong with a game is found before anything is noted of it: then its unit is issued again."""
        arrival = self._arrival(member, game)
        work, units = arrival.work, np.array([game.unit], np.int64)
        if work.on_game is None:
            raise WireError(f"worker {member.number} sent a game, which nobody wants")
        if arrival.job is not None:
            work.ledger.require(member.number, arrival.job, units)
        work.check(game)
        if arrival.job is not None:
            work.ledger.receive(member.number, arrival.job, units)
        if work.keep is None:
            self.settle([(arrival, True)])
        else:
            work.keep(arrival)

    def _arrival(self, member: Member, game: Game) -> Arrival:
        """A game of a job that its worker lost is taken all the same, if it belongs to what is kept."""
        sent = self._jobs.get(game.job)
        if sent is not None and not sent.work.ledger.is_nobodys(sent.job):
            return Arrival(sent.work, member, sent.job, game)
        lost = self._lost.get(game.job)
        if lost is not None and lost.worker == member.number and 0 <= game.unit - lost.piece.first < lost.piece.size:
            return Arrival(lost.work, member, None, game)
        raise WireError(f"worker {member.number} reports on job {game.job}, which it does not have")

    def _count(self, arrival: Arrival, is_new: bool) -> None:
        work, member, job, game = arrival
        member.units += 1
        if is_new and work.on_game is not None:
            work.on_game(game)
        if job is not None:
            work.ledger.settle(job, 1, is_new=is_new)
            self._forget_if_closed(work, job, game.job)
        elif is_new:
            work.ledger.find(game.unit)
            log.info("worker %d sent game %d again, which had not arrived", member.number, game.unit)

    def _delta(self, member: Member, delta: Delta) -> None:
        work, job, *_ = self._job(member, delta.job)
        if work.plan is None:
            raise WireError(f"worker {member.number} sent changes of a table, which nobody wants")
        if work.plan.take(member.number, work.ledger.piece(member.number, job), delta):
            work.ledger.finish(member.number, job)
            del self._jobs[delta.job]
            member.has_work = False
            self._fill_all()

    def _done(self, member: Member, number: int, units: NDArray[np.int64]) -> None:
        work, job, *_ = self._job(member, number)
        if work.on_game is not None or work.plan is not None:
            raise WireError(
                f"worker {member.number} says that units of job {number} are done, and not what came of them"
            )
        work.ledger.done(member.number, job, units)
        member.units += len(units)
        self._forget_if_closed(work, job, number)
        self._fill(member)

    def _forget_if_closed(self, work: Work, job: int, number: int) -> None:
        if not work.ledger.is_open(job):
            del self._jobs[number]

    def _job(self, member: Member, number: int) -> _Sent:
        if number not in self._jobs:
            raise WireError(f"worker {member.number} reports on job {number}, which it does not have")
        return self._jobs[number]


def _tell_aside(work: Work) -> None:
    for piece in work.ledger.aside[work.n_aside :]:
        last = piece.first + piece.size - 1
        log.error("units %d to %d killed every worker that tried them and are set aside", piece.first, last)
        work.on_aside(piece)
    work.n_aside = len(work.ledger.aside)
