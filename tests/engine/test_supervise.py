"""Supervision step by step: a pool that the test plays itself, and a clock that the test moves."""

import asyncio
import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from asyncplay.engine.silence import SilenceLimit
from asyncplay.engine.supervise import LIVE_CEILING_S, MOST_TEXT, Member, Patience, Supervisor
from asyncplay.engine.thinkers import Thinkers
from asyncplay.errors import PoolFailed, WireError
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire import codec
from asyncplay.wire.codec import HEADER, decode, encode, frames
from asyncplay.wire.messages import (
    PROTOCOL,
    Ack,
    Answer,
    Ask,
    Bye,
    Crash,
    Done,
    Hello,
    Idle,
    Job,
    Message,
    MessagePart,
    Ping,
    Pong,
    Stop,
)

PATIENCE = Patience(
    start_s=60.0,
    silence_floor_s=5.0,
    silence_ceiling_s=120.0,
    backoff_s=0.125,
    backoff_ceiling_s=10.0,
    healthy_s=30.0,
    window_s=30.0,
    deaths=1000,
)
DAY_S = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


class FakeLink:
    """A worker played by the test: what it was told, and a mouth to speak with."""

    def __init__(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> None:
        self.number, self._on_frame, self._on_lost = number, on_frame, on_lost
        self.told: list[Message] = []
        self.told_past_work: list[Message] = []
        self.kills = self.reaps = 0
        self.is_paused = False
        self.reaping = asyncio.Event()
        self.reaping.set()

    def send(self, frame: bytes) -> None:
        self.told.append(decode(frame[HEADER.size :]))

    def send_control(self, frame: bytes) -> None:
        self.told_past_work.append(decode(frame[HEADER.size :]))

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False

    def refuse(self, why: str) -> None:
        self._on_lost(why)

    def kill(self) -> None:
        self.kills += 1

    async def reap(self) -> None:
        await self.reaping.wait()
        self.reaps += 1

    def say(self, message: Message) -> None:
        """As a pipe does it: what is no frame of ours ends the connection."""
        try:
            self._on_frame(encode(message)[HEADER.size :])
        except WireError as error:
            self._on_lost(str(error))

    def hang_up(self, why: str = "hung up") -> None:
        self._on_lost(why)


class FakePool:
    def __init__(self) -> None:
        self.opened: list[FakeLink] = []
        self.opening = asyncio.Event()
        self.opening.set()

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> FakeLink:
        await self.opening.wait()
        self.opened.append(FakeLink(number, on_frame, on_lost))
        return self.opened[-1]


class ScarcePool(FakePool):
    """Nothing can be started while there is a reason."""

    why: int | None = errno.EMFILE

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> FakeLink:
        if self.why is not None:
            raise OSError(self.why, os.strerror(self.why))
        return await super().open(number, on_frame, on_lost)


class Listener:
    """Gives everybody work without end and writes down what it hears."""

    def __init__(self) -> None:
        self.readies: list[int] = []
        self.heards: list[Message] = []
        self.idles = 0
        self.gones: list[tuple[int, bool]] = []

    def ready(self, member: Member) -> None:
        self.readies.append(member.number)
        member.has_work, member.thinking = True, 4

    def heard(self, member: Member, message: Message, now_s: float) -> None:
        if isinstance(message, Job):
            raise WireError(f"worker {member.number} sent a Job, which nobody wants")
        self.heards.append(message)

    def idle(self) -> None:
        self.idles += 1

    def gone(self, member: Member, *, is_blamed: bool) -> None:
        self.gones.append((member.number, is_blamed))


class Rig:
    def __init__(self, workers: int = 1, patience: Patience = PATIENCE, message_bytes: int = 10_000) -> None:
        self.clock, self.pool, self.listener = Clock(), FakePool(), Listener()
        self.supervisor = Supervisor(
            self.pool, workers, self.listener, patience, self.clock, message_bytes=message_bytes
        )

    async def step(self) -> None:
        """One round of ``run`` without its sleep."""
        await self.supervisor._fill_posts()
        self.supervisor._watch()
        await self.supervisor._reap()

    async def ready(self) -> FakeLink:
        """Have the next worker started and greeted; return it."""
        await self.step()
        link = self.pool.opened[-1]
        link.say(hello(link.number))
        return link

    async def lapse(self, seconds: float) -> None:
        self.clock.pass_s(seconds)
        await self.step()

    @property
    def member(self) -> Member:
        return next(self.supervisor.members())

    @property
    def state(self) -> str:
        return self.supervisor.stats()[0].state

    @property
    def reason(self) -> str:
        return self.supervisor.stats()[0].reason

    def thinkers(self) -> Thinkers:
        return self.supervisor.thinkers(self.clock())


def hello(number: int = 0, protocol: int = PROTOCOL) -> Hello:
    return Hello(protocol, number, 4242)


def ask(slots: int = 1, thinking: int = 0) -> Ask:
    features, legal = np.zeros((slots, 2), np.float32), np.zeros(slots, np.int32)
    return Ask(1, 0, slots, thinking, features, legal, np.arange(slots + 1, dtype=np.int32))


def answer(slots: int = 1) -> Answer:
    return Answer(1, 0, np.ones(slots, np.float32), np.zeros((slots, 2), np.float32))


def done() -> Done:
    return Done(1, np.array([1], np.int64))


async def test_a_worker_is_ready_after_its_hello_and_greeted_back():
    rig = Rig(workers=2)
    await rig.step()
    assert [link.number for link in rig.pool.opened] == [0, 1]
    assert rig.state == "starting"
    rig.pool.opened[0].say(hello())

    assert rig.state == "ready"
    assert rig.supervisor.stats()[0].pid == 4242
    assert rig.supervisor.stats()[1].state == "starting"
    assert rig.listener.readies == [0]
    (greeting,) = rig.pool.opened[0].told
    assert (greeting.protocol, greeting.worker) == (PROTOCOL, 0)


async def test_silence_counts_only_while_a_worker_owes_something():
    rig = Rig()
    link = await rig.ready()
    rig.member.has_work = False
    await rig.lapse(DAY_S)
    assert rig.state == "ready"

    rig.member.has_work = True
    link.say(ask(slots=4, thinking=0))  # all of its slots wait for us now
    await rig.lapse(DAY_S)
    assert rig.state == "ready"

    rig.member.answer(ask(slots=4), answer(4), rig.clock())
    await rig.lapse(120.0)
    assert rig.state == "ready"
    await rig.lapse(0.1)
    assert rig.state == "suspect"


async def test_a_worker_that_said_it_was_idle_before_it_had_our_answer_owes_us_a_word():
    """It was stopped in between once, and nobody ever missed it."""
    rig = Rig()
    link = await rig.ready()
    link.say(ask(slots=4, thinking=2))
    rig.member.answer(ask(slots=4), answer(4), rig.clock())
    link.say(Idle(heard=0))
    await rig.lapse(120.1)
    assert rig.state == "suspect"


async def test_a_worker_that_is_idle_with_our_last_word_in_hand_owes_nothing():
    rig = Rig()
    link = await rig.ready()
    rig.member.answer(ask(slots=4), answer(4), rig.clock())
    link.say(Idle(heard=1))
    await rig.lapse(DAY_S)
    assert (rig.state, rig.listener.idles) == ("ready", 1)


async def test_a_job_for_an_idle_worker_with_work_under_way_is_a_word_to_react_to():
    rig = Rig()
    link = await rig.ready()
    link.say(Idle(heard=0))
    rig.member.order(Job(1, "synthetic", 0, 1, 0, b""), rig.clock())
    await rig.lapse(120.1)
    assert rig.state == "suspect"


async def test_our_own_word_starts_the_silence_anew():
    rig = Rig()
    await rig.ready()
    await rig.lapse(100.0)
    rig.member.send(Job(1, "synthetic", 0, 1, 0, b""), rig.clock())
    await rig.lapse(100.0)
    assert rig.state == "ready"
    await rig.lapse(21.0)
    assert rig.state == "suspect"


async def test_the_limit_is_learned_from_the_workers_own_intervals():
    """Twenty intervals of 8 s without deviation: a silence of 8.1 s is remarkable."""
    rig = Rig()
    link = await rig.ready()
    for _ in range(20):
        await rig.lapse(8.0)
        link.say(done())
    await rig.lapse(7.9)
    assert rig.state == "ready"
    await rig.lapse(0.2)
    assert rig.state == "suspect"


async def test_a_learned_limit_never_lies_below_the_floor():
    rig = Rig()
    link = await rig.ready()
    for _ in range(20):
        await rig.lapse(0.001)
        link.say(done())
    await rig.lapse(4.9)
    assert rig.state == "ready"
    await rig.lapse(0.2)
    assert rig.state == "suspect"


async def test_a_time_without_debts_is_no_interval():
    rig = Rig()
    link = await rig.ready()
    for _ in range(20):
        await rig.lapse(6.0)
        link.say(ask(slots=4, thinking=0))
        await rig.lapse(50.0)  # until we answer, which is our fault
        link.say(done())  # what it says unasked in between proves nothing
        rig.member.answer(ask(slots=4), answer(4), rig.clock())
    await rig.lapse(6.5)
    assert rig.state == "suspect"


async def test_a_suspect_is_pinged_past_its_work_and_a_pong_tells_where_it_is():
    rig = Rig(workers=2)
    await rig.step()
    for link in rig.pool.opened:
        link.say(hello(link.number))
    await rig.lapse(121.0)
    first, second = rig.pool.opened
    assert [type(message) for message in first.told_past_work] == [Ping]
    assert [link.told_past_work[0].ticket for link in (first, second)] == [1, 2]
    assert [type(message) for message in first.told] == [Hello]

    first.say(Pong(1, "in the middle of a kernel"))
    assert rig.state == "suspect"  # its second thread says nothing about the first
    assert rig.member.stacks == "in the middle of a kernel"
    await rig.lapse(1.0)
    assert len(first.told_past_work) == 1


async def test_a_suspect_is_not_waited_for_until_its_next_frame():
    rig = Rig()
    link = await rig.ready()
    assert rig.thinkers() == Thinkers(4, pytest.approx(LIVE_CEILING_S))
    await rig.lapse(121.0)
    rig.member.heard_s = rig.clock()  # even if it were fresh: a suspect is out
    assert rig.thinkers() == Thinkers(0, 0.0)

    link.say(ask(slots=1, thinking=3))
    assert rig.state == "ready"
    assert rig.thinkers()[0] == 3
    assert len(rig.listener.heards) == 1


async def test_a_worker_silent_beyond_its_habit_leaves_the_live_set_long_before_it_is_suspected():
    rig = Rig()
    link = await rig.ready()
    for _ in range(20):
        await rig.lapse(0.010)
        link.say(ask(slots=1, thinking=3))
    await rig.lapse(0.004)
    assert rig.thinkers() == Thinkers(3, pytest.approx(0.006))
    await rig.lapse(0.007)
    assert rig.thinkers() == Thinkers(0, 0.0)
    assert rig.state == "ready"


async def test_thinkers_are_counted_over_all_ready_workers_that_owe():
    rig = Rig(workers=3)
    await rig.step()
    for link in rig.pool.opened[:2]:
        link.say(hello(link.number))
    rig.pool.opened[1].say(ask(slots=2, thinking=5))
    assert rig.thinkers() == Thinkers(9, pytest.approx(LIVE_CEILING_S))


def parts_of(message: Message, part_bytes: int) -> list[MessagePart]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "PART_BYTES", part_bytes)
        return [decode(frame[HEADER.size :]) for frame in frames(message)]


