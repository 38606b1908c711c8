"""The worker without its pipes: messages in, messages out.

A pool decides how the bytes travel: a process with a pipe, this very process, or another machine. The core
never blocks and never reads a clock, so that all of them run the same code.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple, Protocol

from asyncplay.errors import WireError
from asyncplay.wire.codec import decode
from asyncplay.wire.messages import (
    PROTOCOL,
    Ack,
    Answer,
    Ask,
    Bye,
    Crash,
    Hello,
    Hold,
    Idle,
    Job,
    JobResult,
    Message,
    MessagePart,
    Stop,
    ToRole,
    UnitResult,
)
from asyncplay.wire.parts import Joiner


class Step(NamedTuple):
    """What a worker wants after thinking for a while."""

    messages: list[Message]
    pause_s: float | None  # 0: think on at once; None: until a message comes; else at most this long


class Player(Protocol):
    """One role of a worker. Owns its games or its table; all calls come from one thread."""

    def take(self, job: Job) -> None:
        """Add a job to what is already under way."""

    def receive(self, message: Message) -> None:
        """Take an answer to one of its own asks, or what others changed in its table."""

    def advance(self, now_s: float) -> Step:
        """Work on for a bounded while."""


MakePlayer = Callable[[Iterator[int]], Player]
"""Takes the worker's ticket numbers, which all of its players share."""


@dataclass(slots=True, eq=False)
class _Desk:
    """A player at work."""

    player: Player
    thinking: int = 0  # slots that will still ask with no answer in between

    def advance(self, now_s: float) -> Step:
        step = self.player.advance(now_s)
        for message in step.messages:
            if isinstance(message, Ask):
                self.thinking = message.thinking
        if step.pause_s is None:
            self.thinking = 0
        return step


class Pending:
    """Keeps a unit's result from the moment it is sent until its Ack.

    Limit: the units of jobs under way; the coordinator counts results that are not acknowledged as under way and issues
    no more.
    """

    def __init__(self) -> None:
        self._jobs: dict[int, int] = {}  # by number of a job whose results are kept: units not acknowledged yet
        self._results: dict[tuple[int, int], UnitResult] = {}  # by job and unit, in the order they were sent

    def __len__(self) -> int:
        return len(self._results)

    def expect(self, job: Job) -> None:
        if job.is_kept:
            self._jobs[job.number] = job.count

    def keep(self, result: UnitResult) -> None:
        if result.job in self._jobs:
            self._results[result.job, result.unit] = result

    def forget(self, ack: Ack) -> None:
        """Drop what is stored; an Ack may come twice."""
        for job, unit in zip(ack.jobs.tolist(), ack.units.tolist(), strict=True):
            if self._results.pop((job, unit), None) is not None:
                self._jobs[job] -= 1
                if self._jobs[job] == 0:
                    del self._jobs[job]

    def again(self) -> list[UnitResult]:
        """Return all of them, for a coordinator that may not have received them."""
        return list(self._results.values())


class Worker:
    """Greets, takes jobs, hands messages to the player of their role, stands still while held, leaves when told to.

    Games that shall be kept are sent again to a coordinator that greets again: it may not have got them.

    An exception in a player ends the worker with a Crash; this is the one place that catches them.
    """

    def __init__(self, number: int, pid: int, roles: Mapping[str, MakePlayer]) -> None:
        self._outbox: list[Message] = [Hello(PROTOCOL, number, pid)]
        self._roles = roles
        self._desks: dict[str, _Desk] = {}
        self._tickets = count(1)
        self._asked: dict[int, tuple[_Desk, int]] = {}  # by ticket: whose it is, and how many slots wait
        self._pending = Pending()
        self._joiner = Joiner()
        self._expected = 0  # slots that the coordinator believes to be thinking
        self._heard = 0  # jobs and answers
        self._is_held = False
        self.is_over = False  # once the messages of the next step are sent

    def receive(self, body: bytes | memoryview) -> None:
        """Take a frame's body."""
        try:
            message: Message | None = decode(body)
            if isinstance(message, MessagePart):
                message = self._joiner.take(message)
            if message is not None:
                self._handle(message)
        except Exception as error:
            self._crash(error)

    def advance(self, now_s: float) -> Step:
        try:
            return self._advance(now_s)
        except Exception as error:
            self._crash(error)
            return self._advance(now_s)

    def _handle(self, message: Message) -> None:
        match message:
            case Stop():
                self._outbox.append(Bye())
                self.is_over = True
            case Hello():
                check_protocol(message)
                self._outbox.extend(self._pending.again())
            case Ack():
                self._pending.forget(message)
            case Job():
                self._pending.expect(message)
                desk = self._desk_for(message.role)
                desk.player.take(message)
                self._expect(desk, 1)
            case Answer():
                desk, slots = self._asked.pop(message.ticket)
                desk.player.receive(message)
                self._expect(desk, slots)
            case Hold():
                self._is_held = message.is_held
            case ToRole():
                self._desk_for(message.role).player.receive(message)
            case _:
                raise WireError(f"a worker was sent a {type(message).__name__}")

    def _expect(self, desk: _Desk, slots: int) -> None:
        desk.thinking += slots
        self._expected += slots
        self._heard += 1

    def _advance(self, now_s: float) -> Step:
        if self._outbox:
            messages, self._outbox = self._outbox, []
            return Step(messages, None if self.is_over else 0)
        if self.is_over or self._is_held:
            return Step([], None)
        steps = [(desk, desk.advance(now_s)) for desk in self._desks.values()]
        messages = [self._noted(desk, message) for desk, step in steps for message in step.messages]
        pauses = [step.pause_s for _, step in steps if step.pause_s is not None]
        if not pauses and self._expected:
            messages.append(Idle(self._heard))
            self._expected = 0
        return Step(messages, min(pauses, default=None))

    def _noted(self, desk: _Desk, message: Message) -> Message:
        """Keep a game until it is stored; remember whose ask it is, and let it speak for all players; a job's result
        says that it thinks no more."""
        if isinstance(message, UnitResult):
            self._pending.keep(message)
        if isinstance(message, JobResult) and message.ends_thinking:
            self._expected -= 1
        if not isinstance(message, Ask):
            return message
        self._asked[message.ticket] = desk, message.slots
        self._expected = sum(other.thinking for other in self._desks.values())
        return message if self._expected == message.thinking else replace(message, thinking=self._expected)

    def _crash(self, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        self._outbox.append(Crash(f"{type(error).__name__}: {error}", trace))
        self.is_over = True

    def _desk_for(self, role: str) -> _Desk:
        if role not in self._desks:
            self._desks[role] = _Desk(self._roles[role](self._tickets))
        return self._desks[role]


def check_protocol(hello: Hello) -> None:
    if hello.protocol != PROTOCOL:
        raise WireError(f"the other end speaks protocol {hello.protocol}, this one {PROTOCOL}")
