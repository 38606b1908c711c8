"""Plots as SVG, drawn from numbers alone."""

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

from asyncplay.archive.report.scale import Scale, brief, fit, fit_wide, ticks, time_unit

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 30, 30
MOST_POINTS = 600
GAP = 10  # a line is broken where so many median intervals have no point

Point = tuple[float, float]


class Line(NamedTuple):
    """Named values over time, in seconds from the start of the run."""

    name: str
    points: Sequence[Point]


class Bar(NamedTuple):
    """A value, with its interval where there is one."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


class Mark(NamedTuple):
    """A value measured at one time, with its interval."""

    name: str
    time_s: float
    value: float
    low: float
    high: float


def line_plot(key: str, lines: Sequence[Line], *, unit: str, nothing: str) -> str:
    """Lines over time, a colour each; without points the plot shows the text ``nothing``."""
    lines = [Line(name, thinned(points)) for name, points in lines if points]
    if not lines:
        return _empty(key, nothing)
    points = [point for line in lines for point in line.points]
    across = _time_scale([time_s for time_s, _ in points])
    up = fit([value for _, value in points], HEIGHT - BOTTOM, TOP)
    drawn = _frame(across, up, unit)
    for colour, line in enumerate(lines):
        drawn += [_path(line.points, across, up, colour), *_dots(line.points, across, up, colour)]
    return _svg(key, [*drawn, *_legend([line.name for line in lines])])


def mark_plot(key: str, marks: Sequence[Mark], *, unit: str, nothing: str) -> str:
    """Measured values with intervals over time, a colour for each name, joined by lines."""
    if not marks:
        return _empty(key, nothing)
    names = list(dict.fromkeys(mark.name for mark in marks))
    across = _time_scale([mark.time_s for mark in marks])
    up = fit_wide([bound for mark in marks for bound in (mark.low, mark.high)], HEIGHT - BOTTOM, TOP)
    drawn = _frame(across, up, unit)
    for colour, name in enumerate(names):
        own = [mark for mark in marks if mark.name == name]
        drawn.append(_path([(mark.time_s, mark.value) for mark in own], across, up, colour))
        for mark in own:
            x, y = across.place(mark.time_s), up.place(mark.value)
            low, high = up.place(mark.low), up.place(mark.high)
            drawn.append(
                f'<line class="whisker c{colour % 6}" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
                f'<circle class="dot c{colour % 6}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            )
    return _svg(key, [*drawn, *_legend(names)])


def bar_plot(key: str, bars: Sequence[Bar], *, unit: str, nothing: str) -> str:
    """A bar for each value, named below it."""
    if not bars:
        return _empty(key, nothing)
    bounds = [bound for bar in bars for bound in (bar.value, bar.low, bar.high) if bound is not None]
    up = fit(bounds, HEIGHT - BOTTOM, TOP)
    step, zero = (WIDTH - LEFT - RIGHT) / len(bars), up.place(0.0)
    width = min(0.6 * step, 80.0)
    drawn = _rules(up, unit)
    for place, bar in enumerate(bars):
        centre, y = LEFT + (place + 0.5) * step, up.place(bar.value)
        top, height = min(y, zero), abs(zero - y)
        drawn += [
            f'<rect class="bar" x="{centre - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>',
            f'<text class="x" x="{centre:.1f}" y="{HEIGHT - BOTTOM + 16}">{escape(bar.name)}</text>',
            f'<text class="x value" x="{centre + width / 4:.1f}" y="{top - 3:.1f}">{brief(bar.value)}</text>',
        ]
        if bar.low is not None and bar.high is not None:
            low, high = up.place(bar.low), up.place(bar.high)
            drawn.append(f'<line class="whisker" x1="{centre:.1f}" x2="{centre:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
    return _svg(key, drawn)


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most so many points: means of equal parts of the finite ones."""
    finite = [(time_s, value) for time_s, value in points if math.isfinite(value)]
    if len(finite) <= most:
        return finite
    edges = [len(finite) * part // most for part in range(most + 1)]
    return [
        (fmean(time_s for time_s, _ in finite[start:end]), fmean(value for _, value in finite[start:end]))
        for start, end in pairwise(edges)
    ]


def _time_scale(times_s: Sequence[float]) -> Scale:
    low, high = min(times_s), max(times_s)
    return Scale(low, high if high > low else low + 1, LEFT, WIDTH - RIGHT)


def _svg(key: str, drawn: Sequence[str]) -> str:
    body = "\n".join(drawn)
    return f'<svg id="plot-{key}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" data-drawn="yes">\n{body}\n</svg>'


def _empty(key: str, nothing: str) -> str:
    words = f'<text class="nothing" x="{WIDTH / 2}" y="{HEIGHT / 2}">{escape(nothing)}</text>'
    return f'<svg id="plot-{key}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" data-drawn="no">{words}</svg>'


def _frame(across: Scale, up: Scale, unit: str) -> list[str]:
    """Both axes; time in the unit that suits its span."""
    size, name = time_unit(across.high - across.low)
    in_unit = fit([across.low / size, across.high / size], 0, 1, has_zero=False)
    moments = [tick * size for tick in ticks(in_unit) if across.low <= tick * size <= across.high]
    floor = HEIGHT - BOTTOM + 16
    below = [f'<text class="x" x="{across.place(m):.1f}" y="{floor}">{brief(m / size)} {name}</text>' for m in moments]
    return [*_rules(up, unit), *below]


def _rules(up: Scale, unit: str) -> list[str]:
    drawn = [f'<text class="unit" x="4" y="12">{escape(unit)}</text>']
    for tick in ticks(up):
        y = up.place(tick)
        drawn.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text class="y" x="{LEFT - 6}" y="{y + 4:.1f}">{brief(tick)}</text>')
    return drawn


def _path(points: Sequence[Point], across: Scale, up: Scale, colour: int) -> str:
    """A line that is broken at gaps."""
    words = [
        f"{'M' if first else 'L'}{across.place(x):.1f} {up.place(y):.1f}"
        for first, (x, y) in zip(_beginnings(points), points, strict=True)
    ]
    return f'<path class="line c{colour % 6}" d="{"".join(words)}"/>'


def _dots(points: Sequence[Point], across: Scale, up: Scale, colour: int) -> list[str]:
    """The points with a gap on either side, of which a line shows nothing."""
    begins = _beginnings(points)
    alone = [point for point, *both in zip(points, begins, [*begins[1:], True], strict=True) if all(both)]
    places = [(across.place(x), up.place(y)) for x, y in alone]
    return [f'<circle class="dot c{colour % 6}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]


def _beginnings(points: Sequence[Point]) -> list[bool]:
    """Whether a line begins anew at each point."""
    steps = [later - earlier for (earlier, _), (later, _) in pairwise(points)]
    longest = GAP * median(steps) if steps else 0.0
    return [True, *(step > longest for step in steps)]


def _legend(names: Sequence[str]) -> list[str]:
    drawn, x = [], LEFT + 80
    for colour, name in enumerate(names):
        drawn.append(f'<rect class="key c{colour % 6}" x="{x}" y="3" width="10" height="10"/>')
        drawn.append(f'<text class="name" x="{x + 14}" y="12">{escape(name)}</text>')
        x += 28 + 7 * len(name)
    return drawn
