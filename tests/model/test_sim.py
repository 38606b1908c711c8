import subprocess
import sys

import numpy as np
import pytest
from model_cases import MLP, random_positions

from asyncplay.config.sections import DeviceSettings
from asyncplay.model.backends.sim import SimBackend
from asyncplay.wire.checksum import sim_answers


class FakeTime:
    """A clock that only moves when somebody sleeps."""

    def __init__(self):
        self.now_s = 100.0

    def clock(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s


def simulated(device: DeviceSettings) -> tuple[SimBackend, FakeTime]:
    time = FakeTime()
    return SimBackend(device, MLP.players, 5, clock=time.clock, sleep=time.sleep), time


def test_a_batch_takes_host_and_device_time_and_its_rows():
    """.001 + .004 + 100 / 50,000 = .007 s."""
    backend, time = simulated(DeviceSettings(sim_device_ms=4.0, sim_host_ms=1.0, sim_rows_per_s=50_000))
    backend.launch(random_positions(MLP, 100))()
    assert time.now_s == pytest.approx(100.007)


def test_two_batches_in_flight_hide_the_host():
    """The second begins when the device is free: .001 + 2 * (.004 + .002)."""
    backend, time = simulated(DeviceSettings(sim_device_ms=4.0, sim_host_ms=1.0, sim_rows_per_s=50_000))
    first, second = (backend.launch(random_positions(MLP, 100)) for _ in range(2))
    first()
    assert time.now_s == pytest.approx(100.007)
    second()
    assert time.now_s == pytest.approx(100.013)


def test_a_finished_batch_does_not_wait():
    backend, time = simulated(DeviceSettings(sim_device_ms=4.0, sim_host_ms=0.0, sim_rows_per_s=50_000))
    finish = backend.launch(random_positions(MLP, 100))
    time.now_s += 1
    finish()
    assert time.now_s == 101.0


def test_answers_are_the_checksum_and_carry_the_version_at_launch():
    backend, _ = simulated(DeviceSettings(sim_device_ms=4.0, sim_host_ms=0.0, sim_rows_per_s=50_000))
    positions = random_positions(MLP, 10)
    before = backend.launch(positions)
    backend.swap(backend.prepare({}, 6))
    after = backend.launch(positions)
    priors, values = sim_answers(positions.features, positions.offsets, MLP.players)
    estimates = before()
    np.testing.assert_array_equal(estimates.priors, priors)
    np.testing.assert_array_equal(estimates.values, values)
    assert (estimates.version, after().version) == (5, 6)


def test_two_batches_are_in_flight_as_on_an_accelerator():
    backend, _ = simulated(DeviceSettings(sim_device_ms=4.0, sim_host_ms=0.0, sim_rows_per_s=50_000))
    assert backend.depth == 2


@pytest.mark.process
@pytest.mark.parametrize("module", ["backends.sim", "backend", "device", "shape"])
def test_torch_is_not_loaded_by(module):
    code = f"import sys, asyncplay.model.{module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
