"""Histograms that never grow with the age of a run, and intervals of shares."""

import math
from typing import Self

Z_95 = 1.959963984540054
_SUB = 4  # buckets to a factor of two
_LOWEST = -20 * _SUB  # 2 ** -20, about a microsecond where the unit is a second
_BUCKETS = 44 * _SUB


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

    def latest(self, earlier: Self) -> Self:
        """Return the values since ``earlier``, or all of them where none came since."""
        since = self.since(earlier)
        return since if since.octaves() else self

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


def wilson(successes: float, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval of a share, 95 % by default; all of 0 to 1 where nothing was tried."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, centre - half), min(1.0, centre + half)
