"""The latest samples of a run, and what they amount to: rates, shares and the strain that the verdict is about."""

from collections import deque
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from asyncplay.config.live import LiveSettings
from asyncplay.monitor import cpu
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.part import Part, per_s
from asyncplay.monitor.snapshot import HISTORY, Throughput, WorkerFigures
from asyncplay.monitor.verdict import Strain

TICK_S = 0.25
KEEP_S = 30.0  # of samples
RATE_S, STRAIN_S = 2.0, 4.0  # that rates and strain are about


class Sample(NamedTuple):
    """A run at one time."""

    at_s: float
    figures: Figures
    times: cpu.Times | None


class Gauge:
    """Keeps the samples of the last seconds, and throughput by the second for longer."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=int(KEEP_S / TICK_S))
        self._seconds: deque[tuple[float, int]] = deque(maxlen=HISTORY + 1)  # time and total

    @property
    def is_empty(self) -> bool:
        return not self._samples

    @property
    def last(self) -> Sample:
        return self._samples[-1]

    def add(self, sample: Sample) -> None:
        self._samples.append(sample)
        if not self._seconds or sample.at_s - self._seconds[-1][0] >= 1 - TICK_S / 2:
            self._seconds.append((sample.at_s, sample.figures.total))

    def since(self, seconds: float) -> list[Sample]:
        """The samples of the last ``seconds``, oldest first; at least the last one."""
        return [sample for sample in self._samples if self.last.at_s - sample.at_s <= seconds]

    def between(self, first_s: float, last_s: float) -> list[Sample]:
        return [sample for sample in self._samples if first_s <= sample.at_s <= last_s]

    def history(self) -> tuple[float, ...]:
        seconds = pairwise(self._seconds)
        return tuple((now - then) / (now_s - then_s) for (then_s, then), (now_s, now) in seconds)


def throughput(samples: list[Sample], history: tuple[float, ...]) -> Throughput:
    then, now, seconds = _ends(samples)
    return Throughput(
        name=now.name,
        per_s=per_s(then.total, now.total, seconds),
        history=history,
        total=now.total,
        unit=now.unit,
        units=now.units,
        units_per_min=60 * per_s(then.units, now.units, seconds),
        limit_per_s=now.limit_per_s,
        is_simulated=now.device == "sim",
    )


def parts(samples: list[Sample], settings: LiveSettings) -> dict[str, Part]:
    """The parts of the run by name, with rates over the samples."""
    then, now, seconds = _ends(samples)
    pairs = zip(then.parts, now.parts, strict=True)
    return {late.NAME: late.since(early, seconds, settings) for early, late in pairs}


def workers(samples: list[Sample], settings: LiveSettings) -> tuple[WorkerFigures, ...]:
    """The workers of the pool; those that were dismissed are left out."""
    then, now, seconds = _ends(samples)
    before = {worker.number: worker for worker in then.workers}
    return tuple(
        worker.since(before.get(worker.number, WorkerFigures()), seconds, settings)
        for worker in now.workers
        if worker.state != "left"
    )


def strain(samples: list[Sample], settings: LiveSettings) -> Strain:
    """What the verdict is about, over the samples."""
    _, now, seconds = _ends(samples)
    times = [sample.times for sample in samples if sample.times is not None]
    has_usage = len(times) > 1 and times[-1].at_s > times[0].at_s
    found = Strain(
        is_paused=settings.is_paused,
        is_ready=seconds > STRAIN_S / 2 and now.total > 0,
        disk_held=sum("disk" in sample.figures.holds for sample in samples) / len(samples),
        limiter_held=sum("limiter" in sample.figures.holds for sample in samples) / len(samples),
        worker_wait=fmean([worker.wait_share for worker in workers(samples, settings)] or [0.0]),
        device=now.device,
        usage=cpu.usage(times[0], times[-1]) if has_usage else None,
    )
    for part in parts(samples, settings).values():
        found = part.strain(found)
    return found


def _ends(samples: list[Sample]) -> tuple[Figures, Figures, float]:
    """The first and the last sample, and the seconds between them."""
    return samples[0].figures, samples[-1].figures, samples[-1].at_s - samples[0].at_s
