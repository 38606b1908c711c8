"""Who has the cores: this run, others, and how long our threads stand in line. Linux tells; elsewhere nobody does."""

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
    """One look at the machine."""

    at_s: float
    busy_s: float  # of the cores that we may use, by anybody
    cores: int
    own: Mapping[int, Process]


class Usage(NamedTuple):
    """Between two looks, in cores: 1.5 is one core and half of another."""

    cores: int
    own: float
    foreign: float
    waiting: float  # threads of ours that stood in line

    @property
    def starved(self) -> float:
        """The part of what we wanted of the cores that we did not get."""
        return self.waiting / max(self.own + self.waiting, 1e-9)


def look(pids: Iterable[int], now_s: float) -> Times | None:
    """Return None where there is no /proc."""
    if not (PROC / "stat").exists():
        return None
    cores = os.sched_getaffinity(0)
    return Times(now_s, _busy_s(cores), len(cores), {pid: times for pid in pids if (times := _process(pid))})


def usage(before: Times, after: Times) -> Usage:
    """Processes that began or ended in between count as others: nobody knows what they did."""
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
    """None for one that is gone. Of a worker only the thread that plays is asked how long it waited: with many workers
    all their threads took milliseconds to look at."""
    place = PROC / str(pid)
    try:
        words = (place / "stat").read_text().rpartition(")")[2].split()
        threads = (place / "task").iterdir() if pid == os.getpid() else [place]
        waited_ns = sum(_waited_ns(thread) for thread in threads)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process((int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), waited_ns / 1e9)


def _waited_ns(thread: Path) -> int:
    """0 for a thread that is gone, and where the kernel does not count it."""
    try:
        return int((thread / "schedstat").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
