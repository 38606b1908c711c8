"""The whole screen from one snapshot: a pure function of it, the size and what the person has opened."""

from typing import NamedTuple

from rich.style import Style

from asyncplay.console import panels
from asyncplay.console.ink import BAD, BOLD, DIM, HOT, Frame, Line, duration, fit, line, short, wrap
from asyncplay.console.keys import KEYS
from asyncplay.console.layout import GAP, Drawing, Panel, beside, column
from asyncplay.monitor.snapshot import Snapshot

TWO_COLUMNS = 76
LEFT = (panels.throughput, panels.batches, panels.batch_sizes)
RIGHT = (panels.learning, panels.rounds, panels.workers, panels.results, panels.store)
HINT = "[] timeout -+ rows wW workers a auto u undo p pause c save l log ? help q "
HEADLINE = Style(reverse=True)


class Opened(NamedTuple):
    """What of the screen is the person's choice, and what was said to them last."""

    log: bool = False
    help: bool = False
    said: str = ""
    is_owner: bool = True  # q stops the run, not only the view of it


def draw(shot: Snapshot, opened: Opened, columns: int, rows: int) -> Frame:
    """Exactly ``rows`` lines of ``columns`` cells. The head and the last words stay, whatever is folded."""
    top = [_headline(shot, columns), *_verdict(shot, columns, 2 if rows >= 8 else 1)]
    bottom = [*_event(shot, opened, columns), _hint(opened, columns)]
    room = max(rows - len(top) - len(bottom), 0)
    lines = [*top, *_middle(shot, opened, columns, room), *bottom]
    return Frame(fit(content, columns) for content in lines[:rows])


def _headline(shot: Snapshot, columns: int) -> Line:
    left = f" {shot.title}  {duration(shot.elapsed_s)}  {shot.state} "
    room = columns - len(left) - 1
    return line((left, HEADLINE + BOLD), (short(shot.folder, max(room, 0)).rjust(room) + " ", HEADLINE))


def _verdict(shot: Snapshot, columns: int, most: int) -> list[Line]:
    return [line((row, HOT + BOLD)) for row in wrap(str(shot.verdict), columns, most)]


def _event(shot: Snapshot, opened: Opened, columns: int) -> list[Line]:
    """The answer to the last key, else the last event; an error stays beside either."""
    event, lines = shot.event, []
    if event is not None and (event.is_error or not opened.said):
        lines.append(line((short(event.text, columns), BAD if event.is_error else DIM)))
    if opened.said:
        lines.append(line((short(opened.said, columns), BOLD)))
    return lines or [line()]


def _hint(opened: Opened, columns: int) -> Line:
    leaving = "stop" if opened.is_owner else "leave"
    whole = HINT + leaving
    return line((whole if len(whole) <= columns else f"? help  q {leaving}", DIM))


def _middle(shot: Snapshot, opened: Opened, columns: int, room: int) -> list[Line]:
    """Columns of panels, and below them what needs the whole width."""
    if opened.help:
        return column([_help(opened)], columns, room)
    below = _below(shot, opened, columns, room)
    lines = column(below, columns, sum(len(panel.lines) + 1 for panel in below)) if below else []
    return [*_columns(shot, columns, room - len(lines)), *lines]


def _below(shot: Snapshot, opened: Opened, columns: int, room: int) -> list[Panel]:
    """The log gets half of the room when it is opened; three changes are shown, fewer where it is tight."""
    panel = panels.trials(shot, columns)
    found = [] if panel is None or room < 6 else [panel._replace(lines=panel.lines[: 3 if room >= 14 else 1])]
    if opened.log and room >= 3:
        found.append(panels.logged(shot, columns, max(room // 2 - 1, 1)))
    return found


def _columns(shot: Snapshot, columns: int, room: int) -> list[Line]:
    if columns < TWO_COLUMNS:
        return column(_drawn(shot, (*LEFT, *RIGHT), columns), columns, room)
    right = (columns - GAP) // 2
    left = columns - GAP - right
    return beside(column(_drawn(shot, LEFT, left), left, room), column(_drawn(shot, RIGHT, right), right, room))


def _drawn(shot: Snapshot, drawings: tuple[Drawing, ...], width: int) -> list[Panel]:
    return [panel for drawing in drawings if (panel := drawing(shot, width)) is not None]


def _help(opened: Opened) -> Panel:
    meanings = {**KEYS, "q": "stop and save" if opened.is_owner else "leave; the run goes on"}
    lines = [line((f"{keys:>5}  ", BOLD), meaning) for keys, meaning in meanings.items()]
    return Panel("keys", 1, 1, [*lines, line(), line(("Ctrl-Z suspends, Ctrl-C stops and saves", DIM))])
