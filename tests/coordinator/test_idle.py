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
from rig import local_pool, spine
from asyncplay.app import Interrupts, run_loop
from asyncplay.coordinator.supervise import Patience

async def main():
    run = spine(local_pool(), None, low_water=0)
    run.supervisor.patience = Patience()
    Interrupts(run.drain, run.halt, print).install()
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
WINDOW_S = 10.0


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


@pytest.mark.parametrize("loop", LOOPS)
def test_an_idle_run_wakes_fewer_than_50_times_a_second_and_uses_under_2_percent_of_a_core(loop, tmp_path):
    script = tmp_path / "idle.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent.parent), start=LOOPS[loop]))
    coordinator = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert coordinator.stdout.readline() == "ready\n"
        process = psutil.Process(coordinator.pid)
        family = [process, *process.children(recursive=True)]
        time.sleep(1.0)
        began_s, before = time.monotonic(), usage(family)
        time.sleep(WINDOW_S)
        seconds, after = time.monotonic() - began_s, usage(family)
    finally:
        coordinator.terminate()
        coordinator.communicate(timeout=20)

    assert coordinator.returncode == 0
    assert len(family) >= 3  # the coordinator, two workers, and what Python starts beside them
    assert (after.wakes - before.wakes) / seconds < 50
    assert (after.cpu_s - before.cpu_s) / seconds < 0.02
