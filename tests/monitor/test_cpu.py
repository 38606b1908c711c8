"""Who has the cores, read from a /proc of our own making, and from the real one."""

import os
import sys

import pytest

from asyncplay.monitor import cpu

US, WORKER = 7, 8


@pytest.fixture
def proc(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu, "PROC", tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: US)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2}, raising=False)
    return tmp_path


def set_stat(proc, core_0: str, core_1: str, core_2: str) -> None:
    (proc / "stat").write_text(f"cpu  9 9 9 9\ncpu0 {core_0}\ncpu1 {core_1}\ncpu2 {core_2}\nintr 5 6\nctxt 7\n")


def set_process(proc, pid: int, ticks: tuple[int, int], waited_ns: list[int]) -> None:
    place = proc / str(pid)
    place.mkdir(exist_ok=True)
    (place / "stat").write_text(f"{pid} (a) b) c) S 1 1 1 0 -1 0 0 0 0 0 {ticks[0]} {ticks[1]} 0 0 20 0\n")
    (place / "schedstat").write_text(f"123 {waited_ns[0]} 5\n")
    for number, waited in enumerate(waited_ns):
        (place / "task" / str(number)).mkdir(parents=True, exist_ok=True)
        (place / "task" / str(number) / "schedstat").write_text(f"123 {waited} 5\n")


def test_the_cores_we_may_use_are_shared_out_between_us_and_the_others(proc):
    """user nice system idle iowait irq softirq steal: idle and iowait are nobody's."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    set_stat(proc, "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0")
    set_process(proc, 7, (0, 0), [0, 0])
    before = cpu.sample([7, 8], 0.0)
    set_stat(proc, "10 20 30 900 800 1 2 3 0 0", "500 0 0 0 0 0 0 0 0 0", "34 0 0 0 0 0 0 0 0 0")
    set_process(proc, 7, (15, 5), [300_000_000, 200_000_000])
    after = cpu.sample([7, 8], 1.0)

    found = cpu.usage(before, after)
    assert found.cores == 2
    assert found.own == pytest.approx(20 * tick_s)
    assert found.foreign == pytest.approx((100 - 20) * tick_s)
    assert found.waiting == pytest.approx(0.5)
    assert found.starved == pytest.approx(0.5 / (0.5 + 20 * tick_s))


def test_of_a_worker_only_its_first_thread_is_asked(proc):
    set_stat(proc, "0 0 0 0 0 0 0 0", "0", "0 0 0 0 0 0 0 0")
    for pid in (US, WORKER):
        set_process(proc, pid, (1, 1), [2_000_000_000, 1_000_000_000])
    own = cpu.sample([US, WORKER], 0.0).own
    assert (own[US].waited_s, own[WORKER].waited_s) == (3.0, 2.0)


def test_a_process_that_came_or_went_in_between_is_left_out(proc):
    set_stat(proc, "0 0 0 0 0 0 0 0", "0", "0 0 0 0 0 0 0 0")
    set_process(proc, 7, (1000, 0), [5])
    before = cpu.sample([7], 0.0)
    set_process(proc, 8, (1000, 0), [5])
    after = cpu.sample([8], 1.0)
    assert cpu.usage(before, after) == (2, 0.0, 0.0, 0.0)


def test_a_kernel_that_does_not_count_waiting_says_zero(proc):
    set_stat(proc, "0 0 0 0 0 0 0 0", "0", "0 0 0 0 0 0 0 0")
    set_process(proc, 7, (1, 1), [5])
    (proc / "7" / "task" / "0" / "schedstat").write_text("")
    assert cpu.sample([7], 0.0).own[7].waited_s == 0.0


def test_without_proc_nobody_knows(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu, "PROC", tmp_path / "nothing")
    assert cpu.sample([1], 0.0) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc")
def test_the_real_one_knows_us():
    before = cpu.sample([os.getpid()], 0.0)
    sum(range(1_000_000))
    after = cpu.sample([os.getpid(), 2**22 + 1], 1.0)
    assert list(after.own) == [os.getpid()]
    assert after.own[os.getpid()].run_s >= before.own[os.getpid()].run_s > 0
    assert after.cores == len(os.sched_getaffinity(0))
