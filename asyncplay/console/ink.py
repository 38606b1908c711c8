"""Small marks that pictures of a run are made of: figures, bars, lines of a given width.

A line is a list of rich's segments. Tables and panels of rich would look much the same, but took 11.5 instead of 0.7 ms
a picture at 140x45, four times a second, from the processors that play.
"""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean

from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from asyncplay.errors import printable

Line = list[Segment]

PLAIN, DIM, BOLD = Style(), Style(dim=True), Style(bold=True)
HEAD, GOOD, BAD, HOT = Style(color="cyan"), Style(color="green"), Style(color="red", bold=True), Style(color="yellow")
BLOCKS = "▁▂▃▄▅▆▇█"
WIDE = 50  # times the lowest value, from which on a curve is drawn by logarithms
SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


def line(*parts: str | tuple[str, Style]) -> Line:
    """``line("rows/s ", ("12,345", BOLD))``"""
    return [Segment(part, PLAIN) if isinstance(part, str) else Segment(*part) for part in parts]


def fit(content: Line, width: int) -> Line:
    """Cut or filled up to exactly ``width`` cells."""
    return Segment.adjust_line_length(content, width, style=PLAIN)


def wrap(text: str, width: int, most: int) -> list[str]:
    """Break at blanks into at most ``most`` lines; what does not fit ends in an ellipsis."""
    texts: list[str] = [""]
    for word in text.split():
        joined = f"{texts[-1]} {word}".strip()
        if len(joined) <= width or not texts[-1]:
            texts[-1] = joined
        else:
            texts.append(word)
    if len(texts) > most:
        texts[most - 1] = " ".join(texts[most - 1 :])
    return [short(text, width) for text in texts[:most]]


def short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def heading(title: str, width: int) -> Line:
    return line((f"{title} ", HEAD), ("─" * max(width - len(title) - 1, 0), DIM))


def chart(values: Sequence[float], width: int, height: int) -> list[str]:
    """The last ``width`` values as columns from 0 to their highest, top line first; nothing at all is a flat line."""
    shown = values[-width:]
    top = max(shown, default=0.0)
    steps = height * len(BLOCKS)
    levels = [max(math.ceil(value / top * steps), 1) if top > 0 else 1 for value in shown]
    return _columns(levels, height)


def curve(values: Sequence[float], width: int, height: int) -> list[str]:
    """All values across ``width`` cells, from their lowest, an eighth of a cell, to their highest, top line first.

    Few values are steps, many are means. What falls towards 0 by more than WIDE times is drawn by its logarithm.
    """
    if not values:
        return [""] * height
    if min(values) > 0 and max(values) > WIDE * min(values):
        values = [math.log(value) for value in values]
    shown = stretch(values, width)
    low, span = min(shown), max(shown) - min(shown)
    steps = height * len(BLOCKS) - 1
    levels = [1 + (round((value - low) / span * steps) if span > 0 else steps // 2) for value in shown]
    return _columns(levels, height)


def stretch(values: Sequence[float], width: int) -> list[float]:
    """As many values as there are cells: each repeated, or means of neighbours."""
    edges = [len(values) * cell / width for cell in range(width + 1)]
    return [fmean(values[int(first) : max(int(last), int(first) + 1)]) for first, last in pairwise(edges)]


def _columns(levels: Sequence[int], height: int) -> list[str]:
    """Columns of so many eighths of a cell, top line first."""
    return ["".join(_cell(level - below * len(BLOCKS)) for level in levels) for below in reversed(range(height))]


def _cell(level: int) -> str:
    """One cell filled to so many eighths; less than none is blank."""
    return BLOCKS[min(level, len(BLOCKS)) - 1] if level > 0 else " "


def duration(seconds: float) -> str:
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{whole:02d}"


class Frame:
    """A picture: as many lines as the screen has, each as wide as it is."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for content in self.lines:
            yield from content
            yield Segment.line()

    def texts(self) -> list[str]:
        return ["".join(segment.text for segment in content) for content in self.lines]

    def encode(self, colours: ColorSystem | None) -> list[str]:
        """Each line as a terminal takes it."""
        return ["".join(map(partial(_encode, colours), content)) for content in self.lines]


def _encode(colours: ColorSystem | None, segment: Segment) -> str:
    text = printable(segment.text)
    return segment.style.render(text, color_system=colours) if segment.style else text


def colours_of(environment: Mapping[str, str]) -> ColorSystem | None:
    """What the terminal can show; None when the person wants no colours (NO_COLOR)."""
    console = Console(file=io.StringIO(), force_terminal=True, _environ=environment)
    return None if console.no_color else SYSTEMS.get(console.color_system or "")
