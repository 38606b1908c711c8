"""What a change did: throughput in equal windows before and after it, with the doubt that is left."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, variance

from asyncplay.config.live import TUNABLES
from asyncplay.monitor.gauge import Gauge, Sample
from asyncplay.monitor.snapshot import read

WINDOW_S = 6.0  # on either side of a change
SETTLE_S = 1.0  # after it, not measured
LEAST_S = 2.0  # of a window; with a shorter one before the change there is nothing to compare with
SLICE_SAMPLES = 2  # samples of the run whose time together gives one value of throughput
KEPT = 20  # trials

OnEnd = Callable[["Trial"], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """One change and its result. ``gain`` 0.061 is +6.1 %, give or take ``doubt`` with 95 % confidence."""

    number: int
    change: str  # "timeout 2 -> 4 ms"
    state: str  # "open", "done" or "void"
    name: str = ""  # what was counted: "rows"
    seconds: float = 0.0  # of each window
    before_per_s: float = 0.0
    after_per_s: float = 0.0
    gain: float = 0.0
    doubt: float = 0.0
    wait_ms: float | None = None  # by how much the median wait of a query changed

    def __str__(self) -> str:
        if self.state != "done":
            return f"{self.change}: {'measuring' if self.state == 'open' else 'nothing to compare with'}"
        wait = "" if self.wait_ms is None else f", wait p50 {self.wait_ms:+.1f} ms"
        return f"{self.change}: {100 * self.gain:+.1f} % {self.name}/s (+-{100 * self.doubt:.1f}){wait}"

    @classmethod
    def read(cls, value: object) -> "Trial":
        """Back from JSON."""
        return read(cls, value)


@dataclass(slots=True)
class _Open:
    trial: Trial
    values: dict[str, tuple[str, str]]  # by key: before the first change, after the last
    before: list[Sample]
    from_s: float  # the window after the change begins here


class Trials:
    """The trial under way and those that were.

    A change while one is open becomes part of it: the window before stays, the one after begins anew. So holding a
    key down is one trial. While the run is unsettled, paused or with workers on their way, the window after waits.
    """

    def __init__(self, gauge: Gauge, on_end: OnEnd = lambda trial: None) -> None:
        self._gauge, self._on_end = gauge, on_end
        self._open: _Open | None = None
        self._ended: deque[Trial] = deque(maxlen=KEPT)
        self._waiting: list[tuple[int, OnEnd]] = []  # number of a trial, and what awaits its end
        self._number, self._steady_s = 0, -math.inf  # what came before ``steady_s`` was under other settings

    def all(self) -> list[Trial]:
        """Newest last."""
        return [*self._ended, *([self._open.trial] if self._open is not None else [])]

    def begin(self, changes: Mapping[str, tuple[str, str]], now_s: float) -> int:
        """Take note of settings changed just now, as key: (before, after); return the number of their trial."""
        if self._open is None:
            self._number += 1
            window = self._gauge.between(max(now_s - WINDOW_S, self._steady_s), now_s)
            is_enough = bool(window) and window[-1].at_s - window[0].at_s >= LEAST_S
            self._open = _Open(Trial(self._number, "", "open"), {}, window if is_enough else [], now_s)
        current = self._open
        for key, (before, after) in changes.items():
            first, _ = current.values.get(key, (before, after))
            current.values[key] = first, after
        current.trial = replace(current.trial, change=describe(current.values))
        current.from_s = self._steady_s = now_s + SETTLE_S
        if not any(first != last for first, last in current.values.values()) or not current.before:
            self._end(replace(current.trial, state="void"))
        return current.trial.number

    def when_ended(self, number: int, on_end: OnEnd) -> None:
        """Call ``on_end`` with the result of the trial: now if it has ended, else when it ends."""
        ended = [trial for trial in self._ended if trial.number == number]
        for trial in ended:
            on_end(trial)
        self._waiting += [] if ended else [(number, on_end)]

    def forget(self, on_end: OnEnd) -> None:
        """Take back every ``when_ended`` of this function."""
        self._waiting = [(number, other) for number, other in self._waiting if other != on_end]

    def is_known(self, number: int) -> bool:
        return any(trial.number == number for trial in self.all())

    def sampled(self, now_s: float, is_settled: bool) -> None:
        """Called after each sample of the run."""
        if not is_settled:
            self._steady_s = now_s + SETTLE_S
        if self._open is None:
            return
        self._open.from_s = max(self._open.from_s, self._steady_s)
        before = self._open.before
        seconds = before[-1].at_s - before[0].at_s
        if now_s >= self._open.from_s + seconds:
            after = self._gauge.between(self._open.from_s, now_s)
            self._end(measured(self._open.trial, before, after))

    def _end(self, trial: Trial) -> None:
        self._open = None
        self._ended.append(trial)
        self._on_end(trial)
        ready = [on_end for number, on_end in self._waiting if number == trial.number]
        self._waiting = [(number, on_end) for number, on_end in self._waiting if number != trial.number]
        for on_end in ready:
            on_end(trial)


def measured(trial: Trial, before: Sequence[Sample], after: Sequence[Sample]) -> Trial:
    """The trial with its result."""
    early, late = rates(before), rates(after)
    if fmean(early) <= 0 or len(late) < 2:
        return replace(trial, state="void")
    gain, doubt = compare(early, late)
    early_s, late_s = _wait_s(before), _wait_s(after)
    return replace(
        trial,
        state="done",
        name=after[-1].figures.name,
        seconds=before[-1].at_s - before[0].at_s,
        before_per_s=_mean_rate(before),
        after_per_s=_mean_rate(after),
        gain=gain,
        doubt=doubt,
        wait_ms=None if early_s is None or late_s is None else 1000 * (late_s - early_s),
    )


def rates(samples: Sequence[Sample]) -> list[float]:
    """Throughput slice by slice."""
    ends = samples[::SLICE_SAMPLES]
    return [(now.figures.total - then.figures.total) / (now.at_s - then.at_s) for then, now in pairwise(ends)]


def compare(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Return by which part the mean has grown, and half of the 95 % interval around that, after Welch."""
    early, late = fmean(before), fmean(after)
    early_part = variance(before) / len(before) * (late / early**2) ** 2
    late_part = variance(after) / len(after) / early**2
    error = early_part + late_part
    freedom = error**2 / max(early_part**2 / (len(before) - 1) + late_part**2 / (len(after) - 1), 1e-300)
    return late / early - 1, student(max(freedom, 1.0)) * math.sqrt(error)


def student(freedom: float) -> float:
    """The 97.5 % point of Student's distribution, 4 % too low at most from 3 degrees of freedom on."""
    return 1.96 + 2.37 / freedom + 2.8 / freedom**2


def describe(values: Mapping[str, tuple[str, str]]) -> str:
    """ "timeout 2 -> 4 ms"."""
    texts = []
    for key, (before, after) in values.items():
        tunable = TUNABLES[key]
        unit = f" {tunable.unit}" if tunable.unit else ""
        if after in tunable.words:
            texts.append(f"{tunable.label} {before}{'' if before in tunable.words else unit} -> {after}")
        else:
            texts.append(f"{tunable.label} {before} -> {after}{unit}")
    return ", ".join(texts)


def _mean_rate(samples: Sequence[Sample]) -> float:
    return (samples[-1].figures.total - samples[0].figures.total) / (samples[-1].at_s - samples[0].at_s)


def _wait_s(samples: Sequence[Sample]) -> float | None:
    """The median wait of the queries between the samples; None where the run has no queries."""
    for early, late in zip(samples[0].figures.parts, samples[-1].figures.parts, strict=True):
        if early.waits is not None and late.waits is not None:
            return late.waits.since(early.waits).quantile(0.5)
    return None