async def test_a_message_in_parts_is_heard_once_and_its_parts_are_no_intervals():
    """Each part is a sign of life; only the silence before the first is one of the worker's own."""
    rig = Rig()
    link = await rig.ready()
    for _ in range(20):
        await rig.lapse(8.0)
        first, *others = parts_of(ask(slots=4, thinking=4), 30)
        assert len(others) > 1
        link.say(first)
        for part in others:
            await rig.lapse(0.001)
            link.say(part)
    assert [type(message) for message in rig.listener.heards] == [Ask] * 20
    assert (rig.supervisor.joined, rig.supervisor.unfinished_bytes) == (20, 0)
    await rig.lapse(7.9)
    assert rig.state == "ready"
    link.say(first)
    await rig.lapse(7.9)
    assert rig.state == "ready"  # it began to speak
    await rig.lapse(0.2)
    assert rig.state == "suspect"


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (
            [MessagePart(0, 1000, b"x" * 10)],
            "1,000 bytes is coming, at most 500 are allowed: see pool.message_mb",
        ),
        ([MessagePart(0, 400, b"x" * 10), done()], "worker 0 sent a Done in the middle of another message"),
        (
            [MessagePart(0, 400, b"x" * 10), MessagePart(0, 400, b"x" * 10)],
            "a part has the bytes 0 to 10 of 400, after 10 of 400",
        ),
        ([MessagePart(7, 400, b"x" * 10)], "a part has the bytes 7 to 17 of 400, after 0 of 0"),
        ([MessagePart(0, 3, b"\xc1\xc1\xc1")], "a frame of 3 bytes is no msgpack"),
    ],
    ids=["long", "between", "again", "late", "nonsense"],
)
async def test_parts_of_nothing_cost_the_worker_that_sends_them_and_nobody_else(messages, reason):
    rig = Rig(workers=2, message_bytes=500)
    await rig.step()
    for link in rig.pool.opened:
        link.say(hello(link.number))
    for message in messages:
        rig.pool.opened[0].say(message)
    assert rig.listener.gones == [(0, True)]
    assert reason in rig.reason
    assert rig.supervisor.unfinished_bytes == 0


