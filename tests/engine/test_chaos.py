"""Real processes under load, and what can happen to them. The run goes on, the books stay exact, the worker is back."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rig import CALM, QUICK, NaughtyPool, engine, failing_entry, local_pool, poisoned_entry

from asyncplay.engine.engine import Engine
from asyncplay.engine.supervise import Phase
from asyncplay.errors import PoolFailed
from asyncplay.pools.local import LocalPool

pytestmark = pytest.mark.process
UNITS = 20_000
LONG_S = 200.0  # for what takes seconds; on a quarter of a core a worker takes ten to start


def check_books(run: Engine, units: int) -> None:
    books = run.ledger.books
    assert (books.done, books.set_aside, books.outstanding) == (units, 0, 0)
    assert books.issued == books.done + books.lost
    assert books.reissued == books.lost


async def until(condition, timeout_s: float = LONG_S) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        await asyncio.sleep(0.02)


def states(run: Engine) -> list[str]:
    return [worker.state for worker in run.supervisor.stats()]


async def finish(run: Engine, running: asyncio.Task[None]) -> None:
    run.drain()
    await asyncio.wait_for(running, LONG_S)


def restarts(run: Engine) -> int:
    return sum(worker.restarts for worker in run.supervisor.stats())


async def goes_on(run: Engine) -> None:
    """Both workers are there, and games come back."""
    await until(lambda: states(run) == ["ready", "ready"])
    before = run.ledger.books.done
    await until(lambda: run.ledger.books.done > before + 1000)


@pytest.mark.parametrize("mischief", ["segfault", "garbage", "oversize", "half", "exception"])
async def test_a_worker_that_misbehaves_costs_only_itself(mischief, tmp_path):
    run = engine(NaughtyPool(mischief, tmp_path / "mark"), None)
    running = asyncio.create_task(run.run())
    await until(lambda: restarts(run) == 1)
    await goes_on(run)
    await finish(run, running)

    check_books(run, run.ledger.books.done)
    assert restarts(run) == 1
    assert (tmp_path / "mark").exists()


async def test_a_worker_that_hangs_is_replaced(tmp_path):
    run = engine(NaughtyPool("hang", tmp_path / "mark"), None, patience=QUICK)
    running = asyncio.create_task(run.run())
    await until(lambda: (tmp_path / "mark").exists() and (tmp_path / "mark").read_text())
    victim = int((tmp_path / "mark").read_text())
    await until(lambda: victim not in pids(run))
    await goes_on(run)
    await finish(run, running)

    check_books(run, run.ledger.books.done)
    assert restarts(run) >= 1
    assert not psutil.pid_exists(victim)


def pids(run: Engine) -> list[int]:
    return [worker.pid for worker in run.supervisor.stats()]


@pytest.mark.parametrize(("blow", "patience"), [(signal.SIGKILL, CALM), (signal.SIGSTOP, QUICK)])
async def test_a_worker_struck_from_outside_is_replaced(blow, patience):
    run = engine(local_pool(), None, patience=patience)
    running = asyncio.create_task(run.run())
    await until(lambda: run.ledger.books.done > 2000 and states(run) == ["ready", "ready"])
    victim = pids(run)[0]
    os.kill(victim, blow)
    await until(lambda: victim not in pids(run))
    await goes_on(run)
    await finish(run, running)

    check_books(run, run.ledger.books.done)
    assert restarts(run) >= 1 if patience is QUICK else restarts(run) == 1
    assert not psutil.pid_exists(victim)


async def test_a_worker_killed_deep_inside_a_kernel_is_replaced(tmp_path):
    run = engine(NaughtyPool("kernel", tmp_path / "mark"), None)
    running = asyncio.create_task(run.run())
    await until(lambda: (tmp_path / "mark").exists() and (tmp_path / "mark").read_text())
    os.kill(int((tmp_path / "mark").read_text()), signal.SIGKILL)
    await until(lambda: any(worker.restarts == 1 for worker in run.supervisor.stats()))
    await until(lambda: states(run) == ["ready", "ready"])
    await finish(run, running)

    check_books(run, run.ledger.books.done)


async def test_a_hanging_worker_tells_where_it_hangs(tmp_path, caplog):
    run = engine(
        NaughtyPool("hang", tmp_path / "mark"),
        UNITS,
        patience=replace(QUICK, silence_floor_s=2.0, silence_ceiling_s=3.0),
    )
    await asyncio.wait_for(run.run(), LONG_S)

    check_books(run, UNITS)
    assert any("in _hang" in record.getMessage() for record in caplog.records)


async def test_a_unit_that_kills_three_workers_is_set_aside_and_all_others_are_done():
    run = engine(LocalPool(poisoned_entry), 300)
    await asyncio.wait_for(run.run(), LONG_S)

    assert [(piece.first, piece.size, piece.deaths) for piece in run.ledger.quarantine] == [(100, 1, 3)]
    assert run.ledger.books.done == 299
    assert sum(worker.restarts for worker in run.supervisor.stats()) == 3


async def test_a_pool_that_cannot_live_ends_the_run_with_a_diagnosis():
    run = engine(LocalPool(failing_entry), 300)
    run.supervisor.patience = replace(CALM, deaths=4, deaths_per_worker=1, window_s=1000.0)
    with pytest.raises(ExceptionGroup) as caught:
        await asyncio.wait_for(run.run(), LONG_S)
    (error,) = caught.value.exceptions
    assert isinstance(error, PoolFailed)
    assert "5 workers died within 1000 s: RuntimeError: this machine has no luck" in str(error)


async def test_a_bounded_load_ends_by_itself_with_exact_books():
    run = engine(local_pool(), UNITS)
    await asyncio.wait_for(run.run(), LONG_S)

    check_books(run, UNITS)
    assert run.ledger.books.lost == 0
    assert all(member.phase is Phase.GONE for member in run.supervisor.members())


SCRIPT = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from rig import NaughtyPool, engine
async def main():
    await engine(NaughtyPool({mischief!r}, Path({mark!r})), None).run()
if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize("mischief", ["kernel", "locked kernel"])
def test_no_worker_outlives_a_killed_coordinator_even_deep_inside_a_kernel(mischief, tmp_path):
    script, mark = tmp_path / "coordinator.py", tmp_path / "mark"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent.parent), mischief=mischief, mark=str(mark)))
    coordinator = subprocess.Popen([sys.executable, str(script)])
    try:
        wait_for(mark.exists, LONG_S)
        family = psutil.Process(coordinator.pid).children(recursive=True)
        assert len(family) >= 2
    finally:
        coordinator.kill()
        coordinator.wait()
    wait_for(lambda: not any(process.is_running() for process in family), LONG_S)


def wait_for(condition, timeout_s: float) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        time.sleep(0.02)


async def test_without_a_free_descriptor_a_dead_worker_is_replaced_when_there_is_one():
    """The limit of open files is lowered to what is open: nothing can be started, and the other worker plays on."""
    run, said = engine(local_pool(), None), []
    run.supervisor.say = said.append
    running = asyncio.create_task(run.run())
    await until(lambda: states(run) == ["ready", "ready"])
    victim = run.supervisor.stats()[0].pid
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        os.kill(victim, signal.SIGKILL)
        await until(lambda: said)
        before = run.ledger.books.done
        await until(lambda: run.ledger.books.done > before + 1000)
        assert (states(run)[1], running.done()) == ("ready", False)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    await until(lambda: states(run) == ["ready", "ready"])
    await finish(run, running)

    check_books(run, run.ledger.books.done)
    assert said == [
        "no worker can be started: Too many open files; it is tried again until one can",
        "workers can be started again",
    ]
