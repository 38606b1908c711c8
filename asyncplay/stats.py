"""Counters and histograms that never grow with the age of a run, and the snapshots made of them."""

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Self

_SUB = 4  # buckets to a factor of two
_LOWEST = -20 * _SUB  # 2 ** -20, about a microsecond where the unit is a second
_BUCKETS = 44 * _SUB
LATEST_VALUES = 10_000  # of a history, older ones are forgotten


class Histogram:
    """Counts by size, in buckets that grow by a fourth of an octave; the oldest values fade."""

    def __init__(self, memory: float = 10_000.0) -> None:
        """``memory`` is how many of the latest values carry most of the weight."""
        self._counts = [0.0] * _BUCKETS
        self._step, self._growth = 1.0, 1 + 1 / memory
        self._log_scale = 0.0  # of what the counts have been divided by so far

    def add(self, value: float) -> None:
        place = math.ceil(_SUB * math.log2(value)) - _LOWEST if value > 0 else 0
        self._counts[min(max(place, 0), _BUCKETS - 1)] += self._step
        self._step *= self._growth
        if self._step > 1e12:
            self._counts = [count / self._step for count in self._counts]
            self._log_scale += math.log(self._step)
            self._step = 1.0

    def copy(self) -> Self:
        """Return one that stays as it is now."""
        twin = type(self)()
        twin._counts = self._counts.copy()
        twin._step, twin._growth, twin._log_scale = self._step, self._growth, self._log_scale
        return twin

    def since(self, earlier: Self) -> Self:
        """Return only the values that came after ``earlier``, a copy of this one, was made."""
        shrunk = math.exp(earlier._log_scale - self._log_scale)
        rest = self.copy()
        rest._counts = [max(now - shrunk * then, 0.0) for now, then in zip(self._counts, earlier._counts, strict=True)]
        return rest

    def quantile(self, share: float) -> float:
        """Return a value that ``share`` of the values do not exceed, 19 % too high at most; 0 when empty."""
        wanted, seen, highest = share * sum(self._counts), 0.0, 0.0
        for place, count in enumerate(self._counts):
            seen += count
            if count:
                highest = float(2 ** ((place + _LOWEST) / _SUB))
                if seen >= wanted:
                    break
        return highest  # also where rounding leaves ``seen`` a little short of everything

    def octaves(self) -> dict[int, float]:
        """Return the share of the values in (2 ** (k - 1), 2 ** k] for each k that occurs."""
        total = sum(self._counts)
        shares: dict[int, float] = {}
        for place, count in enumerate(self._counts):
            if count:
                octave = math.ceil((place + _LOWEST) / _SUB)
                shares[octave] = shares.get(octave, 0.0) + count / total
        return shares


@dataclass(frozen=True, slots=True)
class BatchStats:
    """What the evaluator has done."""

    rows: int = 0
    batches: int = 0
    device_s: float = 0.0  # time the device spent on them
    queued_rows: int = 0
    batch_rows: Histogram = field(default_factory=Histogram)
    wait_s: Histogram = field(default_factory=Histogram)  # of requests, from arrival to launch
    fixed_s: float = 0.0  # a of the fitted service time a + b n
    per_row_s: float = 0.0
    arm: str = ""
    asked_rows: int = 0  # that ever came, answered or not
    extra_rows: int = 0  # of those, leaves beside the first of their tree, which fill a block where games are too few
    spared_rows: int = 0  # that needed no asking, because workers remembered their answers

    @property
    def mean_batch(self) -> float:
        return self.rows / max(self.batches, 1)

    @property
    def rows_per_device_s(self) -> float:
        return self.rows / self.device_s if self.device_s else 0.0

    def since(self, earlier: Self) -> Self:
        """Where the rows came from that came after ``earlier``; all other fields stay."""
        return replace(
            self,
            asked_rows=self.asked_rows - earlier.asked_rows,
            extra_rows=self.extra_rows - earlier.extra_rows,
            spared_rows=self.spared_rows - earlier.spared_rows,
        )

    @property
    def extra_share(self) -> float:
        """Of the rows that were asked."""
        return self.extra_rows / max(self.asked_rows, 1)

    @property
    def spared_share(self) -> float:
        """Of the rows that searches wanted, asked or not."""
        return self.spared_rows / max(self.asked_rows + self.spared_rows, 1)


@dataclass(frozen=True, slots=True)
class TrainStats:
    """What the trainer has done. Losses and ages are those of the last step."""

    version: int = 0  # of the weights that were published last
    steps: int = 0
    rows: int = 0  # trained on, each as often as it was drawn
    steps_per_s: float = 0.0  # over the latest steps
    policy_loss: float = 0.0
    value_loss: float = 0.0
    gradient_norm: float = 0.0
    learning_rate: float = 0.0
    micro_rows: int = 0  # of the parts in which a step goes to the device
    device_s: float = 0.0  # time the device spent on training
    inserted_rows: int = 0
    window_rows: int = 0
    age_rows: float = 0.0  # mean number of rows that came after a drawn row
    version_lag: float = 0.0  # mean number of versions since a drawn row was played
    sampled_rows: int = 0
    balance: str = ""  # who waits for whom

    @property
    def samples_per_insert(self) -> float:
        return self.sampled_rows / max(self.inserted_rows, 1)


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """One line of the pool."""

    number: int
    state: str
    pid: int
    rows: int  # answered, whoever filled the post
    restarts: int
    reason: str  # of the last end
    units: int = 0  # of work done, whoever filled the post


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What the writer of the games has done."""

    games: int = 0  # on disk
    queued: int = 0  # games that wait for their commit
    lag_s: float = 0.0  # from arrival to commit: of the last game, or of the oldest that waits if that is longer
    is_holding: bool = False  # play waits for the disk
    trouble: str = ""  # why nothing can be stored at the moment
    rows: int = 0  # training rows of the games on disk
    commits: int = 0
    busy_s: float = 0.0  # spent in commits
    repeats: int = 0  # games that came although they were there


@dataclass(slots=True)
class RoundStats:
    """What a tabular run has done; counts since it began, resumes included."""

    iterations: int = 0  # that came back and were merged
    nodes: int = 0  # visited for them
    pieces: int = 0
    infosets: int = 0  # rows of the table that were ever changed
    rows_in: int = 0  # touched rows that workers reported
    rows_out: int = 0  # rows that workers were told of
    bytes_in: int = 0
    bytes_out: int = 0
    utilities: deque[float] = field(
        default_factory=lambda: deque(maxlen=LATEST_VALUES)
    )  # of the first player, by piece

    @property
    def utility(self) -> float:
        """The moving average."""
        return sum(self.utilities) / max(len(self.utilities), 1)