async def test_a_part_before_the_hello_is_refused():
    rig = Rig()
    await rig.step()
    rig.pool.opened[0].say(MessagePart(0, 10, b"x"))
    assert rig.reason == "worker 0 sent a MessagePart before its hello"


async def test_a_pong_may_come_between_two_parts():
    rig = Rig()
    link = await rig.ready()
    first, *others = parts_of(done(), 3)
    link.say(first)
    await rig.lapse(121.0)
    link.say(Pong(1, "sending"))
    for part in others:
        link.say(part)
    assert [type(message) for message in rig.listener.heards] == [Done]


async def test_an_event_makes_the_supervisor_look_at_one_worker_and_not_at_all(monkeypatch):
    """Counted with 10 and with 300 workers: the limits that are worked out after each frame."""
    looked = []
    limit_s = SilenceLimit.limit_s
    monkeypatch.setattr(SilenceLimit, "limit_s", lambda self, *clamp: (looked.append(1), limit_s(self, *clamp))[1])
    for workers in (10, 300):
        rig = Rig(workers=workers)
        while len(rig.listener.readies) < workers:
            await rig.step()
            for link in rig.pool.opened[len(rig.listener.readies) :]:
                link.say(hello(link.number))
        assert rig.thinkers().slots == 4 * workers
        looked.clear()
        for number in range(10):
            rig.pool.opened[number].say(ask(slots=1, thinking=3))
            rig.thinkers()
        assert len(looked) == 10
        assert rig.thinkers().slots == 4 * workers - 10


