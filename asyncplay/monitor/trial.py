"""What a change did: the run goes back and forth between old and new, and blocks of both are compared in pairs.

Each pair is a block of the old and a block of the new values, one after the other in an order that a coin decides, and
the interval comes from how much the pairs differ. So whatever else changes meanwhile, slowly or in bursts, hits both
alike: with the coin it is no bias, and what it adds to the spread of the pairs is in the interval. Windows before and
after a change know nothing of that: on a busy machine one change was +60 % (+-44) and its inverse +33 % (+-15).

Some settings cannot go back and forth: a worker takes seconds to start and what one had under way is redone. Of these
the time before the change is compared with the time after it.
"""

import math
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import NamedTuple

from asyncplay.config.live import TUNABLES, LiveSettings
from asyncplay.monitor import cpu
from asyncplay.monitor.comparison import are_disturbed, compare, compare_pairs
from asyncplay.monitor.gauge import Gauge, Sample
from asyncplay.monitor.snapshot import read

LASTING = {"pool.workers", "learn.samples_per_insert"}  # settings that do not go back and forth
SETTLE_S = 0.25  # after a change of values, not measured
BLOCK_S = 0.75
MOST_S = 60.0  # of a trial, when nothing disturbs it
LEAST_PAIRS = 8
EXACT = 0.02  # doubt that needs no more pairs
WINDOW_BLOCKS, WINDOW_BLOCK_S = 6, 4.0  # at most, on either side of a lasting change
LASTING_SETTLE_S = 1.0
KEPT = 20  # trials

OnEnd = Callable[["Trial"], None]
Changes = Mapping[str, tuple[str, str]]  # by key: before, after


@dataclass(frozen=True, slots=True)
class Trial:
    """One change and its result. ``gain`` 0.061 is +6.1 %, give or take ``doubt`` with 95 % confidence."""

    number: int
    change: str  # "timeout 2 -> 4 ms"
    state: str  # "open", "done" or "void"
    name: str = ""  # what was counted: "rows"
    seconds: float = 0.0  # measured of either side
    before_per_s: float = 0.0
    after_per_s: float = 0.0
    gain: float = 0.0
    doubt: float = 0.0
    wait_ms: float | None = None  # by how much the median wait of a query changed
    left_s: float = 0.0  # of an open one, at most
    foreign_before: float = 0.0  # cores that other programs took,
    foreign_after: float = 0.0
    is_disturbed: bool = False  # by them: the sides cannot be compared

    def __str__(self) -> str:
        if self.state == "open":
            return f"{self.change}: measuring, {self.left_s:.0f} s left at most"
        if self.is_disturbed:
            taken = f"{self.foreign_before:.1f}, then {self.foreign_after:.1f} cores"
            return f"{self.change}: not comparable: other programs took {taken}"
        if self.state == "void":
            return f"{self.change}: nothing to compare with"
        wait = "" if self.wait_ms is None else f", wait p50 {self.wait_ms:+.1f} ms"
        return f"{self.change}: {100 * self.gain:+.1f} % {self.name}/s (+-{100 * self.doubt:.1f}){wait}"

    @classmethod
    def read(cls, value: object) -> "Trial":
        """Back from JSON."""
        return read(cls, value)


class TrialBlock(NamedTuple):
    """A stretch of the run under one set of values."""

    per_s: float
    seconds: float
    wait_s: float | None  # median of its queries, None where there are none
    foreign: float | None  # cores that other programs took, where that is known


@dataclass(slots=True)
class _Open:
    """The trial under way."""

    trial: Trial
    values: dict[str, tuple[str, str]]  # by key: before the first change, after the last
    before: list[TrialBlock] = field(default_factory=list)  # of a lasting change, those that there are from the start
    after: list[TrialBlock] = field(default_factory=list)
    order: list[bool] = field(default_factory=list)  # of the pair under way: whether the next blocks are of the new
    began_s: float = 0.0
    from_s: float = 0.0  # the block under way begins here

    @property
    def is_lasting(self) -> bool:
        return not self.values.keys().isdisjoint(LASTING)


