"""Strategy "processes": each process has a network of its own (torch) and plays one game at a time.

A game asks for a row in each of its worlds at a time, and that is the batch.
"""

import multiprocessing
import os
import signal
import time
from typing import Any

import numpy as np

from asyncplay.bench.outside import until
from asyncplay.bench.solo import GAMES, Solo, Totals, by_block, open_torch
from asyncplay.bench.tally import Tally, whole_rounds
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.model.device import usable_cores


async def measure(config: Config, workers: int, seconds: float) -> Tally:
    context = multiprocessing.get_context("spawn")
    shared = context.RawArray("q", 3 * workers)
    totals, threads = _table(shared), max(usable_cores() // workers, 1)
    processes = [
        context.Process(target=_play, args=(config, number, threads, shared), daemon=True) for number in range(workers)
    ]

    def count() -> Tally:
        for number, process in enumerate(processes):
            if process.exitcode is not None:
                raise AsyncplayError(f"process {number} of {workers} ended with status {process.exitcode}")
        return Tally(time.perf_counter(), *totals.sum(0).tolist())

    try:
        for process in processes:
            process.start()
        await until(lambda: count().games > 0 and bool(totals[:, GAMES].all()))
        return await whole_rounds(count, workers, seconds)
    finally:
        for process in processes:  # they own nothing that would have to be put in order
            if process.pid is not None:
                process.kill()
                process.join()
                process.close()


def _play(config: Config, number: int, threads: int, shared: Any) -> None:
    """Runs in the process, until it is killed or has lost its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    solo = Solo(config, by_block(open_torch(config, [threads], config.search.worlds)), number, _table(shared)[number])
    while os.getppid() == parent:
        solo.play()


def _table(shared: Any) -> Totals:
    return np.frombuffer(shared, np.int64).reshape(-1, 3)
