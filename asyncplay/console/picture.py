"""The whole screen from one snapshot: a pure function of it, the size and what the person has opened."""

from operator import attrgetter
from typing import NamedTuple

from rich.style import Style

from asyncplay.console import panels
from asyncplay.console.ink import BAD, BOLD, DIM, HOT, Frame, Line, duration, fit, line, short, wrap
from asyncplay.console.keys import known
from asyncplay.console.layout import GAP, Panel, beside, column
from asyncplay.monitor.snapshot import Snapshot

TWO_COLUMNS = 76
LOG_LINES = 8  # of an opened log that panels leave it in any case, where that is not half of the screen
HEADLINE = Style(reverse=True)


class Opened(NamedTuple):
    """What of the screen is the person's choice, and the last answer to a key."""

    log: bool = False
    help: bool = False
    said: str = ""
    is_owner: bool = True  # q stops the run, not only the view of it


def draw(shot: Snapshot, opened: Opened, columns: int, height: int) -> Frame:
    """Exactly ``height`` lines of ``columns`` cells. The head and the last lines stay, whatever is folded."""
    title = f" {shot.title}  {duration(shot.elapsed_s)}  {shot.state} "
    rest = columns - len(title) - 1
    top = [line((title, HEADLINE + BOLD), (short(shot.folder, max(rest, 0)).rjust(rest) + " ", HEADLINE))]
    top += [line((text, HOT + BOLD)) for text in wrap(str(shot.verdict), columns, 2 if height >= 8 else 1)]
    event, bottom = shot.event, []
    if event is not None and (event.is_error or not opened.said):
        bottom.append(line((short(event.text, columns), BAD if event.is_error else DIM)))
    if opened.said:
        bottom.append(line((short(opened.said, columns), BOLD)))
    leaving = "stop" if opened.is_owner else "leave"
    hint = " ".join([*(key.hint for key in known(shot) if key.hint), "q", leaving])
    hint = hint if len(hint) <= columns else f"? help  q {leaving}"
    bottom = [*(bottom or [line()]), line((hint, DIM))]
    middle = _middle(shot, opened, columns, max(height - len(top) - len(bottom), 0))
    return Frame(fit(content, columns) for content in [*top, *middle, *bottom][:height])


def _middle(shot: Snapshot, opened: Opened, columns: int, room: int) -> list[Line]:
    """The help, or columns of panels; below them, over the whole width, the latest changes and the opened log."""
    if opened.help:
        return _in_columns([[_keys(shot, opened)], [panels.explained(shot, _widths(columns)[-1])]], columns, room)
    widths = _widths(columns)
    sides = [_left(shot, widths[0]), _right(shot, widths[-1])]
    below = []
    if shot.trials and room >= 6:
        below.append(panels.trials(shot, columns, 3 if room >= 14 else 1))
    if opened.log and room >= 3:
        wanted = max(sum(panel.wanted for panel in side) for side in sides)
        spare = room - wanted - 1 - sum(panel.wanted for panel in below)
        half = max(room // 2 - 1, 1)
        below.append(panels.logged(shot, columns, max(min(half, LOG_LINES), min(half, spare))))
    lines = column(below, columns, sum(panel.wanted for panel in below)) if below else []
    return [*_in_columns(sides, columns, room - len(lines)), *lines]


def _in_columns(sides: list[list[Panel]], columns: int, room: int) -> list[Line]:
    """Side by side, or one below the other where the screen is narrow."""
    widths = _widths(columns)
    if len(widths) == 1:
        return column([panel for side in sides for panel in side], columns, room)
    return beside(*(column(side, width, room) for side, width in zip(sides, widths, strict=True)))


def _widths(columns: int) -> list[int]:
    right = (columns - GAP) // 2
    return [columns] if columns < TWO_COLUMNS else [columns - GAP - right, right]


def _keys(shot: Snapshot, opened: Opened) -> Panel:
    meanings = [(key.keys, key.meaning) for key in known(shot)]
    meanings.append(("q", "stop and save" if opened.is_owner else "leave; the run goes on"))
    lines = [line((f"{keys:>5}  ", BOLD), meaning) for keys, meaning in meanings]
    return Panel("keys", 1, 1, [*lines, line(), line(("Ctrl-Z suspends, Ctrl-C stops and saves", DIM))])


def _left(shot: Snapshot, width: int) -> list[Panel]:
    return sorted([panels.throughput(shot, width), *_parts(shot, width, is_left=True)], key=attrgetter("rank"))


def _right(shot: Snapshot, width: int) -> list[Panel]:
    results = [panels.results(shot, width)] if shot.results else []
    drawn = [*_parts(shot, width, is_left=False), panels.workers(shot), *results]
    return sorted(drawn, key=attrgetter("rank"))


def _parts(shot: Snapshot, width: int, *, is_left: bool) -> list[Panel]:
    parts = [part for part in shot.parts.values() if part.IS_LEFT is is_left]
    return [panel for part in parts for panel in panels.figures(part, shot.curves, width)]