class Trials:
    """The trial under way and those that were.

    A change while one is open becomes part of it: the old values stay, and the blocks begin anew. So holding a key
    down is one trial. While the run is unsettled, paused or with workers on their way, the block under way waits.
    """

    def __init__(
        self,
        gauge: Gauge,
        settings: LiveSettings,
        on_end: OnEnd = lambda trial: None,
        *,
        coin: random.Random | None = None,
    ) -> None:
        self._gauge, self._settings, self._on_end = gauge, settings, on_end
        self._coin = coin or random.Random()
        self._open: _Open | None = None
        self._ended: deque[Trial] = deque(maxlen=KEPT)
        self._waiting: list[tuple[int, OnEnd]] = []  # number of a trial, and what awaits its end
        self._number, self._steady_s = 0, -math.inf  # what came before ``steady_s`` was under other settings

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def all(self) -> list[Trial]:
        """Newest last."""
        return [*self._ended, *([self._open.trial] if self._open is not None else [])]

    def begin(self, changes: Changes, now_s: float) -> int:
        """Take note of settings changed just now, as key: (before, after); return the number of their trial."""
        if self._open is None:
            self._number += 1
            self._open = _Open(Trial(self._number, "", "open"), {})
        current = self._open
        for key, (before, after) in changes.items():
            first, _ = current.values.get(key, (before, after))
            current.values[key] = first, after
        current.trial = replace(current.trial, change=describe(current.values), left_s=MOST_S)
        if not current.before and current.is_lasting:
            current.before = self._blocks_before(now_s)
        elif not current.is_lasting:
            current.before = []
        current.after, current.order, current.began_s = [], [], now_s
        self._steady_s = now_s + (LASTING_SETTLE_S if current.is_lasting else SETTLE_S)
        if not any(first != last for first, last in current.values.values()) or self._is_hopeless(current):
            self._end(replace(current.trial, state="void"))
        else:
            self._settings.pretend({})  # a person sees the new values first
            current.from_s = self._steady_s
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
        current = self._open
        if current is None:
            return
        current.from_s = max(current.from_s, self._steady_s)
        length_s = WINDOW_BLOCK_S if current.is_lasting else BLOCK_S
        current.trial = replace(current.trial, left_s=max(current.began_s + MOST_S - now_s, 0.0))
        if not (current.is_lasting or current.order) and now_s >= current.from_s:
            self._next_block(current, now_s)
        if now_s < current.from_s + length_s or (block := self._block(current.from_s, now_s)) is None:
            return
        if current.is_lasting:
            current.after.append(block)
            current.from_s = now_s
            is_over = len(current.after) == len(current.before)
        else:
            (current.after if current.order.pop(0) else current.before).append(block)
            is_over = not current.order and self._is_enough(current, now_s)
        if is_over:
            trial = replace(current.trial, name=self._gauge.last.figures.name)
            self._end(judged(trial, current.before, current.after, is_paired=not current.is_lasting))
        elif not current.is_lasting:
            self._next_block(current, now_s)

    def _is_enough(self, current: _Open, now_s: float) -> bool:
        """Whether no further pair is needed, or none would be over in time."""
        pair_s = 2 * (BLOCK_S + SETTLE_S)
        if now_s + pair_s > current.began_s + MOST_S:
            return True
        if len(current.after) < LEAST_PAIRS or not any(block.per_s for block in current.before):
            return False
        return compare_pairs(_rates(current.before), _rates(current.after))[1] <= EXACT

    def _next_block(self, current: _Open, now_s: float) -> None:
        """Let the run have the values of the next block; a new pair begins with a coin.

        Each block waits for the run to settle, whether its values are others than the last one's or not: were the time
        of a block the coin's doing, bursts at the border of two pairs would count for more than those inside (8 % of
        null changes were outside on a starved run).
        """
        if not current.order:
            is_new = self._coin.random() < 0.5
            current.order = [is_new, not is_new]
        values = {} if current.order[0] else {key: before for key, (before, _) in current.values.items()}
        self._settings.pretend(values)
        current.from_s = max(now_s + SETTLE_S, self._steady_s)

    def _blocks_before(self, now_s: float) -> list[TrialBlock]:
        """The latest blocks before a lasting change, as far back as nothing was changed."""
        blocks: list[TrialBlock] = []
        end_s = now_s
        while len(blocks) < WINDOW_BLOCKS and end_s - WINDOW_BLOCK_S >= self._steady_s:
            block = self._block(end_s - WINDOW_BLOCK_S, end_s)
            if block is None or block.seconds < WINDOW_BLOCK_S / 2:
                break
            blocks.insert(0, block)
            end_s -= WINDOW_BLOCK_S
        return blocks

    def _is_hopeless(self, current: _Open) -> bool:
        return current.is_lasting and (len(current.before) < 2 or not any(block.per_s for block in current.before))

    def _block(self, first_s: float, last_s: float) -> TrialBlock | None:
        samples = self._gauge.between(first_s, last_s)
        return block_of(samples) if len(samples) > 1 else None

    def _end(self, trial: Trial) -> None:
        self._open = None
        self._settings.pretend(None)
        trial = replace(trial, left_s=0.0)
        self._ended.append(trial)
        self._on_end(trial)
        ready = [on_end for number, on_end in self._waiting if number == trial.number]
        self._waiting = [(number, on_end) for number, on_end in self._waiting if number != trial.number]
        for on_end in ready:
            on_end(trial)


