"""Runs made up of numbers: samples of them, one each tick."""

from collections.abc import Callable, Sequence

from asyncplay.config.live import LiveSettings
from asyncplay.engine.figures import BatchFigures
from asyncplay.monitor.cpu import Times
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.gauge import TICK_S, Gauge, Sample
from asyncplay.monitor.snapshot import WorkerFigures
from asyncplay.stats import Histogram


def settings(timeout_ms: float | None = None, workers: int = 2) -> LiveSettings:
    return LiveSettings(timeout_ms=timeout_ms, max_rows=1024, workers=workers)


def worker(number: int = 0, *, rows: int = 0, units: int = 0, state: str = "ready") -> WorkerFigures:
    return WorkerFigures(number, state, 100 + number, units, rows=rows)


def figures(total: int = 0, **more: object) -> Figures:
    return Figures(**{"name": "rows", "unit": "games", "units": 0, "workers": (worker(),), "total": total} | more)


def batches(rows: int, n_batches: int, waits_s: Sequence[float], *, device_s: float = 0.0) -> BatchFigures:
    """As if every batch had the same size."""
    sizes, waits = Histogram(), Histogram()
    for _ in range(n_batches):
        sizes.add(rows / n_batches)
    for wait_s in waits_s:
        waits.add(wait_s)
    return BatchFigures(
        rows=rows,
        batches=n_batches,
        device_s=device_s,
        batch_rows=sizes,
        wait_s=waits,
        fixed_s=0.001,
        per_row_s=0.00001,
        linger="none",
    )


def sample(at_s: float, seen: Figures, times: Times | None = None) -> Sample:
    return Sample(at_s, seen, times)


def gauge_of(seconds: float, at: Callable[[float], Figures]) -> Gauge:
    """A gauge with samples of ``at(time)`` at each tick from 0 on."""
    gauge = Gauge()
    for tick in range(int(seconds / TICK_S) + 1):
        gauge.add(sample(tick * TICK_S, at(tick * TICK_S)))
    return gauge
