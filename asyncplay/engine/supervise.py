"""Keeps the workers alive, notices those that are not, and gives up with a diagnosis when it is hopeless.

A closed pipe says that a worker is dead. A living one is suspected only when it owes us something and has been
silent for longer than its own record explains: it is asked where it is, then killed, then replaced.
"""

import asyncio
import contextlib
import enum
import errno
import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol

from asyncplay.engine.silence import SilenceLimit
from asyncplay.engine.thinkers import Thinkers, ThinkingWorkers
from asyncplay.errors import PoolFailed, WireError
from asyncplay.monitor.snapshot import WorkerFigures
from asyncplay.pools.link import Link, Pool
from asyncplay.wire.codec import decode, encode, frames
from asyncplay.wire.messages import (
    MOST_MESSAGE_BYTES,
    PROTOCOL,
    Answer,
    Ask,
    Bye,
    Crash,
    Hello,
    Hold,
    Idle,
    Job,
    Message,
    MessagePart,
    Ping,
    Pong,
    Stop,
)
from asyncplay.wire.parts import Joiner

log = logging.getLogger(__name__)

LIVE_FLOOR_S, LIVE_CEILING_S = 0.002, 1.0
MOST_STARTING = max(8, 2 * (os.cpu_count() or 1))
MOST_DOUBLINGS = 64  # of the time before a restart; after 1,024 it would be no float any more
MOST_TEXT = 1 << 16  # characters of what a worker says of itself that are kept and written down
SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}  # of descriptors, processes or memory
SHORTAGE_S = 1.0  # until a start that met one is tried again


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is too long, in seconds."""

    start_s: float = 120.0  # from spawn to hello, compiled kernels included
    silence_floor_s: float = 5.0  # a learned limit is never below
    silence_ceiling_s: float = 120.0  # nor above
    backoff_s: float = 0.1  # before the first restart; doubles with each further failure
    backoff_ceiling_s: float = 10.0
    healthy_s: float = 30.0  # a worker this old starts with a clean record
    window_s: float = 30.0  # the run ends when in this time
    deaths_per_worker: int = 4  # more than this times the workers have died,
    deaths: int = 8  # and more than this


class Phase(enum.Enum):
    STARTING = "starting"
    READY = "ready"
    SUSPECT = "suspect"
    GONE = "gone"


def _noted(slot: str) -> Any:
    """A field of Member that says whether the worker is waited for; each change of it is noted."""

    def write(member: "Member", value: Any) -> None:
        setattr(member, slot, value)
        member.changed.add(member)

    return property(attrgetter(slot), write)


class Member:
    """One worker from its start to its end."""

    phase: Phase = _noted("_phase")
    has_work: bool = _noted("_has_work")
    thinking: int = _noted("_thinking")  # slots that will still ask with no answer in between
    heard_s: float = _noted("_heard_s")  # its last frame, or our last word that it has to react to
    is_held: bool = _noted("_is_held")  # told to stand still

    def __init__(
        self,
        number: int,
        phase: Phase,
        since_s: float,
        *,
        link: Link | None = None,
        has_work: bool = False,
        changed: "set[Member] | None" = None,
        joiner: Joiner | None = None,
    ) -> None:
        """``changed`` is the set that a worker enters whenever it may be waited for longer or no more."""
        self.changed: set[Member] = set() if changed is None else changed
        self.number, self.link, self.pid = number, link, 0
        self.phase, self.since_s = phase, since_s  # how long in this phase
        self.ready_s = math.inf  # when it said hello
        self.silence_limit = SilenceLimit()  # of its silences while it owes us something
        self.joiner = Joiner() if joiner is None else joiner
        self.has_work, self.thinking, self.heard_s, self.is_held = has_work, 1, 0.0, False
        self.told = 0  # jobs and answers it was sent
        self.rows = self.units = 0
        self._waited_s, self._waits_since_s = 0.0, math.inf
        self.is_leaving = False
        self.leave_by_s = math.inf  # killed if it has not left by then
        self.cause = ""  # what it said or what we did, if that explains its end
        self.stacks = ""
        self.pinged = 0  # the last ticket it was sent
        self.ponged = 0  # and the last it has answered

    @property
    def owes(self) -> bool:
        """Whether it is its turn to speak."""
        return self.has_work and self.thinking > 0 and not self.is_held

    def hold(self, is_held: bool, now_s: float) -> None:
        """Let it stand still, or go on with what it has."""
        self.is_held = is_held
        self.send(Hold(is_held), now_s)

    def send(self, message: Message, now_s: float) -> None:
        """Give it something to react to; its silence counts from now."""
        assert self.link is not None, "a worker is spoken to before it has a link"
        for frame in frames(message):
            self.link.send(frame)
        self.heard_s = now_s

    def tell(self, message: Message) -> None:
        """Say something that asks for no reaction; its silence goes on counting."""
        if self.link is not None and self.phase is not Phase.GONE:
            for frame in frames(message):
                self.link.send(frame)

    def waited_s(self, now_s: float) -> float:
        """How long it has had nothing to think about, because all its games waited for answers."""
        return self._waited_s + max(now_s - self._waits_since_s, 0.0)

    def asked(self, ask: Ask, now_s: float) -> None:
        self.thinking = ask.thinking
        if not ask.thinking:
            self._waits_since_s = min(self._waits_since_s, now_s)

    def answer(self, ask: Ask, answer: Answer, now_s: float) -> None:
        self._waited_s, self._waits_since_s = self.waited_s(now_s), math.inf
        if self.phase is not Phase.GONE:
            self.thinking += ask.slots
            self.told += 1
            self.rows += len(ask.features)
            self.send(answer, now_s)

    def order(self, job: Job, now_s: float) -> None:
        self._waited_s, self._waits_since_s = self.waited_s(now_s), math.inf
        self.thinking = max(self.thinking, 1) if self.has_work else 1
        self.has_work = True
        self.told += 1
        self.send(job, now_s)

    def idled(self, idle: Idle, now_s: float) -> None:
        """Believe it, unless it spoke before it had our last word: then it thinks again, and may stop in the middle."""
        if idle.heard == self.told:
            self.thinking, self._waits_since_s = 0, min(self._waits_since_s, now_s)


@dataclass(slots=True)
class _Post:
    """A worker's number, whoever fills it."""

    number: int
    member: Member | None = None
    retry_at_s: float = 0.0
    failures: int = 0  # in a row
    restarts: int = 0
    reason: str = ""
    is_wanted: bool = True
    past_rows: int = 0  # of those that filled it before
    past_units: int = 0
    past_waited_s: float = 0.0

    @property
    def is_vacant(self) -> bool:
        return self.is_wanted and self.member is None