def block_of(samples: Sequence[Sample]) -> TrialBlock:
    """What happened between the first and the last of two samples or more."""
    first, last = samples[0], samples[-1]
    seconds = last.at_s - first.at_s
    times = [sample.times for sample in samples if sample.times is not None]
    foreign = cpu.usage(times[0], times[-1]).foreign if len(times) > 1 else None
    return TrialBlock((last.figures.total - first.figures.total) / seconds, seconds, _wait_s(first, last), foreign)


def judged(trial: Trial, before: Sequence[TrialBlock], after: Sequence[TrialBlock], *, is_paired: bool) -> Trial:
    """The trial with its result: void where the old values stood still or others disturbed it."""
    if not any(block.per_s for block in before) or len(after) < 2:
        return replace(trial, state="void")
    comparison = compare_pairs if is_paired else compare
    gain, doubt = comparison(_rates(before), _rates(after))
    early_s, late_s = _median_wait_s(before), _median_wait_s(after)
    known = [(early.foreign, late.foreign) for early, late in zip(before, after, strict=True)]
    early, late = ([pair[side] or 0.0 for pair in known if None not in pair] for side in (0, 1))
    is_disturbed = are_disturbed(early, late, is_paired=is_paired)
    return replace(
        trial,
        state="void" if is_disturbed else "done",
        seconds=sum(block.seconds for block in after),
        before_per_s=fmean(_rates(before)),
        after_per_s=fmean(_rates(after)),
        gain=gain,
        doubt=doubt,
        wait_ms=None if early_s is None or late_s is None else 1000 * (late_s - early_s),
        foreign_before=fmean(early or [0.0]),
        foreign_after=fmean(late or [0.0]),
        is_disturbed=is_disturbed,
    )


def describe(values: Changes) -> str:
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


def _rates(blocks: Sequence[TrialBlock]) -> list[float]:
    return [block.per_s for block in blocks]


def _median_wait_s(blocks: Sequence[TrialBlock]) -> float | None:
    waits_s = [block.wait_s for block in blocks if block.wait_s is not None]
    return median(waits_s) if waits_s else None


def _wait_s(first: Sample, last: Sample) -> float | None:
    """The median wait of the queries between the samples; None where the run has no queries."""
    for early, late in zip(first.figures.parts, last.figures.parts, strict=True):
        if early.waits is not None and late.waits is not None:
            return late.waits.since(early.waits).quantile(0.5)
    return None
