"""The whole screen from one snapshot: a pure function of it, the size and what the person has opened."""

from operator import attrgetter
from typing import NamedTuple

from rich.style import Style

from asyncplay.console import panels
from asyncplay.console.ink import BAD, BOLD, DIM, HOT, Frame, Line, duration, fit, line, short, wrap
from asyncplay.console.keys import KEYS
from asyncplay.console.layout import GAP, Panel, beside, column
from asyncplay.monitor.snapshot import Snapshot

TWO_COLUMNS = 76
HINT = "[] timeout -+ rows wW workers a auto u undo p pause c save l log ? help q "
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
    hint = HINT + leaving if len(HINT + leaving) <= columns else f"? help  q {leaving}"
    bottom = [*(bottom or [line()]), line((hint, DIM))]
    middle = _middle(shot, opened, columns, max(height - len(top) - len(bottom), 0))
    return Frame(fit(content, columns) for content in [*top, *middle, *bottom][:height])


def _middle(shot: Snapshot, opened: Opened, columns: int, room: int) -> list[Line]:
    """The help, or columns of panels; below them, over the whole width, the latest changes and the opened log."""
    if opened.help:
        meanings = {**KEYS, "q": "stop and save" if opened.is_owner else "leave; the run goes on"}
        keys = [line((f"{key:>5}  ", BOLD), meaning) for key, meaning in meanings.items()]
        keys += [line(), line(("Ctrl-Z suspends, Ctrl-C stops and saves", DIM))]
        return column([Panel("keys", 1, 1, keys)], columns, room)
    below = []
    if shot.trials and room >= 6:
        below.append(panels.trials(shot, columns, 3 if room >= 14 else 1))
    if opened.log and room >= 3:
        below.append(panels.logged(shot, columns, max(room // 2 - 1, 1)))
    lines = column(below, columns, sum(len(panel.lines) + 1 for panel in below)) if below else []
    room -= len(lines)
    if columns < TWO_COLUMNS:
        return [*column([*_left(shot, columns), *_right(shot, columns)], columns, room), *lines]
    right = (columns - GAP) // 2
    left = columns - GAP - right
    return [*beside(column(_left(shot, left), left, room), column(_right(shot, right), right, room)), *lines]


def _left(shot: Snapshot, width: int) -> list[Panel]:
    drawn = [panel for part in shot.parts.values() if part.IS_LEFT for panel in panels.figures(part, width)]
    return sorted([panels.throughput(shot, width), *drawn], key=attrgetter("rank"))


def _right(shot: Snapshot, width: int) -> list[Panel]:
    drawn = [panel for part in shot.parts.values() if not part.IS_LEFT for panel in panels.figures(part, width)]
    results = [panels.results(shot, width)] if shot.results else []
    return sorted([*drawn, panels.workers(shot), *results], key=attrgetter("rank"))