class WorkerListener(Protocol):
    """Who gives the workers their work. A WireError raised in ``heard`` costs the worker that spoke."""

    def ready(self, member: Member) -> None: ...

    def heard(self, member: Member, message: Message, now_s: float) -> None: ...

    def idle(self) -> None:
        """A worker thinks no more: whoever waits for it need not."""

    def gone(self, member: Member, *, is_blamed: bool) -> None: ...


@dataclass(slots=True)
class Supervisor:
    """Holds ``workers`` posts of a pool filled.

    Lifetime: ``run`` is one task of the run's group. Order: each worker's frames in order of arrival. Limit: a
    restart waits twice as long as the one before; too many deaths in a window raise PoolFailed; where the system has
    no descriptor, process or memory for a worker, its post waits until it has. End: every worker is told to stop, and
    is killed if it does not.
    """

    pool: Pool
    workers: int
    listener: WorkerListener
    patience: Patience = field(default_factory=Patience)
    clock: Callable[[], float] = time.perf_counter
    grace_s: float = 2.0
    message_bytes: int = MOST_MESSAGE_BYTES  # of one from a worker, in how many parts it may come
    say: Callable[[str], None] = lambda line: None  # to whoever started the run
    _posts: dict[int, _Post] = field(init=False, default_factory=dict)
    _changed: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _ended: list[Link] = field(init=False, default_factory=list)
    _deaths: deque[tuple[float, int, str]] = field(init=False, default_factory=deque)
    _live: ThinkingWorkers = field(init=False, default_factory=ThinkingWorkers)
    _stale: set[Member] = field(init=False, default_factory=set)  # changed since the live set was asked
    _past_joined: int = field(init=False, default=0)  # messages in parts of workers that are gone
    _ticket: int = field(init=False, default=0)
    _is_paused: bool = field(init=False, default=False)
    _is_held: bool = field(init=False, default=False)
    _is_short: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._posts = {number: _Post(number) for number in range(self.workers)}

    async def run(self) -> None:
        try:
            while True:
                await self._fill_posts()
                self._watch()
                await self._reap()
                await self._sleep()
        finally:  # whatever is still there is killed; nothing is left behind
            for post in self._posts.values():
                post.is_wanted = False
            left = list(self.members())
            for member in left:
                member.is_leaving = True
                if member.link is not None:
                    member.link.kill()
            for member in left:
                self._lost(member, "the run ended")
            await self._reap()

    def members(self) -> Iterator[Member]:
        """All that are alive, ready or not."""
        return (post.member for post in self._posts.values() if post.member is not None)

    def thinkers(self, now_s: float) -> Thinkers:
        """Return who may still ask; a worker silent beyond its silence limit is not waited for.

        Only workers of which something changed are looked at. ``now_s`` never goes back.
        """
        for member in self._stale:
            is_waited_for = member.phase is Phase.READY and member.owes
            until_s = member.heard_s + member.silence_limit.limit_s(LIVE_FLOOR_S, LIVE_CEILING_S)
            self._live.change(member, member.thinking if is_waited_for else 0, until_s)
        self._stale.clear()
        return self._live.at(now_s)

    @property
    def joined(self) -> int:
        """Messages that came in parts."""
        return self._past_joined + sum(member.joiner.joined for member in self.members())

    @property
    def unfinished_bytes(self) -> int:
        """Of messages whose last part has not come."""
        return sum(member.joiner.held_bytes for member in self.members())

    def pause(self, is_full: bool) -> None:
        """Stop or go on reading from all workers, those that are yet to come included.

        Whom nobody listens to is not silent: the clocks of all begin anew when reading goes on.
        """
        self._is_paused = is_full
        for member in self.members():
            member.heard_s = max(member.heard_s, self.clock())
            if member.link is not None:
                member.link.pause() if is_full else member.link.resume()

    def hold(self, is_held: bool) -> None:
        """Let all workers stand still, those that are yet to come included, or go on."""
        self._is_held = is_held
        for member in self.members():
            if member.phase in {Phase.READY, Phase.SUSPECT}:
                member.hold(is_held, self.clock())

    def resize(self, workers: int) -> None:
        """Have this many workers: new posts are filled, the last ones leave and their work is issued again."""
        self.workers = workers
        for number in range(workers):
            self._posts.setdefault(number, _Post(number)).is_wanted = True
        for post in list(self._posts.values())[workers:]:
            self._dismiss(post)
        self._changed.set()

    def stats(self) -> list[WorkerFigures]:
        found = []
        for post in self._posts.values():
            member, state = post.member, "waiting" if post.is_wanted else "left"
            pid, rows, units, waited_s = 0, post.past_rows, post.past_units, post.past_waited_s
            if member is not None:
                state, pid = member.phase.value, member.pid
                rows, units = rows + member.rows, units + member.units
                waited_s += member.waited_s(self.clock())
            figures = WorkerFigures(
                post.number,
                state,
                pid,
                units,
                restarts=post.restarts,
                reason=post.reason,
                rows=rows,
                waited_s=waited_s,
            )
            found.append(figures)
        return found

    async def stop(self) -> None:
        """Tell all workers to leave and return when they have, or after the grace time."""
        for post in list(self._posts.values()):
            self._dismiss(post)
        deadline_s = self.clock() + self.grace_s
        while any(self.members()) and self.clock() < deadline_s:
            self._changed.clear()
            await _wait(self._changed, deadline_s - self.clock())

    def _dismiss(self, post: _Post) -> None:
        """Tell whoever fills the post to leave, and nobody to come."""
        post.is_wanted, member = False, post.member
        if member is None or member.is_leaving:
            return
        member.is_leaving, member.leave_by_s = True, self.clock() + self.grace_s
        if member.link is not None and member.phase is not Phase.STARTING:
            member.send(Stop(), self.clock())
        elif member.link is not None:
            member.link.kill()

    async def _fill_posts(self) -> None:
        now_s = self.clock()
        for post in list(self._posts.values()):  # a resize may come while one is being filled
            if post.is_vacant and now_s >= post.retry_at_s:
                if not self._may_start():
                    return
                await self._fill(post)

    def _may_start(self) -> bool:
        """A hundred interpreters that start together on two cores are all late; the first may do without the rest."""
        return sum(member.phase is Phase.STARTING for member in self.members()) < MOST_STARTING

    async def _fill(self, post: _Post) -> None:
        joiner = Joiner(self.message_bytes)
        member = Member(post.number, Phase.STARTING, self.clock(), changed=self._stale, joiner=joiner)
        post.member = member
        try:
            member.link = await self.pool.open(
                post.number,
                lambda body: self._frame(member, body),
                lambda reason: self._lost(member, reason),
            )
        except OSError as error:
            if error.errno not in SHORTAGES:
                raise
            member.phase, post.member, post.retry_at_s = Phase.GONE, None, self.clock() + SHORTAGE_S
            self._tell_shortage(f"no worker can be started: {error.strerror}; it is tried again until one can", True)
            return
        self._tell_shortage("workers can be started again", False)
        if self._is_paused:
            member.link.pause()
        if member.is_leaving:  # told to while its process was being started
            member.link.kill()

    def _tell_shortage(self, line: str, is_short: bool) -> None:
        if is_short != self._is_short:
            self._is_short = is_short
            log.warning("%s", line)
            self.say(line)

    def _frame(self, member: Member, body: bytes | memoryview) -> None:  # noqa: PLR0912  # all reactions in one place
        """React to a frame: what a worker says of itself is dealt with here, the rest is for the listener."""
        if member.phase is Phase.GONE:
            return
        number, message, now_s = member.number, decode(body), self.clock()
        if isinstance(message, Pong):  # its second thread is alive, which says nothing about the first
            if not member.ponged < message.ticket <= member.pinged:
                raise WireError(f"worker {number} answers ping {message.ticket}, which it was not sent or has answered")
            member.ponged, member.stacks = message.ticket, message.stacks[:MOST_TEXT]
            log.warning("worker %d is alive, but busy here:\n%s", number, member.stacks)
            return
        goes_on = bool(member.joiner.held_bytes)  # in the middle of a message
        if isinstance(message, MessagePart) and member.phase is not Phase.STARTING:
            message = member.joiner.take(message) or message
        elif goes_on:
            raise WireError(f"worker {number} sent a {type(message).__name__} in the middle of another message")
        if isinstance(message, Hello):
            self._greet(member, message, now_s)
        elif isinstance(message, Crash):
            member.cause = message.reason[:MOST_TEXT]
            log.error("worker %d crashed: %s\n%s", number, member.cause, message.trace[:MOST_TEXT])
        elif isinstance(message, Bye):
            if not member.is_leaving:
                raise WireError(f"worker {number} leaves and was not told to")
        elif member.phase is Phase.STARTING:
            raise WireError(f"worker {number} sent a {type(message).__name__} before its hello")
        else:
            if member.phase is Phase.SUSPECT:
                log.info("worker %d is back after %.1f s", number, now_s - member.heard_s)
                member.phase = Phase.READY
            if member.owes and not goes_on:
                member.silence_limit.observe(now_s - member.heard_s)
                self._stale.add(member)
            if isinstance(message, Idle):
                member.idled(message, now_s)
                self.listener.idle()
            elif not isinstance(message, MessagePart):
                if isinstance(message, Ask):
                    member.asked(message, now_s)
                self.listener.heard(member, message, now_s)
        member.heard_s = max(member.heard_s, now_s)

    def _greet(self, member: Member, hello: Hello, now_s: float) -> None:
        """A worker says hello: refuse a stranger, else give it work."""
        if hello.protocol != PROTOCOL:
            raise WireError(f"worker {member.number} speaks protocol {hello.protocol}, this is {PROTOCOL}")
        if member.phase is not Phase.STARTING or hello.worker != member.number:
            raise WireError(f"worker {member.number} greets as worker {hello.worker} or a second time")
        member.pid, member.phase = hello.pid, Phase.READY
        log.info("worker %d is ready after %.2f s, pid %d", member.number, now_s - member.since_s, hello.pid)
        member.since_s = member.ready_s = now_s
        member.send(Hello(PROTOCOL, member.number, 0), now_s)
        if self._is_held:
            member.hold(True, now_s)
        if not member.is_leaving:
            self.listener.ready(member)
        self._changed.set()

    def _lost(self, member: Member, reason: str) -> None:
        """A worker is gone: free its post and, if it was not told to leave, count a death and back off."""
        if member.phase is Phase.GONE:
            return
        member.phase, member.cause = Phase.GONE, member.cause or reason
        post, patience, now_s = self._posts[member.number], self.patience, self.clock()
        post.member = None
        post.past_rows, post.past_units = post.past_rows + member.rows, post.past_units + member.units
        post.past_waited_s += member.waited_s(self.clock())
        self._past_joined += member.joiner.joined
        if member.link is not None:
            self._ended.append(member.link)
        if not member.is_leaving:
            if now_s - member.ready_s > patience.healthy_s:
                post.failures = 0
            wait_s = min(patience.backoff_s * 2 ** min(post.failures, MOST_DOUBLINGS), patience.backoff_ceiling_s)
            post.failures += 1
            post.restarts += 1
            post.reason, post.retry_at_s = member.cause, now_s + wait_s
            self._deaths.append((now_s, post.number, member.cause))
            log.warning("worker %d died: %s; a new one starts in %.1f s", post.number, member.cause, wait_s)
        self.listener.gone(member, is_blamed=not member.is_leaving)
        self._changed.set()

    def _watch(self) -> None:
        """Look at the clock: too many deaths, starts that take too long, silences that mean something."""
        now_s, patience = self.clock(), self.patience
        while self._deaths and now_s - self._deaths[0][0] > patience.window_s:
            self._deaths.popleft()
        if len(self._deaths) > max(patience.deaths, patience.deaths_per_worker * self.workers):
            reasons = "; ".join(sorted({reason for _, _, reason in self._deaths}))
            raise PoolFailed(f"{len(self._deaths)} workers died within {patience.window_s:g} s: {reasons}")
        for member in list(self.members()):
            silent_s = now_s - member.heard_s
            limit_s = member.silence_limit.limit_s(patience.silence_floor_s, patience.silence_ceiling_s)
            if member.phase is Phase.STARTING and now_s - member.since_s > patience.start_s:
                self._kill(member, f"no hello within {patience.start_s:g} s")
            elif self._is_paused:
                continue
            elif member.phase is Phase.READY and member.owes and silent_s > limit_s:
                log.warning("worker %d is silent for %.1f s, its limit is %.1f", member.number, silent_s, limit_s)
                member.phase, member.since_s = Phase.SUSPECT, now_s
                self._ticket += 1
                member.pinged = self._ticket
                if member.link is not None:
                    member.link.send_control(encode(Ping(self._ticket)))
            elif member.phase is Phase.SUSPECT and now_s - member.since_s > limit_s:
                self._kill(member, f"silent for {silent_s:.1f} s")
            elif now_s > member.leave_by_s:
                member.leave_by_s = math.inf
                self._kill(member, "told to leave and did not")

    def _kill(self, member: Member, why: str) -> None:
        member.cause = why
        if member.link is not None:
            member.link.kill()

    async def _reap(self) -> None:
        """One by one, each forgotten only when it is done: a cancellation in between loses nobody."""
        while self._ended:
            link = self._ended[0]
            await link.reap()
            self._ended.remove(link)

    async def _sleep(self) -> None:
        """Until something happens or may be due."""
        now_s = self.clock()
        due = [self.patience.silence_floor_s / 2]
        if self._may_start():
            due += [post.retry_at_s - now_s for post in self._posts.values() if post.is_vacant]
        due += [member.leave_by_s - now_s for member in self.members()]
        if not self._ended:
            await _wait(self._changed, max(min(due), 0.0))
        self._changed.clear()


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    """Not by wait_for, which before Python 3.12 forgets a cancellation that meets the event."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
