import numpy as np
import pytest
import torch
from model_cases import MLP, random_positions, shaken

from asyncplay.config.sections import DeviceSettings
from asyncplay.errors import AsyncplayError
from asyncplay.model.backend import Prepared
from asyncplay.model.device import (
    BackendChoice,
    BackendSpeed,
    Candidate,
    candidates,
    choose,
    forward_limit,
    open_backend,
    resize,
    training_device,
)
from asyncplay.model.nets import build, snapshot
from asyncplay.payloads import Estimates

SAMPLE = random_positions(MLP, 50)


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class TimedBackend:
    """Takes ``fixed_s`` + ``row_s`` for each row, on a clock of its own."""

    name = "timed"

    def __init__(self, clock, fixed_s, row_s, depth=1):
        self.clock, self.fixed_s, self.row_s, self.depth = clock, fixed_s, row_s, depth
        self.batches = self.in_flight = self.most_in_flight = 0

    def launch(self, positions):
        self.batches += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.clock.now_s += self.fixed_s + self.row_s * len(positions.features)
        return self.finish

    def finish(self):
        self.in_flight -= 1
        return Estimates(np.empty(0, np.float32), np.empty((0, 2), np.float32), 0)

    def prepare(self, weights, version):
        return Prepared(version, None)

    def swap(self, prepared):
        pass


def test_the_fastest_candidate_wins_and_all_figures_are_kept():
    """50 rows in .01 + 50 * .001 = .06 s, and in .025 s on two threads."""
    clock = Clock()
    backends = {
        Candidate("onnx-fp32", 1): TimedBackend(clock, 0.01, 0.001),
        Candidate("onnx-fp32", 2): TimedBackend(clock, 0.0, 0.0005),
    }
    choice = choose(backends, backends.__getitem__, SAMPLE, budget_s=3, clock=clock)
    assert choice.best == Candidate("onnx-fp32", 2)
    assert [figure.rows_per_s for figure in choice.figures] == pytest.approx([2000, 50 / 0.06])
    assert clock.now_s == pytest.approx(3, rel=0.1)  # the budget, and the batches begun within it


def test_a_machine_that_is_slow_for_a_while_misleads_nobody():
    """For half of the time everything takes .1 s longer: not for the one alone that is measured first."""

    class Slowed(TimedBackend):
        def launch(self, positions):
            self.clock.now_s += 0.1 if self.clock.now_s < 1.5 else 0.0
            return super().launch(positions)

    clock = Clock()
    backends = {
        Candidate("onnx-fp32", 2): Slowed(clock, 0.05, 0.0),
        Candidate("torch-cpu", 2): Slowed(clock, 0.08, 0.0),
    }
    assert choose(backends, backends.__getitem__, SAMPLE, budget_s=3, clock=clock).best == Candidate("onnx-fp32", 2)


def test_a_slow_candidate_is_measured_once_even_beyond_the_budget():
    clock = Clock()
    backend = TimedBackend(clock, 10, 0)
    choice = choose([Candidate("torch-cpu", 1)], lambda _: backend, SAMPLE, budget_s=1, clock=clock)
    assert choice.rows_per_s == pytest.approx(5)
    assert backend.batches == 3  # one to warm up, then one run of two


def test_an_accelerator_is_measured_with_its_depth_in_flight():
    clock = Clock()
    backend = TimedBackend(clock, 0.1, 0, depth=2)
    choose([Candidate("cuda", 1)], lambda _: backend, SAMPLE, budget_s=1, clock=clock)
    assert (backend.most_in_flight, backend.in_flight) == (2, 0)


def test_the_forward_limit_looks_at_every_batch_size():
    """.01 + n * .001: 1000 rows take 1.01 s."""
    clock = Clock()
    options = [Candidate("torch-cpu", 1)]
    limit = forward_limit(lambda _: TimedBackend(clock, 0.01, 0.001), options, SAMPLE, [10, 1000], clock=clock)
    assert [(figure.rows, figure.rows_per_s) for figure in limit.figures] == [
        (1000, pytest.approx(1000 / 1.01)),
        (10, pytest.approx(500)),
    ]


def test_the_report_has_a_line_for_each_candidate():
    fast, slow = BackendSpeed(Candidate("cuda", 1), 256, 123456.7), BackendSpeed(Candidate("onnx-fp32", 2), 256, 4100.2)
    assert BackendChoice((fast, slow)).report() == [
        "cuda: 123,457 rows/s at 256",
        "onnx-fp32 x2: 4,100 rows/s at 256",
    ]


def test_a_resized_sample_repeats_its_rows():
    sample = random_positions(MLP, 3)
    bigger = resize(sample, 8)
    assert len(bigger.offsets) == 9
    for row in range(8):
        old = row % 3
        np.testing.assert_array_equal(bigger.features[row], sample.features[old])
        np.testing.assert_array_equal(
            bigger.legal[bigger.offsets[row] : bigger.offsets[row + 1]],
            sample.legal[sample.offsets[old] : sample.offsets[old + 1]],
        )


def test_auto_means_what_the_machine_has(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert candidates("auto", (1, 2)) == [
        Candidate("cuda", 1),
        Candidate("torch-cpu", 1),
        Candidate("torch-cpu", 2),
        Candidate("onnx-fp32", 1),
        Candidate("onnx-fp32", 2),
    ]


@pytest.mark.parametrize(("name", "missing"), [("cuda", "CUDA device"), ("mps", "Apple GPU that torch can use")])
def test_a_missing_device_is_one_clear_line(monkeypatch, name, missing):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(AsyncplayError) as refused:
        open_backend(name, MLP, {}, 0, threads=1)
    assert str(refused.value) == f"device.backend is '{name}', but this machine has no {missing}; use 'auto'"


def test_the_simulated_accelerator_is_opened_by_name_but_never_chosen_by_auto():
    speed = DeviceSettings(sim_device_ms=1.0, sim_host_ms=1.0, sim_rows_per_s=1e6)
    backend = open_backend("sim", MLP, {}, 7, threads=1, sim=speed)
    assert (backend.name, backend.launch(SAMPLE)().version) == ("sim", 7)
    assert "sim" not in {candidate.backend for candidate in candidates("auto", (1,))}


@pytest.mark.parametrize(
    ("name", "device"),
    [("cuda", "cuda"), ("mps", "mps"), ("torch-cpu", "cpu"), ("onnx-fp32", "cpu"), ("sim", "cpu")],
)
def test_training_happens_on_the_accelerator_if_there_is_one(name, device):
    assert training_device(name) == device


def test_an_unknown_backend_is_told_the_known_ones():
    with pytest.raises(AsyncplayError, match=r"device\.backend is 'gpu', must be one of auto, cuda, mps"):
        candidates("gpu", (1,))


def test_real_backends_can_be_measured():
    weights = shaken(snapshot(build(MLP, 0)))
    options = [Candidate("torch-cpu", 1), Candidate("onnx-fp32", 1)]
    choice = choose(
        options,
        lambda option: open_backend(option.backend, MLP, weights, 0, option.threads),
        SAMPLE,
        budget_s=0.1,
    )
    assert {figure.candidate for figure in choice.figures} == set(options)
    assert choice.rows_per_s > 1000
