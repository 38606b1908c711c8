"""The lane as an exactly repeatable run uses it: on the loop, with one source before the others."""

import asyncio
import math
import threading
from contextlib import asynccontextmanager

import pytest

from asyncplay.engine.lane import Finish, Lane, Task


class Source:
    """Wants a number of turns and writes down which it got, on which thread."""

    def __init__(self, name: str, diary: list[str], wanted: int) -> None:
        self.name, self.diary, self.left = name, diary, wanted
        self.threads: set[int] = set()
        self.has_all = asyncio.Event()

    def due_in_s(self, now_s: float, running: int) -> float:
        return 0.0 if self.left else math.inf

    def start(self, now_s: float) -> Task:
        self.left -= 1
        return Task(self._launch, lambda result, seconds: None, self._deliver)

    def _launch(self) -> Finish:
        self.threads.add(threading.get_ident())
        self.diary.append(self.name)
        return lambda: None

    def _deliver(self, result: None) -> None:
        if self.left == 0:
            self.has_all.set()


@asynccontextmanager
async def running(lane: Lane):
    task = asyncio.create_task(lane.run())
    yield
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("is_inline", [True, False])
async def test_the_first_source_goes_before_the_others_whatever_the_shares(is_inline):
    diary: list[str] = []
    lane, other, first = Lane(is_inline=is_inline), Source("o", diary, 3), Source("f", diary, 3)
    lane.attach(other, share=100.0)
    lane.attach(first, share=0.01, is_first=True)
    async with running(lane):
        await other.has_all.wait()
    assert diary == list("fffooo")


async def test_an_inline_lane_works_on_the_loops_own_thread():
    lane, source = Lane(is_inline=True), Source("s", [], 5)
    lane.attach(source, share=1.0)
    async with running(lane):
        await source.has_all.wait()
    assert source.threads == {threading.get_ident()}


async def test_the_loop_goes_on_between_two_tasks_of_an_inline_lane():
    diary: list[str] = []
    lane, source = Lane(is_inline=True), Source("s", diary, 3)
    lane.attach(source, share=1.0)

    def tick() -> None:
        diary.append("t")
        asyncio.get_running_loop().call_soon(tick) if len(diary) < 100 else None

    async with running(lane):
        tick()
        await source.has_all.wait()
    assert "ss" not in "".join(diary)


async def test_a_failing_task_ends_an_inline_lane():
    class Failing(Source):
        def _launch(self) -> Finish:
            raise ArithmeticError("diverged")

    lane = Lane(is_inline=True)
    lane.attach(Failing("f", [], 1), share=1.0)
    with pytest.raises(ArithmeticError, match="diverged"):
        await lane.run()
