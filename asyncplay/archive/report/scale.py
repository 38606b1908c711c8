"""From values to coordinates on a plot, and the labels of an axis."""

import math
from collections.abc import Iterable
from typing import NamedTuple

N_TICKS = 5
STEPS = (1, 2, 2.5, 5, 10)
WIDE = 50


class Scale(NamedTuple):
    """An axis from ``low`` to ``high`` on ``start`` to ``end``, which may run downwards."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        low, high, here = (math.log10(v) if self.is_log else v for v in (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)


def fit(values: Iterable[float], start: float, end: float, *, has_zero: bool = True) -> Scale:
    """An axis that covers all values and ends at round numbers."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    if has_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - abs(low) / 2, high + (abs(high) / 2 or 1.0)
    step = _step(high - low)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, end)


def fit_wide(values: Iterable[float], start: float, end: float) -> Scale:
    """A logarithmic axis between powers of ten where positive values are far apart, as of a quantity that falls towards
    zero; else a linear one."""
    wide = [value for value in values if math.isfinite(value)]
    if not wide or min(wide) <= 0 or max(wide) < WIDE * min(wide):
        return fit(wide, start, end)
    low, high = 10.0 ** math.floor(math.log10(min(wide))), 10.0 ** math.ceil(math.log10(max(wide)))
    return Scale(low, high, start, end, is_log=True)


def ticks(scale: Scale) -> list[float]:
    """Round numbers from one end to the other."""
    if scale.is_log:
        first, last = round(math.log10(scale.low)), round(math.log10(scale.high))
        return [10.0**power for power in range(first, last + 1)]
    step = _step(scale.high - scale.low)
    first, last = round(scale.low / step), round(scale.high / step)
    return [number * step for number in range(first, last + 1)]


def brief(value: float) -> str:
    """A number in few characters: 1.2k, 3.4M, 0.05."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.4g}{unit}"
    return f"{value:.4g}"


def time_unit(span_s: float) -> tuple[float, str]:
    """Seconds and name of the unit in which a span of time is written."""
    for size, name in ((86_400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if span_s >= 2 * size:
            return size, name
    return 1.0, "s"


def _step(span: float) -> float:
    """The round number that divides a span into about N_TICKS."""
    power: float = 10 ** math.floor(math.log10(span / N_TICKS))
    return next(power * step for step in STEPS if power * step * N_TICKS >= span * (1 - 1e-9))