async def test_a_suspect_that_stays_silent_is_killed_after_its_limit_and_replaced():
    rig = Rig()
    link = await rig.ready()
    await rig.lapse(121.0)
    await rig.lapse(120.0)
    assert link.kills == 0
    await rig.lapse(1.0)
    assert link.kills == 1
    link.hang_up()
    assert rig.listener.gones == [(0, True)]
    assert (rig.state, rig.reason) == ("waiting", "silent for 242.0 s")
    await rig.lapse(0.125)
    assert link.reaps == 1
    assert len(rig.pool.opened) == 2
    assert rig.supervisor.stats()[0].restarts == 1


async def test_a_start_that_takes_too_long_is_given_up():
    rig = Rig()
    await rig.step()
    await rig.lapse(60.0)
    assert rig.pool.opened[0].kills == 0
    await rig.lapse(0.1)
    assert rig.pool.opened[0].kills == 1
    rig.pool.opened[0].hang_up()
    assert rig.reason == "no hello within 60 s"


async def waits_s(rig: Rig) -> float:
    """Let the worker die now; return after how long a new one starts."""
    before = len(rig.pool.opened)
    rig.pool.opened[-1].hang_up()
    for eighths in range(1000):
        await rig.step()
        if len(rig.pool.opened) > before:
            return eighths / 8
        rig.clock.pass_s(0.125)
    raise AssertionError("nobody was started")


