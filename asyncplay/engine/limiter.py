"""Keeps play and training in step: so many rows are sampled for each row inserted, give or take a band."""

import asyncio
import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

LEAST_SHARE = 0.05  # of the device, for whoever is in front: nobody stops altogether


class RatioState(NamedTuple):
    """What a limiter held to when so many rows were inserted; a checkpoint keeps it."""

    inserted: int
    ratio: float
    shift_rows: float


@dataclass(frozen=True, slots=True)
class SampleRatio:
    """What the limiter holds to."""

    ratio: float  # rows sampled for each row inserted
    batch_rows: int  # of a training step
    band_rows: int  # sampled rows that training may be ahead or behind
    minimum_rows: int = 1  # inserted before the first step; they may be sampled, but need not
    shift_rows: float = 0.0  # what rows that came under another ratio owe beyond this one

    def __post_init__(self) -> None:
        assert self.band_rows >= self.batch_rows, "in a band below a batch both sides might wait at once"
        assert self.minimum_rows > 0, "there is nothing to draw from before the first row"

    def after(self, before: RatioState) -> "SampleRatio":
        """From then on this ratio: what had come by then owes what it owed."""
        return replace(self, shift_rows=before.shift_rows + (before.ratio - self.ratio) * before.inserted)

    def lag_rows(self, counts: "RowCounts") -> float:
        """What training is behind, in sampled rows."""
        return self.ratio * counts.inserted + self.shift_rows - counts.sampled


class RowCounts(NamedTuple):
    """Rows so far; what a checkpoint keeps."""

    inserted: int = 0
    sampled: int = 0


class Balance(enum.Enum):
    """Who waits for whom."""

    FILLING = "filling"  # training waits for the minimum
    STEADY = "steady"  # nobody waits
    TRAINING_AHEAD = "training ahead"  # training waits for games
    PLAY_AHEAD = "play ahead"  # new games wait for training


class Shares(NamedTuple):
    """Of the device; the sum is 1."""

    inference: float
    training: float


class Limiter:
    """Says who may go on.

    Lifetime: one run. All methods belong to the loop. Order: whoever waits is woken when the counts allow it.
    Limit: sampled rows never exceed ratio * inserted + band (a ratio that changes counts for the rows under it). They
    fall short of ratio * (inserted - minimum) by more than the band only through games that were under way when new
    ones were held. As the band holds a batch, at most one side waits at a time. End: a waiter is cancelled like
    anybody else.
    """

    def __init__(self, ratio: SampleRatio) -> None:
        self._ratio, self._counts = ratio, RowCounts()
        self._balance = balance(ratio, self._counts)
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    @property
    def batch_rows(self) -> int:
        return self._ratio.batch_rows

    @property
    def can_sample(self) -> bool:
        """Whether a batch may be drawn now."""
        return self._balance in (Balance.STEADY, Balance.PLAY_AHEAD)

    @property
    def is_play_ahead(self) -> bool:
        """Whether new games shall wait for training."""
        return self._balance is Balance.PLAY_AHEAD

    @property
    def balance(self) -> Balance:
        return self._balance

    def retune(self, ratio: float) -> None:
        """Hold to another ratio for the rows that come from now on."""
        self._ratio = replace(self._ratio, ratio=ratio).after(self.ratio_state())
        self._set(self._counts)

    def ratio_state(self) -> RatioState:
        """What a checkpoint keeps of the ratio."""
        return RatioState(self._counts.inserted, self._ratio.ratio, self._ratio.shift_rows)

    def listen(self, listener: Callable[[], None]) -> None:
        """Have ``listener`` called, on the loop, whenever the balance has changed."""
        self._listeners.append(listener)

    def count_inserted(self, rows: int) -> None:
        self._set(self._counts._replace(inserted=self._counts.inserted + rows))

    def count_sampled(self) -> None:
        """Count a batch, at the moment it is drawn."""
        assert self.can_sample, "a batch was drawn out of turn"
        self._set(self._counts._replace(sampled=self._counts.sampled + self._ratio.batch_rows))

    async def until_can_sample(self) -> None:
        while not self.can_sample:
            self._changed.clear()
            await self._changed.wait()

    async def until_training_waits(self) -> None:
        """Return when no batch may be drawn."""
        while self.can_sample:
            self._changed.clear()
            await self._changed.wait()

    def shares(self) -> Shares:
        return shares(self._ratio, self._counts)

    def state(self) -> RowCounts:
        return self._counts

    def restore(self, counts: RowCounts) -> None:
        """Go on from what ``state`` returned, in another process perhaps."""
        self._set(counts)

    def _set(self, counts: RowCounts) -> None:
        self._counts = counts
        before, self._balance = self._balance, balance(self._ratio, counts)
        if self._balance is not before:
            self._changed.set()
            for listener in self._listeners:
                listener()


def balance(ratio: SampleRatio, counts: RowCounts) -> Balance:
    """Who waits, at these counts."""
    lag_rows = ratio.lag_rows(counts)
    if counts.inserted < ratio.minimum_rows:
        return Balance.FILLING
    if lag_rows + ratio.band_rows < ratio.batch_rows:
        return Balance.TRAINING_AHEAD
    if lag_rows - ratio.ratio * ratio.minimum_rows > ratio.band_rows:
        return Balance.PLAY_AHEAD
    return Balance.STEADY


def shares(ratio: SampleRatio, counts: RowCounts) -> Shares:
    """The device's time, by where in its band training is: nearly all for whoever has fallen behind.

    So the counts come to rest where training gets just what it needs to keep up.
    """
    lag_rows = ratio.lag_rows(counts)
    width = 2 * ratio.band_rows + ratio.ratio * ratio.minimum_rows
    training = min(max((lag_rows + ratio.band_rows) / width, LEAST_SHARE), 1 - LEAST_SHARE)
    return Shares(1 - training, training)
