"""What the live console costs: one run of a fast game, windows with and without it in turn.

The console draws to a pseudo-terminal which another process reads, as a terminal's window does. Neighbouring windows
are compared, in the order with, without, without, with, so that neither a slow drift nor the order counts.
"""

import asyncio
import fcntl
import math
import os
import pty
import statistics
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from asyncplay.bench.outside import rows_per_s, until
from asyncplay.config.loading import load
from asyncplay.console.view import View
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.monitor import Monitor
from asyncplay.monitor.observer import Subject

COLUMNS, ROWS = 140, 45
WINDOW_S, PAIRS, SETTLE_S = 1.0, 200, 3.0
OPEN_S = 0.3  # until a console has its threads and its first picture, which do not count in a run of hours
WORKERS = 2
LOAD = {
    "game": {"name": "tictactoe"},
    "net": {"kind": "mlp", "width": "64", "blocks": "2"},
    "pool": {"workers": str(WORKERS)},
    "learn": {"band_steps": "1e9"},
    "arena": {"every_s": "0"},
}
"""Games are short and the network is small, so the processors have nothing to wait for."""


def measure(pairs: int = PAIRS) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place, _screen() as screen:
        shown, alone = run_loop(_windows(Path(place), screen, pairs))
    costs = [1 - with_it / max(without, 1.0) for with_it, without in zip(shown, alone, strict=True)]
    low, high = interval(costs)
    return {
        "cost": statistics.median(costs),
        "cost_low": low,
        "cost_high": high,
        "rows_per_s_shown": statistics.median(shown),
        "rows_per_s_alone": statistics.median(alone),
        "pairs": pairs,
        "window_s": WINDOW_S,
        "workers": WORKERS,
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return a 95 % interval of the median, whatever the law of the values: their ranks are binomial."""
    ordered, half = sorted(values), 1.96 * math.sqrt(len(values)) / 2
    low, high = math.floor(len(values) / 2 - half), math.ceil(len(values) / 2 + half)
    return ordered[max(low, 0)], ordered[min(high, len(values) - 1)]


async def _windows(folder: Path, screen: int, pairs: int) -> tuple[list[float], list[float]]:
    """Rows/s of windows with and without the console, in one run."""
    run = SelfplayRun(load(None, LOAD), folder, lambda line: None)
    monitor = Monitor(
        Subject("tictactoe", str(folder), run.figures, run.engine.settings),
        LogTail(),
        clock=time.perf_counter,
        stop=run.engine.halt,
        checkpoint=lambda: None,
        note=lambda kind, text, details: None,
    )
    shown, alone, evaluator = list[float](), list[float](), run.engine.evaluator
    async with run.recorder, asyncio.TaskGroup() as group:
        looking = group.create_task(monitor.observer.run())
        running = group.create_task(run.engine.run())
        await until(lambda: evaluator.stats().rows > 0)
        await asyncio.sleep(SETTLE_S)
        for pair in range(pairs):
            for rates in (shown, alone) if pair % 2 == 0 else (alone, shown):
                console = _console(monitor, screen) if rates is shown else nullcontext()
                async with console:
                    rates.append(await rows_per_s(evaluator, WINDOW_S))
        run.engine.halt()
        await running
        looking.cancel()
    return shown, alone


@asynccontextmanager
async def _console(monitor: Monitor, screen: int) -> AsyncIterator[None]:
    """The console, shown on a screen."""
    view = View(monitor, keyboard=screen, screen=screen, is_owner=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(view.run())
        await asyncio.sleep(OPEN_S)
        yield
        view.leave()


@contextmanager
def _screen() -> Iterator[int]:
    """A pseudo-terminal and a process that reads it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    reader = subprocess.Popen(["cat"], stdin=master, stdout=subprocess.DEVNULL)
    try:
        yield slave
    finally:
        reader.terminate()
        reader.wait()
        os.close(master)
        os.close(slave)
