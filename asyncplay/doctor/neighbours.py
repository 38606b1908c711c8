"""Which other processes take CPU time on this machine, and how many cores they leave to a run."""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import psutil

from asyncplay.doctor.finding import Finding

WINDOW_S = 0.7
WORTH_A_WORD = 0.25  # cores


class Busy(NamedTuple):
    """A process and the cores it took."""

    pid: int
    name: str
    cores: float


def watch_neighbours(window_s: float = WINDOW_S) -> tuple[list[Busy], float]:
    """Watch all processes but this one and its children for a while.

    Return those that can be seen, and the cores taken by processes that cannot.
    """
    family = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
    machine_s, spent_s, started_s = _machine_s(), _spent_s(), time.perf_counter()
    time.sleep(window_s)
    watched_s = time.perf_counter() - started_s
    seen = [
        Busy(pid, name, (later_s - spent_s[pid, name]) / watched_s)
        for (pid, name), later_s in _spent_s().items()
        if (pid, name) in spent_s
    ]
    hidden = (_machine_s() - machine_s) / watched_s - sum(process.cores for process in seen)
    return [process for process in seen if process.pid not in family], max(hidden, 0.0)


def judge_neighbours(busy: Sequence[Busy], hidden_cores: float, usable: int) -> Finding:
    """Judge what ``watch_neighbours`` has seen against the cores this process may use."""
    taken = sum(process.cores for process in busy) + hidden_cores
    top = sorted(busy, key=lambda process: -process.cores)[:3]
    named = [f"{process.name} ({process.pid}) {process.cores:.2f}" for process in top if process.cores >= 0.05]
    if hidden_cores >= WORTH_A_WORD:
        named.append(f"processes out of sight {hidden_cores:.2f}")
    figures = {"cores_taken": round(taken, 2), "hidden_cores": round(hidden_cores, 2)}
    words = f"others take {taken:.2f} of {usable} cores" + (f": {', '.join(named)}" if named else "")
    if taken < WORTH_A_WORD:
        return Finding("other processes", "fine", words, figures=figures)
    return Finding("other processes", "slow", words, "stop them, or use fewer cores: --workers N", figures)


def _machine_s() -> float:
    """CPU seconds of all cores since the machine started, by any process, and those a hypervisor gave to others."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "steal", 0.0))


def _spent_s() -> dict[tuple[int, str], float]:
    """CPU seconds of each process that can be read, by pid and name."""
    spent = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        if (times := process.info["cpu_times"]) is not None:
            spent[process.pid, process.info["name"]] = times.user + times.system
    return spent
