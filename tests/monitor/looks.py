"""Runs made up of numbers: looks at them, one each tick."""

from collections.abc import Callable, Sequence

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.cpu import Times
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.gauge import TICK_S, Gauge, Look
from asyncplay.stats import BatchStats, Histogram, WorkerStats


def settings(timeout_ms: float | None = None, workers: int = 2) -> LiveSettings:
    return LiveSettings(timeout_ms=timeout_ms, max_rows=1024, workers=workers)


def worker(number: int = 0, *, rows: int = 0, units: int = 0, state: str = "ready") -> WorkerStats:
    return WorkerStats(number, state, 100 + number, rows, 0, "", units)


def figures(total: int = 0, **more: object) -> Figures:
    return Figures(**{"name": "rows", "unit": "games", "units": 0, "workers": (worker(),), "total": total} | more)


def batches(rows: int, n_batches: int, waits_s: Sequence[float], *, device_s: float = 0.0) -> BatchStats:
    """As if every batch had the same size."""
    sizes, waits = Histogram(), Histogram()
    for _ in range(n_batches):
        sizes.add(rows / n_batches)
    for wait_s in waits_s:
        waits.add(wait_s)
    return BatchStats(rows, n_batches, device_s, 0, sizes, waits, 0.001, 0.00001, "none")


def look(at_s: float, seen: Figures, times: Times | None = None) -> Look:
    return Look(at_s, seen, times)


def gauge_of(seconds: float, at: Callable[[float], Figures]) -> Gauge:
    """A gauge that has looked at ``at(time)`` each tick from 0 on."""
    gauge = Gauge()
    for tick in range(int(seconds / TICK_S) + 1):
        gauge.add(look(tick * TICK_S, at(tick * TICK_S)))
    return gauge