async def test_each_restart_waits_twice_as_long_as_the_one_before_up_to_a_limit():
    rig = Rig()
    await rig.step()
    waits = [await waits_s(rig) for _ in range(10)]
    assert waits == [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]


async def test_a_worker_that_was_well_for_a_while_starts_with_a_clean_record():
    rig = Rig()
    for _ in range(4):
        await rig.ready()
        rig.clock.pass_s(29.0)
        await waits_s(rig)
    await rig.ready()
    rig.clock.pass_s(31.0)
    assert await waits_s(rig) == 0.125
    await rig.ready()
    rig.clock.pass_s(29.0)
    assert await waits_s(rig) == 0.25


async def test_a_worker_that_hung_after_a_long_life_starts_with_a_clean_record_too():
    rig = Rig(patience=replace(PATIENCE, silence_ceiling_s=10.0))
    for _ in range(3):
        await rig.step()
        await waits_s(rig)
    link = await rig.ready()
    for _ in range(1000):
        rig.clock.pass_s(1.0)
        link.say(done())
    await rig.lapse(11.0)
    await rig.lapse(11.0)
    assert (rig.state, link.kills) == ("suspect", 1)
    assert await waits_s(rig) == 0.125


async def test_a_long_start_is_no_good_record():
    rig = Rig()
    for _ in range(3):
        await rig.step()
        rig.clock.pass_s(50.0)
        await waits_s(rig)
    assert await waits_s(rig) == 1.0


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (ask(), "worker 0 sent a Ask before its hello"),
        (done(), "worker 0 sent a Done before its hello"),
        (hello(protocol=PROTOCOL + 1), f"worker 0 speaks protocol {PROTOCOL + 1}, this is {PROTOCOL}"),
    ],
)
async def test_a_wrong_first_word_costs_the_worker(message, complaint):
    rig = Rig()
    await rig.step()
    rig.pool.opened[0].say(message)

    assert (rig.state, rig.reason) == ("waiting", complaint)
    assert rig.listener.gones == [(0, True)]
    assert rig.listener.readies == rig.listener.heards == []
    await rig.lapse(0.125)
    assert len(rig.pool.opened) == 2
    assert rig.pool.opened[0].reaps == 1


async def test_what_nobody_wants_to_hear_costs_the_worker():
    rig = Rig()
    link = await rig.ready()
    link.say(Job(1, "synthetic", 0, 1, 0, b""))
    assert rig.reason == "worker 0 sent a Job, which nobody wants"


async def test_a_dead_worker_is_heard_no_more():
    rig = Rig()
    link = await rig.ready()
    link.hang_up()
    link.say(done())
    link.say(Ack(*np.ones((2, 1), np.int64)))
    link.hang_up()
    assert rig.listener.heards == []
    assert rig.listener.gones == [(0, True)]
    assert rig.supervisor.stats()[0].restarts == 1


async def test_a_crash_names_the_cause_of_the_end():
    rig = Rig()
    link = await rig.ready()
    link.say(Crash("ValueError: no such square", "trace"))
    link.hang_up()
    assert rig.reason == "ValueError: no such square"
    assert rig.listener.gones == [(0, True)]


