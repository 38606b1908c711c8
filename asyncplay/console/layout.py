"""Which panel gets how many lines: what matters more is folded later, and curves take what is left."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from asyncplay.console.ink import Line, fit, heading, line

GAP = 2
MOST = 1000  # lines; no screen has more


class Chart(NamedTuple):
    """Lines of a panel that may be taller than they are: from ``first`` on, ``tall`` of them are drawn anew."""

    draw: Callable[[int], list[Line]]  # as many lines as it is given
    first: int
    tall: int = 0
    least: int = 1  # lines more that make sense,
    most: int = MOST  # and that make more sense than blank ones


class Panel(NamedTuple):
    """A titled block of lines. ``least`` of them make sense alone; the panel of the lowest ``rank`` is folded last."""

    title: str
    rank: int
    least: int
    lines: list[Line]
    chart: Chart | None = None

    @property
    def wanted(self) -> int:
        """Lines with which nothing is folded, the title and the least chart included."""
        return 1 + len(self.lines) + (self.chart.least if self.chart is not None else 0)

    def drawn(self, more: int) -> list[Line]:
        """All lines, with ``more`` of them for the chart."""
        if self.chart is None or not more:
            return self.lines
        before, after = self.lines[: self.chart.first], self.lines[self.chart.first + self.chart.tall :]
        return [*before, *self.chart.draw(self.chart.tall + more), *after]


def share_out(wants: Sequence[tuple[int, int, int]], room: int) -> list[int]:
    """Divide ``room`` among (rank, least, most): by rank, first the least of each, then up to the most."""
    given = [0] * len(wants)
    order = sorted(range(len(wants)), key=lambda place: wants[place][0])
    for place in order:
        if wants[place][1] <= room:
            given[place] = wants[place][1]
            room -= given[place]
    for place in order:
        if given[place]:
            more = min(wants[place][2] - given[place], room)
            given[place] += more
            room -= more
    return given


def grow(charts: Sequence[Chart | None], room: int) -> list[int]:
    """Lines more for each chart: the least of each in order, the rest to whichever is the lowest then."""
    more = [0] * len(charts)
    for place, chart in enumerate(charts):
        if chart is not None and chart.least <= room:
            more[place] = chart.least
            room -= chart.least
    grown = {place: chart for place, chart in enumerate(charts) if chart is not None and more[place]}
    while room and (able := [place for place, chart in grown.items() if more[place] < chart.most]):
        more[min(able, key=lambda place: grown[place].tall + more[place])] += 1
        room -= 1
    return more


def column(panels: Sequence[Panel], width: int, room: int) -> list[Line]:
    """Panels one below the other in exactly ``room`` lines: of each its title and its first lines, with a blank line
    between them and taller charts where there is room for it."""
    given = share_out([(panel.rank, panel.least + 1, len(panel.lines) + 1) for panel in panels], room)
    charts = [panel.chart if n > len(panel.lines) else None for panel, n in zip(panels, given, strict=True)]
    left = room - sum(given)
    least = sum(chart.least for chart in charts if chart is not None)
    gap = [line()] if left - least >= len(panels) else []
    more = grow(charts, left - len(gap) * (len(panels) - 1))
    lines: list[Line] = []
    for panel, n_lines, extra in zip(panels, given, more, strict=True):
        if n_lines:
            shown = panel.drawn(extra)[: n_lines - 1 + extra]
            lines += [*(gap if lines else []), heading(panel.title, width), *shown]
    lines += [line()] * (room - len(lines))
    return [fit(content, width) for content in lines]


def beside(*columns: Sequence[Line]) -> list[Line]:
    """Columns of the same height, each of whose lines are of one width."""
    first, *others = columns
    joined = [list(content) for content in first]
    for other in others:
        joined = [[*left, *line(" " * GAP), *right] for left, right in zip(joined, other, strict=True)]
    return joined
