"""Starts coordinators that start workers, and kills each of them at another moment of that.

``python nursery.py N FATE``: N coordinators, the moments spread over the time that a worker needs to say its first
word, and a little beyond. FATE is ``killed``: the coordinator is killed; or ``stopped``: its workers are stopped first
and nobody ever continues them. Prints how many workers there were and how many were left.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time

import psutil

from asyncplay.methods.roles import be_worker
from asyncplay.pools.local import LocalPool

WORKERS = 2
PATIENCE_S = 60.0


def coordinate(told: int) -> None:
    """Say one word when the workers are started and another when they have greeted."""

    async def stay() -> None:
        greeted = asyncio.Event()
        pool = LocalPool(be_worker)
        links = [await pool.open(number, lambda body: greeted.set(), lambda why: None) for number in range(WORKERS)]
        os.write(told, b"s")
        await greeted.wait()
        os.write(told, b"g")
        await asyncio.sleep(10 * PATIENCE_S)
        del links

    asyncio.run(stay())


def begin() -> tuple[int, int]:
    """A coordinator's pid and where its words come."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        coordinate(theirs)
    os.close(theirs)
    assert os.read(ours, 1) == b"s"
    return pid, ours


def end(pid: int, words: int, fate: str) -> list[psutil.Process]:
    workers = psutil.Process(pid).children(recursive=True)
    if fate == "stopped":
        for worker in workers:
            worker.suspend()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(words)
    return workers


def is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def main(rounds: int, fate: str) -> None:
    began_s = time.monotonic()
    pid, words = begin()
    assert os.read(words, 1) == b"g"
    start_s = time.monotonic() - began_s
    workers = end(pid, words, fate)
    for turn in range(rounds):
        pid, words = begin()
        time.sleep(1.2 * start_s * turn / rounds)
        workers += end(pid, words, fate)
    deadline_s = time.monotonic() + PATIENCE_S
    while (left := [worker for worker in workers if is_alive(worker)]) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    for worker in left:
        worker.kill()
    print(len(workers), len(left))  # noqa: T201  # what is asked for


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
