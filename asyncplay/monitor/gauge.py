"""The latest looks at a run, and what they amount to: rates, shares and the strain that the verdict is about."""

from collections import deque
from itertools import pairwise
from typing import NamedTuple

from asyncplay.config.live import LiveSettings
from asyncplay.monitor import cpu
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.snapshot import (
    HISTORY,
    BatchFigures,
    LearnFigures,
    RoundFigures,
    StoreFigures,
    Throughput,
    WorkerFigures,
)
from asyncplay.monitor.verdict import Strain
from asyncplay.stats import Histogram

TICK_S = 0.25
KEEP_S = 30.0  # of looks
RATE_S, STRAIN_S = 2.0, 4.0  # that rates and strain are about
WHY = {
    "none": "firing whenever the device is idle gives most rows/s",
    "integral": "gathering while the wait is worth a launch gives most rows/s",
    "half": "waiting for half of the slots gives most rows/s",
    "all": "waiting for all slots gives most rows/s",
}


class Look(NamedTuple):
    """At one moment."""

    at_s: float
    figures: Figures
    times: cpu.Times | None


class Gauge:
    """Keeps what is needed to look back a few seconds, and throughput by the second for longer."""

    def __init__(self) -> None:
        self._looks: deque[Look] = deque(maxlen=int(KEEP_S / TICK_S))
        self._seconds: deque[tuple[float, int]] = deque(maxlen=HISTORY + 1)  # time and total

    @property
    def is_empty(self) -> bool:
        return not self._looks

    @property
    def last(self) -> Look:
        return self._looks[-1]

    def add(self, look: Look) -> None:
        self._looks.append(look)
        if not self._seconds or look.at_s - self._seconds[-1][0] >= 1 - TICK_S / 2:
            self._seconds.append((look.at_s, look.figures.total))

    def since(self, seconds: float) -> list[Look]:
        """The looks of the last ``seconds``, oldest first; at least the last one."""
        return [look for look in self._looks if self.last.at_s - look.at_s <= seconds]

    def between(self, first_s: float, last_s: float) -> list[Look]:
        return [look for look in self._looks if first_s <= look.at_s <= last_s]

    def history(self) -> tuple[float, ...]:
        seconds = pairwise(self._seconds)
        return tuple((now - then) / (now_s - then_s) for (then_s, then), (now_s, now) in seconds)


def throughput(looks: list[Look], history: tuple[float, ...]) -> Throughput:
    figures = looks[-1].figures
    return Throughput(
        name=figures.name,
        per_s=_per_s(looks, looks[0].figures.total, figures.total),
        history=history,
        total=figures.total,
        unit=figures.unit,
        units=figures.units,
        units_per_min=60 * _per_s(looks, looks[0].figures.units, figures.units),
        limit_per_s=figures.limit_per_s,
        is_simulated=figures.device == "sim",
    )


def batch(looks: list[Look], settings: LiveSettings) -> BatchFigures | None:
    then, now = looks[0].figures.batch, looks[-1].figures.batch
    if then is None or now is None:
        return None
    sizes, waits = _latest(now.batch_rows, then.batch_rows), _latest(now.wait_s, then.wait_s)
    return BatchFigures(
        mean_rows=(now.rows - then.rows) / max(now.batches - then.batches, 1),
        histogram=tuple((2 ** max(octave, 0), share) for octave, share in sizes.octaves().items()),
        wait_p50_ms=1000 * waits.quantile(0.5),
        wait_p95_ms=1000 * waits.quantile(0.95),
        fixed_ms=_finite(1000 * now.fixed_s),
        per_row_us=1e6 * now.per_row_s,
        linger=now.arm,
        why=WHY.get(now.arm, f"timeout pinned at {settings.show('batch.timeout_ms')} ms"),
        queued_rows=now.queued_rows,
        device_share=_per_s(looks, then.device_s, now.device_s),
        timeout=settings.show("batch.timeout_ms"),
        max_rows=settings.max_rows,
        extra_share=now.since(then).extra_share,
        spared_share=now.since(then).spared_share,
    )


