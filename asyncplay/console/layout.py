"""Which panel gets how many lines: what matters more is folded later."""

from collections.abc import Sequence
from typing import NamedTuple

from asyncplay.console.ink import Line, fit, heading, line

GAP = 2


class Panel(NamedTuple):
    """A titled block of lines. ``least`` of them make sense alone; the panel of the lowest ``rank`` is folded last."""

    title: str
    rank: int
    least: int
    lines: list[Line]


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


def column(panels: Sequence[Panel], width: int, room: int) -> list[Line]:
    """Panels one below the other in exactly ``room`` lines; its title and its first lines of each."""
    given = share_out([(panel.rank, panel.least + 1, len(panel.lines) + 1) for panel in panels], room)
    spare = room - sum(given) >= len(panels)
    lines: list[Line] = []
    for panel, n_lines in zip(panels, given, strict=True):
        if n_lines:
            lines += [heading(panel.title, width), *panel.lines[: n_lines - 1], *([line()] if spare else [])]
    lines += [line()] * (room - len(lines))
    return [fit(content, width) for content in lines]


def beside(left: Sequence[Line], right: Sequence[Line]) -> list[Line]:
    return [[*first, *line(" " * GAP), *second] for first, second in zip(left, right, strict=True)]
