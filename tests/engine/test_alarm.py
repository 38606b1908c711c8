"""The fine timer: the kernel's where there is one, the loop's own elsewhere."""

import asyncio
import ctypes
import math
import os
import sys
import time

import pytest

from asyncplay.engine import alarm as module
from asyncplay.engine.alarm import Alarm

SOON_S, NEVER_S, LONG_S = 0.004, 60.0, 0.05

needs_timerfd = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's timer is a Linux one")


@pytest.fixture(params=[pytest.param("timerfd", marks=needs_timerfd), "fallback"])
def either(request, monkeypatch):
    if request.param == "fallback":
        monkeypatch.setattr(module, "_open_timer", lambda: None)


both = pytest.mark.usefixtures("either")


class Bell:
    """An alarm and when it rang, in seconds since it was made."""

    def __init__(self) -> None:
        self.rings: list[float] = []
        self._began_s = time.monotonic()
        self._heard = asyncio.Event()
        self.alarm = Alarm(self._ring)

    def _ring(self) -> None:
        self.rings.append(time.monotonic() - self._began_s)
        self._heard.set()

    async def __aenter__(self) -> "Bell":
        return self

    async def __aexit__(self, *error: object) -> None:
        self.alarm.close()

    async def rang(self, times: int = 1) -> None:
        while len(self.rings) < times:
            self._heard.clear()
            await asyncio.wait_for(self._heard.wait(), NEVER_S)


@both
async def test_it_rings_once_after_its_time():
    async with Bell() as bell:
        bell.alarm.set(SOON_S)
        await bell.rang()
        await asyncio.sleep(3 * SOON_S)
        assert len(bell.rings) == 1
        assert bell.rings[0] >= SOON_S - 0.001


@both
async def test_it_can_be_set_again_after_it_rang():
    async with Bell() as bell:
        for turn in range(1, 4):
            bell.alarm.set(SOON_S)
            await bell.rang(turn)
        assert len(bell.rings) == 3


@both
async def test_it_rings_however_short_the_time_is():
    async with Bell() as bell:
        for turn, delay_s in enumerate((1e-12, 1e-9, 1.4e-9, 1e-6), start=1):
            bell.alarm.set(delay_s)
            await bell.rang(turn)
        assert len(bell.rings) == 4


@both
async def test_moved_to_never_it_does_not_ring():
    async with Bell() as bell:
        bell.alarm.set(SOON_S)
        bell.alarm.set(math.inf)
        await asyncio.sleep(5 * SOON_S)
        assert bell.rings == []


@both
async def test_moved_later_it_rings_once_and_later():
    async with Bell() as bell:
        bell.alarm.set(SOON_S)
        bell.alarm.set(LONG_S)
        await bell.rang()
        assert bell.rings[0] >= LONG_S - 0.001
        await asyncio.sleep(2 * SOON_S)
        assert len(bell.rings) == 1


@both
async def test_moved_earlier_it_rings_once_and_earlier():
    async with Bell() as bell:
        bell.alarm.set(NEVER_S)
        bell.alarm.set(SOON_S)
        await bell.rang()
        assert bell.rings[0] < NEVER_S / 2
        await asyncio.sleep(2 * SOON_S)
        assert len(bell.rings) == 1


@needs_timerfd
async def test_moved_between_ringing_and_being_heard_it_keeps_quiet_and_can_still_be_stopped():
    """The loop may have seen the old time run out already when the new one is set."""
    async with Bell() as bell:
        bell.alarm.set(NEVER_S)
        bell.alarm._rang()
        assert bell.rings == []
        bell.alarm.set(math.inf)
        await asyncio.sleep(3 * SOON_S)
        assert bell.rings == []


@both
async def test_closed_it_does_not_ring_and_gives_its_descriptor_back():
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    bell = Bell()
    bell.alarm.set(SOON_S)
    bell.alarm.close()
    await asyncio.sleep(3 * SOON_S)
    assert bell.rings == []
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == before


@needs_timerfd
async def test_the_kernels_timer_is_finer_than_a_millisecond():
    """By what the kernel says is left: when a busy machine lets us hear the bell is its own affair."""
    left = (ctypes.c_long * 4)()  # interval s, ns; value s, ns
    async with Bell() as bell:
        for turn, delay_s in enumerate((0.0003, 0.00005), start=1):
            bell.alarm.set(delay_s)
            assert ctypes.CDLL(None).timerfd_gettime(bell.alarm._timer, left) == 0
            assert list(left)[:3] == [0, 0, 0]
            assert left[3] <= delay_s * 1e9
            await bell.rang(turn)
