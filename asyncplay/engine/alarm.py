"""A timer of the event loop that is finer than a millisecond, which is as fine as both loops' own timers are."""

import asyncio
import ctypes
import math
import os
import struct
import sys
from collections.abc import Callable

_CLOCK_MONOTONIC = 1
_TFD_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC if sys.platform == "linux" else 0
_LIBC = ctypes.CDLL(None)
_SPEC = struct.Struct("qqqq")  # interval s, ns; value s, ns


class Alarm:
    """Calls back once, the given time after ``set``; setting it anew moves it. ``close`` at the end."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._is_set = False
        self._timer = _open_timer()
        if self._timer is not None:
            self._loop.add_reader(self._timer, self._rang)

    def set(self, delay_s: float) -> None:
        """Ring after ``delay_s`` > 0; infinity means never."""
        if delay_s == math.inf and not self._is_set:
            return
        self._is_set = delay_s < math.inf
        if self._timer is None:
            self._set_handle(delay_s)
            return
        seconds, rest = divmod(max(delay_s, 1e-9), 1.0) if math.isfinite(delay_s) else (0.0, 0.0)
        _LIBC.timerfd_settime(self._timer, 0, _SPEC.pack(0, 0, int(seconds), int(rest * 1e9)), None)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if self._timer is not None:
            self._loop.remove_reader(self._timer)
            os.close(self._timer)
            self._timer = None

    def _set_handle(self, delay_s: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._loop.call_later(delay_s, self._rang_late) if math.isfinite(delay_s) else None

    def _rang_late(self) -> None:
        self._is_set = False
        self._ring()

    def _rang(self) -> None:
        assert self._timer is not None, "a closed alarm rang"
        try:
            os.read(self._timer, 8)
        except BlockingIOError:
            return  # it was moved between ringing and being heard
        self._is_set = False
        self._ring()


def _open_timer() -> int | None:
    """A timerfd, which Python itself offers from 3.13 on; None where the system has none."""
    if sys.platform != "linux":
        return None
    descriptor = _LIBC.timerfd_create(_CLOCK_MONOTONIC, _TFD_FLAGS)
    return descriptor if descriptor >= 0 else None
