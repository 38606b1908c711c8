"""The lane to the device: what runs when, in which order, and that its threads end with it."""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from asyncplay.engine.lane import Finish, Lane, Task

LONG_S = 60.0


class Clock:
    """Moves only when a task says how long it took."""

    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


class Source:
    """Wants ``wanted`` turns of ``length_s`` each and writes down what happens to them."""

    def __init__(self, name: str, clock: Clock, diary: list[str], *, wanted: int, length_s: float = 1.0) -> None:
        self.name, self.clock, self.diary = name, clock, diary
        self.wanted, self.length_s = wanted, length_s
        self.started = self.delivered = 0
        self.seconds: list[float] = []

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0 if self.started < self.wanted else math.inf

    def start(self, now_s: float) -> Task:
        self.started += 1
        turn = self.started
        self.diary.append(f"start {self.name}{turn}")
        return Task(
            launch=lambda: self._launch(turn),
            landed=lambda result, seconds: self._landed(turn, result, seconds),
            deliver=lambda result: self._deliver(turn, result),
        )

    def _launch(self, turn: int) -> Finish:
        self.clock.now_s += self.length_s
        return lambda: turn

    def _landed(self, turn: int, result: int, seconds: float) -> None:
        assert result == turn
        self.seconds.append(seconds)
        self.diary.append(f"landed {self.name}{turn}")

    def _deliver(self, turn: int, result: int) -> None:
        assert result == turn
        self.delivered += 1
        self.diary.append(f"deliver {self.name}{turn}")


@asynccontextmanager
async def running(lane: Lane):
    task = asyncio.create_task(lane.run())
    await asyncio.sleep(0)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(condition: Callable[[], Any]) -> None:
    """Give the lane's thread its time; the lane itself has no timer that this would hide."""
    deadline_s = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        await asyncio.sleep(0.0005)


def lane_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lane"]


async def run_out(lane: Lane, *sources: Source) -> None:
    async with running(lane):
        await until(lambda: all(source.delivered == source.wanted for source in sources))


async def test_each_task_is_landed_then_the_next_is_bound_then_the_answers_go_out():
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    source = Source("a", clock, diary, wanted=3)
    lane.attach(source, share=1.0)
    await run_out(lane, source)

    assert diary == [
        *("start a1", "landed a1", "start a2", "deliver a1", "landed a2", "start a3"),
        *("deliver a2", "landed a3", "deliver a3"),
    ]
    assert source.seconds == [1.0, 1.0, 1.0]
    assert (lane.busy_s(source), lane.all_busy_s) == (3.0, 3.0)