async def test_a_goodbye_is_no_death():
    rig = Rig()
    link = await rig.ready()
    rig.supervisor.resize(0)
    rig.supervisor.resize(1)
    link.say(Bye())
    link.hang_up()
    assert rig.listener.gones == [(0, False)]
    stats = rig.supervisor.stats()[0]
    assert (stats.restarts, stats.reason) == (0, "")
    await rig.step()
    assert len(rig.pool.opened) == 2  # its post is filled again, at once


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        (Bye(), "leaves and was not told to"),
        (hello(), "greets as worker 0 or a second time"),
        (Pong(1, "nowhere"), "answers ping 1, which it was not sent"),
    ],
)
async def test_a_worker_that_says_what_it_cannot_is_dead(lie, why):
    rig = Rig()
    link = await rig.ready()
    link.say(lie)
    assert rig.listener.gones == [(0, True)]
    assert rig.listener.readies == [0]
    assert why in rig.reason


async def test_a_worker_that_greets_for_another_is_dead():
    rig = Rig()
    await rig.step()
    rig.pool.opened[0].say(hello(1))
    assert (rig.listener.readies, "greets as worker 1" in rig.reason) == ([], True)


async def test_a_ping_is_answered_once():
    rig = Rig()
    link = await rig.ready()
    for ticket in (1, 2):  # the first was not answered before the second came
        await rig.lapse(121.0)
        assert link.told_past_work[-1].ticket == ticket
        link.say(done())
    for ticket in (1, 2):
        link.say(Pong(ticket, "x" * 10**6))
        assert rig.member.stacks == "x" * MOST_TEXT
    link.say(Pong(2, "here"))
    assert "answers ping 2, which it was not sent or has answered" in rig.reason


async def test_a_worker_may_die_again_and_again():
    """2 to the power of 1,024 is no float."""
    rig = Rig(patience=replace(PATIENCE, backoff_ceiling_s=0.125, deaths=10**6))
    for _ in range(1100):
        await rig.lapse(0.25)
        rig.pool.opened[-1].hang_up("no luck")
    assert rig.supervisor.stats()[0].restarts == 1100


async def test_what_a_worker_says_of_its_end_is_cut_to_a_decent_length(caplog):
    rig = Rig()
    link = await rig.ready()
    link.say(Crash("a" * 10**6, "b" * 10**6))
    link.hang_up()
    assert rig.reason == "a" * MOST_TEXT
    assert len(caplog.text) < 4 * MOST_TEXT


async def test_too_many_deaths_end_the_run_and_name_the_reasons():
    rig = Rig(workers=2, patience=Patience(deaths=4, deaths_per_worker=1, window_s=30.0, backoff_s=0.01))
    for why in ("no disk", "no luck", "no disk", "no luck"):
        await rig.lapse(5.0)
        rig.pool.opened[-1].hang_up(why)
    await rig.lapse(1.0)  # four are within the limit
    rig.pool.opened[-1].hang_up("no disk")
    with pytest.raises(PoolFailed) as caught:
        await rig.step()
    assert str(caught.value) == "5 workers died within 30 s: no disk; no luck"


async def test_the_limit_of_deaths_grows_with_the_pool():
    rig = Rig(workers=3, patience=Patience(deaths=2, deaths_per_worker=2, window_s=30.0, backoff_s=0.01))
    for _ in range(6):
        await rig.lapse(1.0)
        rig.pool.opened[-1].hang_up()
    await rig.lapse(1.0)
    rig.pool.opened[-1].hang_up()
    with pytest.raises(PoolFailed, match="7 workers died"):
        await rig.step()


async def test_deaths_of_long_ago_do_not_count():
    rig = Rig(patience=Patience(deaths=2, deaths_per_worker=1, window_s=30.0, backoff_ceiling_s=1.0))
    for _ in range(50):
        await rig.lapse(16.0)
        rig.pool.opened[-1].hang_up()
    assert rig.supervisor.stats()[0].restarts == 50


