"""Pools: the same frames wherever the workers live, and nothing left of them afterwards."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import psutil
import pytest
from rig import ACTIONS, PLAYERS, ROW_BYTES, engine, inline_pool, local_pool, synthetic_spec

from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Books, Ledger
from asyncplay.engine.supervise import Supervisor
from asyncplay.engine.work import Assignment, Work
from asyncplay.errors import WireError
from asyncplay.pools.link import Link, OnFrame, OnLost, Pool
from asyncplay.pools.local import LocalPool
from asyncplay.wire.checksum import sim_answers
from asyncplay.wire.codec import decode, encode
from asyncplay.wire.messages import PROTOCOL, Answer, Ask, Bye, Done, Hello, Message, Ping, Pong, Stop

UNITS = 3000
POOLS = [
    pytest.param(inline_pool, id="inline"),
    pytest.param(local_pool, id="local", marks=pytest.mark.process),
]


@dataclass
class Guest:
    """A link held by the test, and everything that came through it."""

    heard: list[Message] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    link: Link | None = None

    @classmethod
    async def of(cls, pool: Pool, number: int = 0) -> "Guest":
        guest = cls()
        guest.link = await pool.open(number, lambda body: guest.heard.append(decode(body)), guest.losses.append)
        return guest

    async def greeted(self) -> Hello:
        await until(lambda: self.heard)
        assert isinstance(self.heard[0], Hello)
        return self.heard[0]

    async def lost(self) -> str:
        await until(lambda: self.losses)
        await self.link.reap()
        assert len(self.losses) == 1
        return self.losses[0]


async def until(condition: Callable[[], object], timeout_s: float = 200.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("make_pool", POOLS)
async def test_a_worker_greets_answers_a_stop_with_goodbye_and_hangs_up(make_pool):
    guest = await Guest.of(make_pool(), number=3)
    assert guest.heard == []  # never before open has returned
    hello = await guest.greeted()
    assert (hello.protocol, hello.worker) == (PROTOCOL, 3)
    guest.link.send(encode(Stop()))

    assert await guest.lost() == "hung up"
    assert [type(message) for message in guest.heard] == [Hello, Bye]
    assert hello.pid == os.getpid() or not psutil.pid_exists(hello.pid)


@pytest.mark.parametrize("make_pool", POOLS)
async def test_a_killed_worker_is_lost_once_and_what_it_is_sent_is_dropped(make_pool):
    guest = await Guest.of(make_pool())
    hello = await guest.greeted()
    guest.link.kill()
    await guest.lost()
    guest.link.send(encode(Stop()))
    guest.link.send_control(encode(Ping(1)))
    guest.link.kill()
    await asyncio.sleep(0.01)

    assert [type(message) for message in guest.heard] == [Hello]
    assert len(guest.losses) == 1
    assert hello.pid == os.getpid() or not psutil.pid_exists(hello.pid)


@pytest.mark.parametrize("make_pool", POOLS)
async def test_a_refused_worker_is_lost_for_the_reason_given(make_pool):
    guest = await Guest.of(make_pool())
    await guest.greeted()
    guest.link.refuse("it sang")
    assert await guest.lost() == "it sang"


@pytest.mark.parametrize("make_pool", POOLS)
async def test_a_paused_link_hands_nothing_over_until_it_goes_on(make_pool):
    guest = await Guest.of(make_pool())
    await guest.greeted()
    guest.link.pause()
    guest.link.send(encode(Stop()))
    await asyncio.sleep(0.1)
    assert [type(message) for message in guest.heard] == [Hello]
    guest.link.resume()
    await guest.lost()
    assert [type(message) for message in guest.heard] == [Hello, Bye]


@pytest.mark.process
async def test_a_worker_is_killed_before_it_could_say_a_word():
    guest = await Guest.of(local_pool())
    guest.link.kill()
    assert await guest.lost() == "hung up"
    assert guest.heard == []


@pytest.mark.process
async def test_what_is_wrong_on_the_control_pipe_costs_the_worker():
    heard, losses = [], []

    def listen(body: memoryview) -> None:
        heard.append(decode(body))
        if isinstance(heard[-1], Pong):
            raise WireError("nobody asked")

    link = await local_pool().open(0, listen, losses.append)
    await until(lambda: heard)
    link.send_control(encode(Ping(77)))
    await until(lambda: losses)
    await link.reap()
    assert losses == ["nobody asked"]


@pytest.mark.process
async def test_a_ping_is_answered_past_the_workers_work():
    guest = await Guest.of(local_pool())
    await guest.greeted()
    guest.link.send_control(encode(Ping(77)))
    await until(lambda: len(guest.heard) == 2)
    pong = guest.heard[1]
    assert isinstance(pong, Pong)
    assert (pong.ticket, "in serve" in pong.stacks) == (77, True)
    guest.link.send(encode(Stop()))
    await guest.lost()


@pytest.mark.parametrize("make_pool", POOLS)
async def test_every_pool_does_the_same_load_with_exact_books(make_pool):
    run = engine(make_pool(), UNITS)
    await asyncio.wait_for(run.run(), 200)

    assert run.ledger.books == Books(issued=UNITS, done=UNITS)
    assert run.evaluator.stats().rows == UNITS
    assert [worker.restarts for worker in run.supervisor.stats()] == [0, 0]


class Recorder:
    """A pool that keeps every frame its workers hand over."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.frames: list[tuple[int, bytes]] = []

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> Link:
        def record(body: bytes | memoryview) -> None:
            self.frames.append((number, bytes(body)))
            on_frame(body)

        return await self._pool.open(number, record, on_lost)