def learn(looks: list[Look]) -> LearnFigures | None:
    then, now = looks[0].figures.train, looks[-1].figures.train
    if then is None or now is None:
        return None
    return LearnFigures(
        version=now.version,
        steps=now.steps,
        steps_per_s=_per_s(looks, then.steps, now.steps),
        policy_loss=now.policy_loss,
        value_loss=now.value_loss,
        window_rows=now.window_rows,
        age_rows=now.age_rows,
        version_lag=now.version_lag,
        samples_per_insert=now.samples_per_insert,
        balance=now.balance,
        device_share=_per_s(looks, then.device_s, now.device_s),
    )


def rounds(look: Look) -> RoundFigures | None:
    stats = look.figures.rounds
    if stats is None:
        return None
    return RoundFigures(
        pieces=stats.pieces,
        iterations=stats.iterations,
        nodes=stats.nodes,
        infosets=stats.infosets,
        utility=stats.utility,
        bytes_in=stats.bytes_in,
        bytes_out=stats.bytes_out,
    )


def workers(looks: list[Look]) -> tuple[WorkerFigures, ...]:
    """Those that were sent away are not shown."""
    then = {worker.number: worker.rows for worker in looks[0].figures.workers}
    return tuple(
        WorkerFigures(
            number=worker.number,
            state=worker.state,
            pid=worker.pid,
            games=worker.units,
            rows_per_s=_per_s(looks, then.get(worker.number, 0), worker.rows),
            restarts=worker.restarts,
            reason=worker.reason,
        )
        for worker in looks[-1].figures.workers
        if worker.state != "left"
    )


def store(look: Look) -> StoreFigures | None:
    stats = look.figures.store
    return None if stats is None else StoreFigures(stats.games, 1000 * stats.lag_s, stats.queued, stats.trouble)


def strain(looks: list[Look], settings: LiveSettings) -> Strain:
    """What the verdict is about, over ``looks``."""
    last, queue, training = looks[-1].figures, batch(looks, settings), learn(looks)
    device_share = queue.device_share if queue is not None else None
    trained = training.device_share if training is not None else 0.0
    whole = (device_share or 0.0) + trained
    return Strain(
        is_paused=settings.is_paused,
        is_ready=looks[-1].at_s - looks[0].at_s > STRAIN_S / 2 and last.total > 0,
        disk_held=_share(["disk" in look.figures.holds for look in looks]),
        disk_trouble=last.store.trouble if last.store is not None else "",
        commit_lag_s=last.store.lag_s if last.store is not None else 0.0,
        limiter_held=_share(["limiter" in look.figures.holds for look in looks]),
        device=last.device,
        device_share=None if device_share is None else whole,
        training_share=trained / whole if whole else 0.0,
        fixed_share=_fixed_share(looks),
        is_cut=queue is not None and queue.mean_rows > 0.9 * queue.max_rows,
        timeout=settings.show("batch.timeout_ms"),
        wait_p50_ms=queue.wait_p50_ms if queue is not None else 0.0,
        usage=_usage(looks),
    )


def _fixed_share(looks: list[Look]) -> float:
    """Of inference, the part that goes into what a batch costs whatever its size."""
    then, now = looks[0].figures.batch, looks[-1].figures.batch
    if then is None or now is None or now.device_s <= then.device_s:
        return 0.0
    return min(_finite(now.fixed_s) * (now.batches - then.batches) / (now.device_s - then.device_s), 1.0)


def _usage(looks: list[Look]) -> cpu.Usage | None:
    times = [look.times for look in looks if look.times is not None]
    return cpu.usage(times[0], times[-1]) if len(times) > 1 and times[-1].at_s > times[0].at_s else None


def _latest(now: Histogram, then: Histogram) -> Histogram:
    """What came since then, or everything if nothing came."""
    since = now.since(then)
    return since if since.octaves() else now


def _per_s(looks: list[Look], then: float, now: float) -> float:
    seconds = looks[-1].at_s - looks[0].at_s
    return max(now - then, 0.0) / seconds if seconds > 0 else 0.0


def _share(claims: list[bool]) -> float:
    return sum(claims) / len(claims)


def _finite(value: float) -> float:
    return value if value < 1e300 else 0.0
