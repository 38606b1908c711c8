"""How the cores are used: by this run, by other processes, and how long our threads wait for one. Only on Linux."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class Process(NamedTuple):
    """Of one process, since it began."""

    run_s: float  # on a core
    waited_s: float  # ready to run, without one


class Times(NamedTuple):
    """One sample of the machine."""

    at_s: float
    busy_s: float  # of the cores that we may use, by any process
    cores: int
    own: Mapping[int, Process]


class Usage(NamedTuple):
    """Between two samples, in cores: 1.5 is one core and half of another."""

    cores: int
    own: float
    foreign: float
    waiting: float  # threads of ours that were ready to run

    @property
    def starved(self) -> float:
        """The part of what we wanted of the cores that we did not get."""
        return self.waiting / max(self.own + self.waiting, 1e-9)


def sample(pids: Iterable[int], now_s: float) -> Times | None:
    """Return None where there is no /proc."""
    if not (PROC / "stat").exists():
        return None
    cores = os.sched_getaffinity(0)
    return Times(now_s, _busy_s(cores), len(cores), {pid: times for pid in pids if (times := _process(pid))})


def usage(before: Times, after: Times) -> Usage:
    """Processes that began or ended in between count as foreign: their times are not known."""
    seconds = max(after.at_s - before.at_s, 1e-9)
    both = before.own.keys() & after.own.keys()
    own_s = sum(max(after.own[pid].run_s - before.own[pid].run_s, 0.0) for pid in both)
    waited_s = sum(max(after.own[pid].waited_s - before.own[pid].waited_s, 0.0) for pid in both)
    foreign_s = max(after.busy_s - before.busy_s - own_s, 0.0)
    return Usage(after.cores, own_s / seconds, foreign_s / seconds, waited_s / seconds)


def _busy_s(cores: set[int]) -> float:
    """Idle and waiting for the disk are left out; what the machine below us took counts as busy."""
    names = {f"cpu{core}" for core in cores}
    lines = (line.split() for line in (PROC / "stat").read_text().splitlines() if line.startswith("cpu"))
    ticks = (int(word) for name, *words in lines if name in names for word in [*words[:3], *words[5:8]])
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def _process(pid: int) -> Process | None:
    """None for one that has ended. Of a worker only the main thread's waiting is read: with many workers, reading all
    their threads took milliseconds."""
    place, waited_ns = PROC / str(pid), 0
    try:
        words = (place / "stat").read_text().rpartition(")")[2].split()
        for thread in (place / "task").iterdir() if pid == os.getpid() else [place]:
            # a thread may have ended, and not every kernel counts
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
                waited_ns += int((thread / "schedstat").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process((int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), waited_ns / 1e9)
