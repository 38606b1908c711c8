"""A run with nothing to do costs next to nothing: no polling, no short timers, anywhere."""

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="context switches are counted through Linux's /proc"),
]

SCRIPT = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from rig import local_pool, engine
from asyncplay.cli.interrupts import Interrupts
from asyncplay.engine.loop import run_loop
from asyncplay.engine.supervise import Patience

async def main():
    run = engine(local_pool(), None, low_water=0)
    run.supervisor.patience = Patience()
    with Interrupts(run.drain, run.halt, print):
        running = asyncio.create_task(run.run())
        while [worker.state for worker in run.supervisor.stats()] != ["ready", "ready"]:
            await asyncio.sleep(0.05)
        print("ready", flush=True)
        await running
    return 0

if __name__ == "__main__":
    {start}
"""
LOOPS = {"uvloop": "run_loop(main())", "asyncio": "asyncio.run(main())"}
WINDOW_S, WINDOWS = 4.0, 12
MOST_WAKES, MOST_CPU = 50, 0.02  # a second, and of a core


class Usage(NamedTuple):
    wakes: int
    cpu_s: float


def usage(family: list[psutil.Process]) -> Usage:
    times = [process.cpu_times() for process in family]
    return Usage(sum(wakes_of(process.pid) for process in family), sum(t.user + t.system for t in times))


def wakes_of(pid: int) -> int:
    """How often the threads of a process have given up or lost a core."""
    lines = [line for task in Path(f"/proc/{pid}/task").iterdir() for line in status_of(task)]
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


def status_of(task: Path) -> list[str]:
    return (task / "status").read_text().splitlines()


def start(loop: str, folder: Path) -> subprocess.Popen[str]:
    script = folder / f"idle_{loop}.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent.parent), start=LOOPS[loop]))
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)


def family_of(coordinator: subprocess.Popen[str]) -> list[psutil.Process]:
    """Once both of its workers are ready."""
    assert coordinator.stdout.readline() == "ready\n"
    process = psutil.Process(coordinator.pid)
    return [process, *process.children(recursive=True)]


def calm_within(family: list[psutil.Process]) -> list[tuple[float, float]]:
    """Wakes a second and share of a core, window by window, until one is calm: on a slow machine a start takes long
    after the hello, but whoever polls is never calm."""
    seen: list[tuple[float, float]] = []
    while len(seen) < WINDOWS and not (seen and seen[-1][0] < MOST_WAKES and seen[-1][1] < MOST_CPU):
        began_s, before = time.monotonic(), usage(family)
        time.sleep(WINDOW_S)
        seconds, after = time.monotonic() - began_s, usage(family)
        seen.append(((after.wakes - before.wakes) / seconds, (after.cpu_s - before.cpu_s) / seconds))
    return seen


def test_an_idle_run_wakes_fewer_than_50_times_a_second_and_uses_under_2_percent_of_a_core(tmp_path):
    """On either loop."""
    coordinators = [start(loop, tmp_path) for loop in LOOPS]
    try:
        families = [family_of(coordinator) for coordinator in coordinators]
        looks = [calm_within(family) for family in families]
    finally:
        for coordinator in coordinators:
            coordinator.terminate()
            coordinator.communicate(timeout=60)

    assert [coordinator.returncode for coordinator in coordinators] == [0, 0]
    for family, seen in zip(families, looks, strict=True):
        assert len(family) >= 3  # the coordinator, two workers, and what Python starts beside them
        assert len(seen) < WINDOWS, f"never calm: {seen}"
