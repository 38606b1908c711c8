"""A simulated accelerator: it answers a checkable hash at the moment a real one would have answered.

Never imports torch. Figures measured with it are to be called simulated.
"""

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from asyncplay.config.sections import DeviceSettings
from asyncplay.model.backend import Prepared
from asyncplay.payloads import Array, Estimates, Positions
from asyncplay.wire.checksum import sim_answers

PR_SET_TIMERSLACK = 29
_sharpened = threading.local()


def done_at(device: DeviceSettings, launched_s: float, free_s: float, rows: int) -> float:
    """When a batch is done that was launched at ``launched_s``, on a device that is free from ``free_s`` on."""
    begun_s = max(launched_s + device.sim_host_ms / 1000, free_s)
    return begun_s + device.sim_device_ms / 1000 + rows / device.sim_rows_per_s


class SimBackend:
    """Takes a second batch while it works on the first, as an accelerator does: the host's share of a batch, be it
    only the hand-over between threads, can always be hidden behind the device's."""

    name = "sim"
    depth = 2

    def __init__(
        self,
        device: DeviceSettings,
        players: int,
        version: int = 0,
        *,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._device = device
        self._players = players
        self._version = version
        self._clock = clock
        self._sleep = sleep or sharp_sleep
        self._free_s = 0.0

    def launch(self, positions: Positions) -> "Promise":
        """Hashing the rows takes time on the host, which the simulated device does not count."""
        self._free_s = done_at(self._device, self._clock(), self._free_s, len(positions.features))
        answers = sim_answers(positions.features, positions.offsets, self._players)
        return Promise(self._free_s, Estimates(*answers, self._version), self._clock, self._sleep)

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        return Prepared(version, None)

    def swap(self, prepared: Prepared) -> None:
        self._version = prepared.version


@dataclass(frozen=True, slots=True)
class Promise:
    """An answer that is complete at ``due_s``; a call before that sleeps until then."""

    due_s: float
    estimates: Estimates
    clock: Callable[[], float]
    sleep: Callable[[float], None]

    def __call__(self) -> Estimates:
        if (left_s := self.due_s - self.clock()) > 0:
            self.sleep(left_s)
        return self.estimates


def sharp_sleep(duration_s: float) -> None:
    """Sleep without the 50 us that Linux may add to a timer."""
    if sys.platform == "linux" and not getattr(_sharpened, "done", False):
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
        _sharpened.done = True
    time.sleep(duration_s)