class Gate:
    """A source whose tasks wait on the lane's thread until the test lets them go, one at a time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.queued: list[str] = []
        self.launched: list[list[str]] = []
        self.landed: list[list[str]] = []
        self.go = threading.Semaphore(0)

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0 if self.queued else math.inf

    def start(self, now_s: float) -> Task:
        rows, self.queued = self.queued, []
        return Task(lambda: self._launch(rows), self._landed, lambda result: None)

    def _launch(self, rows: list[str]) -> Finish:
        self.launched.append(rows)

        def finish() -> list[str]:
            assert self.go.acquire(timeout=LONG_S)
            self.clock.now_s += 1.0
            return rows

        return finish

    def _landed(self, rows: list[str], seconds: float) -> None:
        self.landed.append(rows)


async def test_rows_that_come_while_the_device_is_busy_still_make_it_into_the_next_batch():
    gate = Gate(clock := Clock())
    lane = Lane(clock=clock)
    lane.attach(gate, share=1.0)
    async with running(lane):
        gate.queued += ["one"]
        lane.wake()
        await until(lambda: gate.launched)
        for row in ("two", "three", "four"):
            gate.queued += [row]
            lane.wake()
        await asyncio.sleep(0.01)
        assert gate.launched == [["one"]]  # at depth 1 nothing else is started meanwhile
        assert gate.queued == ["two", "three", "four"]
        gate.go.release(2)
        await until(lambda: len(gate.landed) == 2)

    assert gate.launched == gate.landed == [["one"], ["two", "three", "four"]]


async def test_depth_two_has_two_in_flight_and_finishes_in_order():
    gate = Gate(clock := Clock())
    lane = Lane(depth=2, clock=clock)
    lane.attach(gate, share=1.0)
    async with running(lane):
        for row in ("one", "two", "three"):
            gate.queued += [row]
            lane.wake()
        await until(lambda: len(gate.launched) == 2)
        await asyncio.sleep(0.01)
        assert gate.launched == [["one"], ["two"]]
        assert (gate.landed, gate.queued) == ([], ["three"])
        gate.go.release()
        await until(lambda: len(gate.launched) == 3)
        assert gate.landed == [["one"]]
        gate.go.release(2)
        await until(lambda: len(gate.landed) == 3)
        assert len(lane_threads()) == 2

    assert gate.landed == [["one"], ["two"], ["three"]]
    assert lane_threads() == []
    assert lane.busy_s(gate) == 3.0  # the second waited behind the first, which is not its own time


async def test_shares_of_one_to_three_get_one_to_three_of_the_turns():
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    minor = Source("m", clock, diary, wanted=1000)
    major = Source("M", clock, diary, wanted=300)
    lane.attach(minor, share=1.0)
    lane.attach(major, share=3.0)
    async with running(lane):
        await until(lambda: major.delivered == 300)
        turns = [line[6] for line in diary if line.startswith("start")][:400]

    assert (turns.count("m"), turns.count("M")) == (100, 300)
    assert all(turns[first : first + 8].count("m") == 2 for first in range(0, 400, 8))


async def test_shares_are_shares_of_time_not_of_turns():
    """Training steps four times as long as batches get a fourth of the turns at equal shares."""
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    batches = Source("b", clock, diary, wanted=400, length_s=1.0)
    training = Source("t", clock, diary, wanted=1000, length_s=4.0)
    lane.attach(batches, share=1.0)
    lane.attach(training, share=1.0)
    async with running(lane):
        await until(lambda: batches.delivered == 400)
        turns = [line[6] for line in diary if line.startswith("start")][:500]

    assert turns.count("t") == pytest.approx(100, abs=1)


async def test_a_changed_share_counts_from_now_on():
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    first, second = (Source(name, clock, diary, wanted=100) for name in "fs")
    lane.attach(first, share=1.0)
    lane.attach(second, share=1.0)
    lane.set_share(second, 4.0)
    async with running(lane):
        await until(lambda: second.delivered == 100)

    turns = "".join(line[6] for line in diary if line.startswith("start"))
    assert turns[:100].count("f") == pytest.approx(20, abs=1)


async def test_a_source_that_was_idle_saves_up_no_credit():
    """After 100 turns of the other alone it gets half of what follows, not the next 100."""
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    busy, late = Source("b", clock, diary, wanted=100), Source("l", clock, diary, wanted=0)
    lane.attach(busy, share=1.0)
    lane.attach(late, share=1.0)
    async with running(lane):
        await until(lambda: busy.delivered == 100)
        diary.clear()
        busy.wanted, late.wanted = 120, 20
        lane.wake()
        await until(lambda: busy.delivered == 120 and late.delivered == 20)

    turns = "".join(line[6] for line in diary if line.startswith("start"))
    assert "lll" not in turns
    assert turns.count("l") == turns.count("b") == 20
    assert 9 <= turns[:20].count("l") <= 11


async def test_a_source_that_had_more_than_its_share_is_not_forgiven_for_a_pause():
    """One turn of 100 s, then nothing until the other has had ten of 1 s: its next comes when they are level."""
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    heavy = Source("h", clock, diary, wanted=1, length_s=100.0)
    light = Source("l", clock, diary, wanted=200)
    deliver = light._deliver

    def wake_heavy(turn: int, result: int) -> None:
        deliver(turn, result)
        heavy.wanted = 2 if turn >= 10 else 1

    light._deliver = wake_heavy
    lane.attach(heavy, share=1.0)
    lane.attach(light, share=1.0)
    await run_out(lane, heavy, light)
    turns = [line for line in diary if line.startswith("start")]
    assert turns.index("start h2") == pytest.approx(101, abs=1)


async def test_a_source_that_is_first_goes_before_all_others_whenever_it_is_due():
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    training, batches = Source("t", clock, diary, wanted=20), Source("b", clock, diary, wanted=10)
    lane.attach(training, share=100.0)
    lane.attach(batches, share=1.0, is_first=True)
    await run_out(lane, training, batches)
    assert "".join(line[6] for line in diary if line.startswith("start")) == "b" * 10 + "t" * 20


async def test_a_lane_inside_the_loop_needs_no_thread_and_keeps_the_same_order():
    diaries: list[list[str]] = [[], []]
    for diary, is_inline in zip(diaries, (True, False), strict=True):
        lane = Lane(clock=(clock := Clock()), is_inline=is_inline)
        sources = [Source(name, clock, diary, wanted=4, length_s=length_s) for name, length_s in (("a", 1), ("b", 3))]
        for source in sources:
            lane.attach(source, share=1.0)
        async with running(lane):
            assert len(lane_threads()) == (0 if is_inline else 1)
            await until(lambda sources=sources: all(source.delivered == 4 for source in sources))
    assert diaries[0] == diaries[1]
    assert len(diaries[0]) == 24


class Timer:
    """Due at a certain time of a clock that the test moves."""

    def __init__(self, due_s: float, clock: Clock) -> None:
        self.due_s, self.clock, self.asked, self.started_at_s = due_s, clock, 0, []

    def due_in_s(self, now_s: float, running: int) -> float:
        self.asked += 1
        return math.inf if self.started_at_s else self.due_s - now_s

    def start(self, now_s: float) -> Task:
        self.started_at_s.append(now_s)
        return Task(lambda: lambda: None, lambda result, seconds: None, lambda result: None)


async def test_the_alarm_asks_again_when_a_source_said_so():
    clock = Clock()
    source = Timer(clock.now_s + 0.002, clock)
    lane = Lane(clock=clock)
    lane.attach(source, share=1.0)
    async with running(lane):
        assert source.asked == 1
        clock.now_s += 0.002
        await until(lambda: source.started_at_s)
        assert source.started_at_s == [50.002]
        await asyncio.sleep(0.02)
        assert source.asked == 4  # at first, by the alarm, and around the delivery; then nothing is due


async def test_a_paused_lane_starts_nothing_and_goes_on_where_it_was():
    diary: list[str] = []
    lane = Lane(clock=(clock := Clock()))
    source = Source("a", clock, diary, wanted=1)
    lane.attach(source, share=1.0)
    lane.pause(True)
    async with running(lane):
        lane.wake()
        await asyncio.sleep(0)
        assert diary == []
        lane.pause(False)
        await until(lambda: source.delivered == 1)
        lane.pause(True)
        source.wanted = 2
        lane.wake()
        await asyncio.sleep(0)
        assert source.started == 1
        lane.pause(False)
        await until(lambda: source.delivered == 2)


class Broken:
    def __init__(self, where: str) -> None:
        self.where = where

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0

    def start(self, now_s: float) -> Task:
        return Task(self._launch, lambda result, seconds: None, lambda result: None)

    def _launch(self) -> Finish:
        if self.where == "launch":
            raise RuntimeError("the device caught fire at launch")
        return self._finish

    def _finish(self) -> None:
        raise RuntimeError("the device caught fire at finish")


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("where", ["launch", "finish"])
async def test_a_failing_task_ends_the_lane_with_its_error_and_without_its_thread(where, depth):
    lane = Lane(depth=depth)
    lane.attach(Broken(where), share=1.0)
    with pytest.raises(RuntimeError, match=f"the device caught fire at {where}"):
        await asyncio.wait_for(lane.run(), LONG_S)
    assert lane_threads() == []


@pytest.mark.parametrize("depth", [1, 2])
async def test_a_cancelled_lane_leaves_no_thread_even_in_the_middle_of_a_task(depth):
    gate = Gate(clock := Clock())
    lane = Lane(depth=depth, clock=clock)
    lane.attach(gate, share=1.0)
    gate.queued = ["one"]
    task = asyncio.create_task(lane.run())
    await until(lambda: gate.launched)
    assert len(lane_threads()) == depth
    task.cancel()
    gate.go.release()
    await asyncio.wait([task])

    assert task.cancelled()
    assert lane_threads() == []
    assert gate.landed == []  # nobody is told after the end


async def test_a_lane_that_does_not_run_yet_takes_no_turns():
    clock = Clock()
    lane, source = Lane(clock=clock), Source("a", clock, [], wanted=1)
    lane.attach(source, share=1.0)
    lane.wake()
    assert source.started == 0
    await run_out(lane, source)
    lane.wake()
    assert source.started == 1