class Oracle:
    """Stands in for the evaluator: answers on the spot, so that no clock and no thread takes part."""

    def submit(self, owner: int, ask: Ask, reply: Callable[[Answer], None], now_s: float) -> None:
        reply(Answer(ask.ticket, 0, *sim_answers(ask.features, ask.offsets, PLAYERS)))

    def forget(self, owner: int) -> None: ...

    def reset(self) -> None: ...

    def wake(self) -> None: ...


async def frames_of(seed: int) -> list[tuple[int, bytes]]:
    """Three workers, slots that do not think, answers without delay: what do they say?"""
    pool, spec = Recorder(inline_pool()), encode(synthetic_spec(slots=16, think_s=0.0))
    work = Work(Assignment("synthetic", spec, seed, chunk=50, low_water=80), Ledger(UNITS))
    dispatcher = Dispatcher(Oracle())
    dispatcher.add(work)
    supervisor = Supervisor(pool, 3, dispatcher)
    running = asyncio.create_task(supervisor.run())
    await asyncio.wait_for(work.settled.wait(), 200)
    await supervisor.stop()
    running.cancel()
    await asyncio.wait([running])
    assert work.ledger.books == Books(issued=UNITS, done=UNITS)
    return pool.frames


async def test_two_inline_runs_with_the_same_seed_hand_over_identical_frames():
    first, second, other = [await frames_of(seed) for seed in (7, 7, 8)]

    assert first == second
    assert first != other
    asks = [message for _, body in first if isinstance(message := decode(body), Ask)]
    assert sum(len(ask.features) for ask in asks) == UNITS
    assert {ask.features.shape[1] for ask in asks} == {ROW_BYTES}
    assert sum(len(ask.legal) for ask in asks) == UNITS * ACTIONS
    units = [unit for _, body in first if isinstance(done := decode(body), Done) for unit in done.units.tolist()]
    assert sorted(units) == list(range(UNITS))


@dataclass(frozen=True)
class Belongings:
    """What this process holds that a worker's life could leave behind."""

    descriptors: int
    children: frozenset[int]
    threads: frozenset[str]
    tasks: int

    @classmethod
    def now(cls) -> "Belongings":
        gc.collect()
        process = psutil.Process()
        return cls(
            process.num_fds(),
            frozenset(child.pid for child in process.children(recursive=True)),
            frozenset(thread.name for thread in threading.enumerate() if not is_helper(thread)),
            len(asyncio.all_tasks()),
        )


