"""Every judgement with the facts that bring it about, and one real examination."""

import json
import math
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from asyncplay import cli
from asyncplay.config.sections import DeviceSettings
from asyncplay.doctor import machine, timing
from asyncplay.doctor.accelerator import compare
from asyncplay.doctor.devices import judge_choice, judge_copies, look_at_accelerator
from asyncplay.doctor.finding import Finding, as_json, as_text, is_broken
from asyncplay.doctor.neighbours import Busy, judge_neighbours, watch_neighbours
from asyncplay.model.backends.sim import SimBackend
from asyncplay.model.device import BackendChoice, BackendSpeed, Candidate, available, rows_per_s
from asyncplay.payloads import Estimates, Positions


def sample(rows: int = 8) -> Positions:
    legal = np.zeros(rows, np.int32)
    return Positions(np.zeros((rows, 8), np.uint8), legal, np.arange(rows + 1, dtype=np.int32))


@pytest.mark.parametrize(
    ("present", "allowed", "quota", "usable", "grade"),
    [
        (8, 8, math.inf, 8, "fine"),
        (8, 2, math.inf, 2, "slow"),
        (8, 8, 1.5, 1, "slow"),
        (8, 4, 6.0, 4, "slow"),
        (8, 8, 0.2, 1, "slow"),
    ],
)
def test_usable_cores_are_the_least_of_affinity_and_quota(present, allowed, quota, usable, grade):
    found = machine.judge_cores(present, allowed, quota)
    assert (found.figures["usable"], found.grade) == (usable, grade)
    assert found.words.startswith(f"{usable} usable of {present}")


def test_the_cure_of_a_quota_is_another_than_that_of_affinity():
    assert "quota" in machine.judge_cores(8, 8, 2.0).cure
    assert "taskset" in machine.judge_cores(8, 2, math.inf).cure


@pytest.mark.parametrize(
    ("environment", "grade", "cure"),
    [
        ({}, "fine", ""),
        ({"OMP_NUM_THREADS": "2"}, "fine", ""),
        ({"OMP_NUM_THREADS": "3"}, "slow", "unset OMP_NUM_THREADS"),
        ({"OPENBLAS_NUM_THREADS": "64"}, "slow", "unset OPENBLAS_NUM_THREADS"),
        ({"OMP_WAIT_POLICY": "PASSIVE"}, "fine", ""),
        ({"OMP_WAIT_POLICY": "active"}, "slow", "unset OMP_WAIT_POLICY"),
        ({"OMP_PROC_BIND": "true"}, "slow", "unset OMP_PROC_BIND"),
        ({"NUMBA_DISABLE_JIT": "1"}, "broken", "unset NUMBA_DISABLE_JIT"),
        ({"NUMBA_DISABLE_JIT": "0"}, "fine", ""),
    ],
)
def test_a_thread_setting_that_hurts_is_named_with_its_cure(environment, grade, cure):
    (found,) = machine.judge_threads(environment, usable=2)
    assert (found.grade, found.cure) == (grade, cure)


def test_several_wrong_settings_are_several_findings():
    found = machine.judge_threads({"OMP_NUM_THREADS": "9", "OMP_WAIT_POLICY": "ACTIVE"}, usable=2)
    assert [finding.grade for finding in found] == ["slow", "slow"]


def test_too_few_open_files_break_a_run_and_the_cure_names_the_number():
    """64 of the run and 16 of each worker: 2 workers want 96, 100 want 1,664."""
    assert machine.judge_open_files(96, 96, workers=2).grade == "fine"
    assert machine.judge_open_files(math.inf, math.inf, workers=1000).grade == "fine"
    short = machine.judge_open_files(1024, math.inf, workers=100)
    assert (short.grade, short.cure) == ("broken", "ulimit -n 1664, or fewer workers")
    assert "root" in machine.judge_open_files(1024, 1024, workers=100).cure


@pytest.mark.parametrize(("free_bytes", "grade"), [(1 << 20, "broken"), (1 << 30, "slow"), (3 << 30, "fine")])
def test_little_room_slows_and_hardly_any_breaks(free_bytes, grade):
    assert machine.judge_disk(Path("runs"), free_bytes).grade == grade


@pytest.mark.parametrize(
    ("is_terminal", "term", "size", "encoding", "grade"),
    [
        (True, "xterm-256color", (120, 40), "utf-8", "fine"),
        (True, "xterm", (40, 10), "utf-8", "slow"),
        (True, "xterm", (120, 40), "ascii", "slow"),
        (True, "dumb", (40, 10), "ascii", "fine"),
        (False, "", (40, 10), "ascii", "fine"),
    ],
)
def test_a_terminal_matters_only_where_there_is_one(is_terminal, term, size, encoding, grade):
    assert machine.judge_terminal(is_terminal, {"TERM": term}, os.terminal_size(size), encoding).grade == grade


def test_windows_breaks_a_run():
    assert machine.judge_system("win32", (3, 12)).grade == "broken"
    assert machine.judge_system("linux", (3, 12)).grade == "fine"


def test_neighbours_are_named_greediest_first_and_hidden_ones_counted():
    found = judge_neighbours([Busy(7, "small", 0.06), Busy(8, "large", 0.9), Busy(9, "idle", 0.0)], 0.5, 2)
    assert found.grade == "slow"
    assert found.words == "others take 1.46 of 2 cores: large (8) 0.90, small (7) 0.06, processes out of sight 0.50"
    assert judge_neighbours([Busy(7, "small", 0.06)], 0.1, 2).grade == "fine"


def test_watching_the_neighbours_leaves_ourselves_out():
    busy, _ = watch_neighbours(window_s=0.05)
    assert busy
    assert os.getpid() not in [process.pid for process in busy]