async def test_a_full_queue_stops_reading_from_everybody_and_an_empty_one_goes_on():
    rig = Rig(workers=2)
    await rig.step()
    rig.supervisor.pause(True)
    assert [link.is_paused for link in rig.pool.opened] == [True, True]
    rig.supervisor.pause(False)
    assert [link.is_paused for link in rig.pool.opened] == [False, False]


async def test_whom_nobody_listens_to_is_not_silent():
    rig = Rig()
    await rig.ready()
    rig.supervisor.pause(True)
    await rig.lapse(DAY_S)
    assert rig.state == "ready"

    rig.supervisor.pause(False)
    await rig.lapse(120.0)
    assert rig.state == "ready"
    await rig.lapse(0.1)
    assert rig.state == "suspect"


async def test_told_to_stop_ready_workers_say_goodbye_and_starting_ones_are_killed():
    rig = Rig(workers=2)
    ready = await rig.ready()
    starting = rig.pool.opened[0]
    assert starting is not ready
    stopping = asyncio.create_task(rig.supervisor.stop())
    await asyncio.sleep(0)
    assert [type(message) for message in ready.told] == [Hello, Stop]
    assert (ready.kills, starting.kills, starting.told) == (0, 1, [])
    starting.hang_up()
    ready.say(Bye())
    ready.hang_up()
    await stopping

    assert sorted(rig.listener.gones) == [(0, False), (1, False)]
    assert [worker.state for worker in rig.supervisor.stats()] == ["left", "left"]
    await rig.lapse(DAY_S)
    assert len(rig.pool.opened) == 2  # nobody takes their places
    assert (ready.reaps, starting.reaps) == (1, 1)


async def test_a_worker_that_is_started_while_all_are_told_to_stop_is_killed():
    rig = Rig()
    rig.pool.opening.clear()
    filling = asyncio.create_task(rig.supervisor._fill_posts())
    await asyncio.sleep(0)
    stopping = asyncio.create_task(rig.supervisor.stop())
    await asyncio.sleep(0)
    rig.pool.opening.set()
    await filling
    assert rig.pool.opened[0].kills == 1
    rig.pool.opened[0].hang_up()
    await stopping


async def test_the_end_of_the_run_kills_and_reaps_whoever_is_left_and_tells_of_their_work():
    rig = Rig(workers=3)
    running = asyncio.create_task(rig.supervisor.run())
    await settle()
    rig.pool.opened[0].say(hello())
    running.cancel()
    await asyncio.wait([running])

    assert [(link.kills, link.reaps) for link in rig.pool.opened] == [(1, 1)] * 3
    assert sorted(rig.listener.gones) == [(0, False), (1, False), (2, False)]
    assert list(rig.supervisor.members()) == []


async def test_an_end_in_the_middle_of_reaping_forgets_nobody():
    rig = Rig(workers=3)
    running = asyncio.create_task(rig.supervisor.run())
    await settle()
    for link in rig.pool.opened:
        link.reaping.clear()
        link.hang_up()
    await settle()  # the first of them is being reaped
    running.cancel()
    await settle()
    for link in rig.pool.opened:
        link.reaping.set()
    await asyncio.wait([running])
    assert [link.reaps >= 1 for link in rig.pool.opened] == [True] * 3


async def test_a_failed_pool_ends_the_run_with_nobody_left():
    rig = Rig(workers=2, patience=Patience(deaths=1, deaths_per_worker=1, backoff_s=1e-9))
    running = asyncio.create_task(rig.supervisor.run())
    await settle()
    for _ in range(3):
        rig.pool.opened[-1].hang_up("no luck")
        rig.clock.pass_s(1.0)
        await settle()
    assert running.done()
    with pytest.raises(PoolFailed, match="3 workers died within 30 s: no luck"):
        running.result()
    assert all(link.reaps == 1 for link in rig.pool.opened)