def is_helper(thread: threading.Thread) -> bool:
    """Each loop's own, made when first needed; they stay as long as the loop."""
    return thread.name.startswith(("asyncio_", "uvloop_"))


async def live_and_die(number: int, make_pool: Callable[[], Pool]) -> int:
    guest = await Guest.of(make_pool(), number)
    hello = await guest.greeted()
    guest.link.send(encode(Stop()))
    await guest.lost()
    return hello.pid


async def lives(numbers: Iterable[int], make_pool: Callable[[], Pool], at_a_time: int) -> set[int]:
    """Start and stop a worker for each number; return their pids."""
    queue, pids = iter(numbers), set()

    async def take_turns() -> None:
        for number in queue:
            pids.add(await live_and_die(number, make_pool))

    async with asyncio.TaskGroup() as group:
        for _ in range(at_a_time):
            group.create_task(take_turns())
    return pids


async def check_nothing_is_left(make_pool: Callable[[], Pool], starts: int, at_a_time: int) -> set[int]:
    await lives(range(at_a_time), make_pool, at_a_time)  # what is made once stays: helpers, the tracker of spawn
    before = Belongings.now()
    pids = await lives(range(starts), make_pool, at_a_time)
    await until(lambda: Belongings.now() == before, 60)
    return pids


async def test_twenty_starts_and_stops_inside_the_process_leave_nothing():
    assert await check_nothing_is_left(inline_pool, 20, 2) == {os.getpid()}


@pytest.mark.process
async def test_eight_starts_and_stops_of_a_process_leave_nothing():
    pids = await check_nothing_is_left(local_pool, 8, 4)
    assert len(pids) == 8


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_factories=["uvloop"])
async def test_a_thousand_starts_and_stops_of_a_process_leave_nothing():
    await check_nothing_is_left(local_pool, 1000, 6)


@pytest.mark.process
async def test_starts_that_were_called_off_leave_nothing():
    """Cancelled after no, one, two ... steps of the loop, wherever that finds them."""
    await live_and_die(0, local_pool)
    before = Belongings.now()
    for steps in range(6):
        opening = asyncio.create_task(Guest.of(local_pool()))
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        if not opening.cancelled():
            guest = opening.result()
            guest.link.kill()
            await guest.lost()
    await until(lambda: Belongings.now() == before, 60)


class Unspawnable(LocalPool):
    def _spawn(self, *details: object) -> None:
        raise OSError("no more processes")


async def test_a_process_that_cannot_be_started_leaves_nothing():
    with pytest.raises(OSError, match="no more processes"):
        await Guest.of(Unspawnable(print))  # the first use of the loop makes what it keeps
    await asyncio.sleep(0.01)
    before = Belongings.now()
    for _ in range(3):
        with pytest.raises(OSError, match="no more processes"):
            await Guest.of(Unspawnable(print))
    await until(lambda: Belongings.now() == before, 60)


@pytest.mark.process
async def test_a_whole_run_leaves_nothing():
    await live_and_die(0, local_pool)
    before = Belongings.now()
    run = engine(local_pool(), UNITS)
    await asyncio.wait_for(run.run(), 200)
    await until(lambda: Belongings.now() == before, 60)


@pytest.mark.process
async def test_a_run_that_is_called_off_leaves_nothing_and_its_books_are_exact():
    await live_and_die(0, local_pool)
    before = Belongings.now()
    run = engine(local_pool(), None)
    running = asyncio.create_task(run.run())
    await until(lambda: run.ledger.books.done > 1000)
    running.cancel()
    await asyncio.wait([running])
    await until(lambda: Belongings.now() == before, 60)
    assert run.ledger.books.outstanding == 0
    assert run.ledger.books.issued == run.ledger.books.done + run.ledger.books.lost