def test_a_slow_disk_has_a_cure_and_a_quick_one_needs_none():
    assert timing.judge_sync([0.1, 0.2, 90.0], Path("runs")).grade == "fine"
    slow = timing.judge_sync([30.0, 31.0, 90.0], Path("runs"))
    assert (slow.grade, slow.figures) == ("slow", {"median_ms": 31.0, "worst_ms": 90.0})
    assert "durability" in slow.cure


def test_a_worker_that_never_speaks_breaks_a_run():
    assert timing.judge_spawn(math.inf).grade == "broken"
    assert timing.judge_spawn(9.0).grade == "slow"
    assert timing.judge_spawn(0.4).grade == "fine"
    assert timing.judge_round_trip(5000.0).grade == "slow"


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path):
    assert machine.nearest(tmp_path / "a" / "b") == tmp_path


def test_a_folder_that_cannot_be_written_breaks_a_run():
    assert machine.judge_disk(Path("runs"), 3 << 30, is_writable=False).grade == "broken"


def test_copies_are_judged_by_which_is_faster():
    assert judge_copies(20.0, 8.0).grade == "fine"
    assert judge_copies(8.0, 20.0).grade == "slow"


def test_all_backends_are_told_with_their_speed():
    choice = BackendChoice(
        (BackendSpeed(Candidate("onnx-fp32", 2), 256, 2000.4), BackendSpeed(Candidate("torch-cpu", 1), 256, 1000.0))
    )
    found = judge_choice(choice, "mlp")
    assert found.figures == {"onnx-fp32 x2": 2000, "torch-cpu x1": 1000}


class Clock:
    """A device's time: it passes only while somebody sleeps or the host works."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_two_batches_in_flight_hide_the_hosts_share():
    """A batch of 8 takes 1 s of the host, 1 + 8 / 8 of the device: 3 s alone; of two in flight the second's host time
    passes while the device works on the first, so 4 batches take 1 + 4 * 2 s at best."""
    clock = Clock()
    backend = SimBackend(
        DeviceSettings(sim_device_ms=1000.0, sim_host_ms=1000.0, sim_rows_per_s=8.0),
        players=2,
        clock=clock,
        sleep=clock.sleep,
    )
    alone = rows_per_s(backend, sample(), 1, budget_s=20.0, clock=clock)
    paired = rows_per_s(backend, sample(), 2, budget_s=20.0, clock=clock)
    assert alone == pytest.approx(8 / 3)
    assert paired == pytest.approx(8 * 4 / 9)


def test_an_accelerator_is_told_by_its_curve_and_its_flights():
    backend = SimBackend(DeviceSettings(sim_device_ms=0.0, sim_host_ms=0.0, sim_rows_per_s=1e9), players=2)
    curve, flights = look_at_accelerator("sim", backend, sample())
    assert list(curve.figures) == ["16", "64", "256", "1024", "4096"]
    assert set(flights.figures) == {"one", "two"}


def test_json_and_text_tell_the_same_findings():
    found = [Finding("cores", "fine", "2 usable of 2"), Finding("disk", "broken", "full", "make room")]
    told = json.loads(as_json(found))
    assert told["broken"] is True
    assert [one["cure"] for one in told["findings"]] == ["", "make room"]
    assert as_text(found).splitlines() == [
        "fine    cores  2 usable of 2",
        "broken  disk   full",
        "               cure: make room",
    ]
    assert not is_broken(found[:1])


def test_what_would_break_a_run_is_exit_code_3(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=0))
    assert cli.main(["doctor", "--json", "--run", str(tmp_path)]) == 3
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told["findings"] if one["grade"] == "broken"] == ["disk room"]


@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_whole_examination_measures_every_part_of_this_machine(capsys, tmp_path):
    status = cli.main(["doctor", "--json", "--run", str(tmp_path)])
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert status == (3 if any(one["grade"] == "broken" for one in told.values()) else 0)
    assert {"system", "cores", "other processes", "threads", "open files", "disk room", "terminal", "kernels"} <= set(
        told
    )
    assert told["worker start"]["figures"]["seconds"] > 0
    assert told["pipe"]["figures"]["median_us"] > 0
    assert told["disk sync"]["figures"]["median_ms"] > 0
    assert min(told["devices"]["figures"].values()) > 0


class Off:
    """A backend whose values are off by a little."""

    name = "cuda"
    depth = 1

    def __init__(self, error: float) -> None:
        self._error = error

    def launch(self, positions):
        priors = np.ones(len(positions.legal), np.float32)
        values = np.full((len(positions.features), 2), self._error, np.float32)
        return lambda: Estimates(priors, values, 0)


@pytest.mark.parametrize(("error", "grade"), [(0.0, "fine"), (1e-4, "fine"), (0.01, "broken"), (math.nan, "broken")])
def test_a_device_that_answers_otherwise_than_a_cpu_is_broken(error, grade):
    assert compare(Off(error), Off(0.0), sample()).grade == grade


@pytest.mark.process
@pytest.mark.parametrize("name", ["cpu", "sim"])
def test_a_device_can_be_tried_out_for_a_report(name, capsys):
    assert cli.main(["doctor", "--device", name, "--seconds", "3", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found["software"]["figures"]["torch"]
    assert any(key.endswith("answers") for key in found)
    assert any(key.endswith("batches") for key in found)
    assert found["play"]["figures"]["rows_per_s"] > 0
    assert found["play"]["figures"]["lost"] == 0


@pytest.mark.skipif(available("cuda"), reason="this machine has one")
def test_a_device_that_is_not_there_is_one_line(capsys):
    assert cli.main(["doctor", "--device", "cuda"]) == 2
    assert capsys.readouterr().err.startswith("asyncplay: --device cuda: torch finds no such device here")
