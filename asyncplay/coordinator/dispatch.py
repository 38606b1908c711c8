"""Gives ready workers their work and routes what they send back."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from asyncplay.coordinator.evaluator import Evaluator
from asyncplay.coordinator.ledger import Ledger, Piece
from asyncplay.coordinator.supervise import Member
from asyncplay.errors import WireError
from asyncplay.wire.messages import Answer, Ask, Done, Job, Message

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the workers are asked to do."""

    role: str
    spec: bytes
    seed: int
    chunk: int  # units of a job
    low_water: int  # a worker with fewer units under way gets another job


@dataclass(slots=True)
class Dispatcher:
    """The supervisor's listener: ledger on one side, evaluator on the other.

    ``on_message`` takes what neither of the two understands; it may count units as done itself.
    """

    ledger: Ledger
    evaluator: Evaluator
    assignment: Assignment
    on_message: Callable[[Member, Message], None] | None = None
    on_aside: Callable[[Piece], None] = lambda piece: None
    clock: Callable[[], float] = time.perf_counter
    settled: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _members: dict[int, Member] = field(init=False, default_factory=dict)
    _n_aside: int = field(init=False, default=0)

    def ready(self, member: Member) -> None:
        self._members[member.number] = member
        self.fill(member)
        self.evaluator.reset()

    def heard(self, member: Member, message: Message, now_s: float) -> None:
        match message:
            case Ask():
                self._ask(member, message, now_s)
            case Done():
                self.ledger.done(member.number, message.job, message.units)
                self.fill(member)
            case _ if self.on_message is not None:
                self.on_message(member, message)
            case _:
                raise WireError(f"worker {member.number} sent a {type(message).__name__}, which nobody wants")

    def gone(self, member: Member, *, is_blamed: bool) -> None:
        self._members.pop(member.number, None)
        self.evaluator.forget(member.number)
        n_lost = self.ledger.lose(member.number, is_blamed=is_blamed)
        if n_lost:
            log.info("worker %d left %d units undone; they are issued again", member.number, n_lost)
        self._tell_aside()
        for other in list(self._members.values()):
            self.fill(other)
        self._check_settled()
        self.evaluator.reset()

    def fill(self, member: Member) -> None:
        """Issue jobs to ``member`` until it has enough under way."""
        work = self.assignment
        while (n_units := self.ledger.outstanding(member.number)) < work.low_water:
            issued = self.ledger.issue(member.number, work.chunk)
            if issued is None:
                break
            self._send(member, *issued)
        member.has_work = n_units > 0 or self.ledger.outstanding(member.number) > 0
        self._check_settled()

    def drain(self) -> None:
        """Issue nothing new; ``settled`` is set when what was issued has come back."""
        self.ledger.close()
        self._check_settled()

    def _send(self, member: Member, job: int, piece: Piece) -> None:
        work = self.assignment
        log.debug(
            "job %d: units %d to %d to worker %d",
            job,
            piece.first,
            piece.first + piece.count - 1,
            member.number,
        )
        if not member.has_work:
            member.has_work, member.thinking = True, 1
        member.send(Job(job, work.role, piece.first, piece.count, work.seed, work.spec), self.clock())

    def _ask(self, member: Member, ask: Ask, now_s: float) -> None:
        def reply(answer: Answer) -> None:
            member.answer(ask, answer, self.clock())

        self.evaluator.submit(member.number, ask, reply, now_s)

    def _tell_aside(self) -> None:
        for piece in self.ledger.aside[self._n_aside :]:
            log.error("units %d to %d killed every worker that tried them and are set aside",
                      piece.first, piece.first + piece.count - 1)  # fmt: skip
            self.on_aside(piece)
        self._n_aside = len(self.ledger.aside)

    def _check_settled(self) -> None:
        if self.ledger.is_settled:
            self.settled.set()