async def settle() -> None:
    """Let everything that is ready to run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def greeted(rig: Rig) -> dict[int, FakeLink]:
    """All workers of the rig, ready."""
    await rig.step()
    for link in rig.pool.opened:
        if rig.supervisor.stats()[link.number].state == "starting":
            link.say(hello(link.number))
    return {link.number: link for link in rig.pool.opened}


async def test_more_workers_are_started_and_fewer_leave_with_nobody_to_blame():
    rig = Rig(workers=2)
    await greeted(rig)
    rig.supervisor.resize(3)
    links = await greeted(rig)
    assert [worker.state for worker in rig.supervisor.stats()] == ["ready"] * 3

    rig.supervisor.resize(1)
    assert [type(links[number].told[-1]) for number in range(3)] == [Hello, Stop, Stop]
    for number in (1, 2):
        links[number].say(Bye())
        links[number].hang_up()
    assert rig.listener.gones == [(1, False), (2, False)]
    await rig.lapse(DAY_S)
    assert [worker.state for worker in rig.supervisor.stats()] == ["suspect", "left", "left"]
    assert len(rig.pool.opened) == 3


async def test_a_worker_that_is_wanted_again_while_it_leaves_is_replaced_when_it_has_left():
    rig = Rig(workers=2)
    links = await greeted(rig)
    rig.supervisor.resize(1)
    rig.supervisor.resize(2)
    links[1].say(Bye())
    links[1].hang_up()
    await rig.step()
    assert [link.number for link in rig.pool.opened] == [0, 1, 1]


async def test_a_worker_that_is_told_to_leave_and_does_not_is_killed_once_after_the_grace_time():
    rig = Rig(workers=2)
    links = await greeted(rig)
    rig.supervisor.resize(1)
    await rig.lapse(rig.supervisor.grace_s * 0.9)
    assert links[1].kills == 0
    await rig.lapse(rig.supervisor.grace_s * 0.2)
    await rig.lapse(0.1)
    assert (links[0].kills, links[1].kills) == (0, 1)


async def test_the_limit_of_deaths_follows_the_number_of_workers():
    rig = Rig(workers=1, patience=replace(PATIENCE, deaths=0, deaths_per_worker=1))
    rig.supervisor.resize(2)
    for link in (await greeted(rig)).values():
        link.hang_up()
    rig.supervisor._watch()
    rig.supervisor.resize(1)
    with pytest.raises(PoolFailed):
        rig.supervisor._watch()


async def test_a_post_counts_the_rows_and_units_of_all_who_filled_it():
    rig = Rig()
    for _ in range(2):
        link = await rig.ready()
        rig.member.answer(ask(slots=5), answer(5), rig.clock())
        rig.member.units += 3
        link.hang_up()
        rig.clock.pass_s(PATIENCE.backoff_ceiling_s)
    (stats,) = rig.supervisor.stats()
    assert (stats.rows, stats.games) == (10, 6)


async def test_a_shortage_is_waited_out_said_once_and_no_death():
    rig, said = Rig(patience=replace(PATIENCE, deaths=0, deaths_per_worker=0)), []
    rig.pool = rig.supervisor.pool = ScarcePool()
    rig.supervisor.say = said.append
    for why in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM) * 5:
        rig.pool.why = why
        await rig.lapse(1.0)
        assert rig.state == "waiting"
    await rig.lapse(0.5)
    rig.pool.why = None
    await rig.step()
    assert rig.pool.opened == []  # not before it is worth a try
    await rig.lapse(0.5)

    (await rig.ready()).say(done())
    assert rig.state == "ready"
    assert said == [
        "no worker can be started: Too many open files; it is tried again until one can",
        "workers can be started again",
    ]
    assert (rig.supervisor.stats()[0].restarts, rig.listener.gones) == (0, [])


async def test_a_start_that_can_never_succeed_ends_the_run():
    rig = Rig()
    rig.supervisor.pool = ScarcePool()
    rig.supervisor.pool.why = errno.ENOENT
    with pytest.raises(OSError, match="No such file"):
        await rig.step()
