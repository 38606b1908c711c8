"""What a change did: throughput in equal windows before and after it, with the doubt that is left."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, variance

from asyncplay.config.live import TUNABLES
from asyncplay.monitor.gauge import Gauge, Look
from asyncplay.monitor.snapshot import read

WINDOW_S = 6.0  # on either side of a change
SETTLE_S = 1.0  # after it, not measured
LEAST_S = 2.0  # of a window; with less to look back on there is nothing to compare with
SLICE_LOOKS = 2  # looks whose time together is one sample of throughput
KEPT = 20  # trials

Told = Callable[["Trial"], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """One change and its result. ``gain`` .061 is +6.1 %, give or take ``doubt`` with 95 % confidence."""

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
    before: list[Look]
    from_s: float  # the window after the change begins here


class Trials:
    """The trial under way and those that were.

    A change while one is open becomes part of it: the window before stays, the one after begins anew. So holding a
    key down is one trial. While the run is unsettled, paused or with workers on their way, the window after waits.
    """

    def __init__(self, gauge: Gauge, on_end: Told = lambda trial: None) -> None:
        self._gauge, self._on_end = gauge, on_end
        self._open: _Open | None = None
        self._ended: deque[Trial] = deque(maxlen=KEPT)
        self._waiting: dict[int, list[Told]] = {}
        self._number, self._steady_s = 0, -math.inf  # what came before ``steady_s`` was under other settings

    def all(self) -> list[Trial]:
        """Newest last."""
        return [*self._ended, *([self._open.trial] if self._open is not None else [])]

    def begin(self, changes: Mapping[str, tuple[str, str]], now_s: float) -> int:
        """Take note of settings changed just now, as key: (before, after); return the number of their trial."""
        open_trial = self._open or self._new(now_s)
        for key, (before, after) in changes.items():
            first, _ = open_trial.values.get(key, (before, after))
            open_trial.values[key] = first, after
        open_trial.trial = replace(open_trial.trial, change=describe(open_trial.values))
        open_trial.from_s = self._steady_s = now_s + SETTLE_S
        self._open = open_trial
        if not any(first != last for first, last in open_trial.values.values()) or not open_trial.before:
            self._end(replace(open_trial.trial, state="void"))
        return open_trial.trial.number

    def when_ended(self, number: int, told: Told) -> Callable[[], None]:
        """Have ``told`` called with the result, at once if it is there already; what is returned takes that back."""
        for trial in self._ended:
            if trial.number == number:
                told(trial)
                return lambda: None
        waiting = self._waiting.setdefault(number, [])
        waiting.append(told)
        return lambda: waiting.remove(told) if told in waiting else None

    def is_known(self, number: int) -> bool:
        return any(trial.number == number for trial in self.all())

    def look(self, now_s: float, is_settled: bool) -> None:
        """Called after each look at the run."""
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

    def _new(self, now_s: float) -> _Open:
        self._number += 1
        before = self._gauge.between(max(now_s - WINDOW_S, self._steady_s), now_s)
        is_enough = bool(before) and before[-1].at_s - before[0].at_s >= LEAST_S
        return _Open(Trial(self._number, "", "open"), {}, before if is_enough else [], now_s)

    def _end(self, trial: Trial) -> None:
        self._open = None
        self._ended.append(trial)
        self._on_end(trial)
        for told in self._waiting.pop(trial.number, []):
            told(trial)


def measured(trial: Trial, before: Sequence[Look], after: Sequence[Look]) -> Trial:
    """The trial with its result."""
    early, late = rates(before), rates(after)
    if fmean(early) <= 0 or len(late) < 2:
        return replace(trial, state="void")
    gain, doubt = compare(early, late)
    return replace(
        trial,
        state="done",
        name=after[-1].figures.name,
        seconds=before[-1].at_s - before[0].at_s,
        before_per_s=_mean_rate(before),
        after_per_s=_mean_rate(after),
        gain=gain,
        doubt=doubt,
        wait_ms=_wait_change_ms(before, after),
    )


def rates(looks: Sequence[Look]) -> list[float]:
    """Throughput slice by slice."""
    ends = looks[::SLICE_LOOKS]
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
    return ", ".join(_describe(key, *pair) for key, pair in values.items())


def _describe(key: str, before: str, after: str) -> str:
    tunable = TUNABLES[key]
    unit = f" {tunable.unit}" if tunable.unit else ""
    if after in tunable.words:
        return f"{tunable.label} {before}{'' if before in tunable.words else unit} -> {after}"
    return f"{tunable.label} {before} -> {after}{unit}"


def _mean_rate(looks: Sequence[Look]) -> float:
    return (looks[-1].figures.total - looks[0].figures.total) / (looks[-1].at_s - looks[0].at_s)


def _wait_change_ms(before: Sequence[Look], after: Sequence[Look]) -> float | None:
    early, late = _wait_s(before), _wait_s(after)
    return None if early is None or late is None else 1000 * (late - early)


def _wait_s(looks: Sequence[Look]) -> float | None:
    then, now = looks[0].figures.batch, looks[-1].figures.batch
    return None if then is None or now is None else now.wait_s.since(then.wait_s).quantile(0.5)
