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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asyncplay.bench.outside import until
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.console.view import View
from asyncplay.engine.loop import run_loop
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.monitor import Monitor
from asyncplay.monitor.observer import Subject

COLUMNS, ROWS = 140, 45
WINDOW_S, PAIRS, SETTLE_S = 1.0, 200, 3.0
OPEN_S = 0.3  # until a console has its threads and its first picture, which nobody waits for in a run of hours
WORKERS = 2


def bench_config() -> Config:
    """Tic-tac-toe with a small network: games are short, and the processors have nothing to wait for."""
    return load(
        None,
        {
            "game": {"name": "tictactoe"},
            "net": {"kind": "mlp", "width": "64", "blocks": "2"},
            "pool": {"workers": str(WORKERS)},
            "learn": {"band_steps": "1e9"},
            "arena": {"every_s": "0"},
        },
    )


def measure(pairs: int = PAIRS) -> dict[str, Any]:
    shown: list[float] = []
    alone: list[float] = []

    async def run() -> int:
        with tempfile.TemporaryDirectory() as place, _screen() as screen:
            await _Bench(Path(place), screen).run(pairs, shown, alone)
        return 0

    run_loop(run())
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


class _Bench:
    """A run, and the console that is put on it in every other window."""

    def __init__(self, folder: Path, screen: int) -> None:
        self._run = SelfplayRun(bench_config(), folder, lambda line: None)
        self._screen = screen
        subject = Subject("tictactoe", str(folder), self._run.figures, self._run.engine.settings)
        self._monitor = Monitor(
            subject,
            LogTail(),
            clock=time.perf_counter,
            stop=self._run.engine.halt,
            checkpoint=lambda: None,
            note=lambda kind, text, details: None,
        )

    async def run(self, pairs: int, shown: list[float], alone: list[float]) -> None:
        async with self._run.recorder, asyncio.TaskGroup() as group:
            looking = group.create_task(self._monitor.observer.run())
            running = group.create_task(self._run.engine.run())
            await until(lambda: self._run.engine.evaluator.stats().rows > 0)
            await asyncio.sleep(SETTLE_S)
            for pair in range(pairs):
                kinds = (shown, alone) if pair % 2 == 0 else (alone, shown)
                for kind in kinds:
                    kind.append(await (self._with_console() if kind is shown else self._window()))
            self._run.engine.halt()
            await running
            looking.cancel()

    async def _with_console(self) -> float:
        view = View(self._monitor, keyboard=self._screen, screen=self._screen, is_owner=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(view.run())
            await asyncio.sleep(OPEN_S)
            rows_per_s = await self._window()
            view.leave()
        return rows_per_s

    async def _window(self) -> float:
        evaluator = self._run.engine.evaluator
        rows, began_s = evaluator.stats().rows, time.perf_counter()
        await asyncio.sleep(WINDOW_S)
        return (evaluator.stats().rows - rows) / (time.perf_counter() - began_s)


@contextmanager
def _screen() -> Iterator[int]:
    """A pseudo-terminal that somebody reads."""
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
