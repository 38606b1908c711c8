"""Figures, declared once: a field of a part says its unit, its kind and how it is shown; everything else derives.

    queued_rows: Annotated[int, Figure("gauge", "rows", "queued", count, line="queue {:,}")] = 0
    \"""Rows that wait for a batch.\"""

A part belongs to the code that counts it and lives beside it. The console, the plain line, the JSON lines, the
metrics table, TensorBoard, the control socket and the report know a part by ``PARTS`` and a figure by its declaration.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.verdict import Strain
from asyncplay.stats import Histogram

Kind = Literal["counter", "gauge", "gauges", "histogram", "text", "note", "alarm"]
"""A histogram is a tuple of (largest value of the octave, share); a note explains the figure declared before it; an
alarm is a text that is empty while all is well. Counters and gauges are metrics; so is each entry of
"gauges", a tuple, with its number at the end of its name."""


MOST_GAUGES = 8  # entries of a tuple of gauges: one for each seat


class Plot(NamedTuple):
    """A plot of the report over time; ``nothing`` is its text for a run without these figures."""

    key: str
    title: str
    nothing: str


class Figure(NamedTuple):
    """How one field of a part is measured and shown."""

    kind: Kind
    unit: str
    label: str = ""  # in the console's panel; without one the text continues that of the figure before
    form: Callable[[Any], str] | None = None  # of the value in the panel; None: it has no cell there
    line: str = ""  # format on the plain line, of this value and of all figures by name; empty: not on it
    plot: Plot | None = None
    hides_zero: bool = False  # in the panel and on the plain line
    has_curve: bool = False  # in the console
    words: str = ""  # that explain the label on the console's page of help


class Part:
    """What one owner shows of a run: a dataclass whose fields with a ``Figure`` are shown.

    The owner counts since the run began. Fields without a ``Figure`` are counts that others are made of: they stay in
    the process. ``since`` turns a sample into what is shown, with rates and shares since an earlier one.
    """

    __slots__ = ()

    NAME: ClassVar[str]  # its key in a snapshot's JSON and the first part of its metrics' names
    TITLE: ClassVar[str]  # of its panel
    RANK: ClassVar[int]  # the lowest is shown first and folded last
    LEAST: ClassVar[int] = 2  # lines of the panel that make sense alone
    IS_LEFT: ClassVar[bool] = False  # the column of its panel
    FIRST: ClassVar[tuple[str, ...]] = ()  # figures that come first in the panel; the others follow as declared

    FIGURES: ClassVar[Mapping[str, Figure]]  # the declarations by name, in order

    def __init_subclass__(cls) -> None:
        hints = inspect.get_annotations(cls)
        cls.FIGURES = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
        PARTS[cls.NAME] = cls

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        """Return the figures to show at this sample, ``seconds`` after ``then``."""
        return self

    def still(self) -> Self:
        """Return a sample that no longer changes."""
        return self

    def strain(self, strain: Strain) -> Strain:
        """Add what the verdict needs to know of this part."""
        return strain

    @property
    def waits(self) -> Histogram | None:
        """Seconds from a query's arrival to its launch, where there are queries: a trial compares them."""
        return None

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FIGURES}

    def shown(self, *first: str) -> Iterator[tuple[Figure, Any]]:
        """Each figure with its value, but for zeros that are hidden; those named ``first`` come before the others."""
        for name in dict.fromkeys((*first, *self.FIGURES)):
            figure, value = self.FIGURES[name], getattr(self, name)
            if value or not figure.hides_zero:
                yield figure, value


PARTS: dict[str, type[Part]] = {}
"""Every part by name. Defining one enters it here; ``asyncplay.methods.figures`` imports all there are."""


def ranked() -> list[type[Part]]:
    """Every known part, the first to be shown first."""
    return sorted(PARTS.values(), key=lambda kind: (kind.RANK, kind.NAME))


def plots() -> dict[Plot, dict[str, str]]:
    """The declared plots of the report, with the names and units of their metrics."""
    found: dict[Plot, dict[str, str]] = {}
    for kind in ranked():
        for name, figure in kind.FIGURES.items():
            if figure.plot is not None:
                names = [f"{name}_{entry}" for entry in range(MOST_GAUGES)] if figure.kind == "gauges" else [name]
                found.setdefault(figure.plot, {}).update((f"{kind.NAME}/{each}", figure.unit) for each in names)
    return found


def per_s(then: float, now: float, seconds: float) -> float:
    """The rate of a count; 0 where it fell or no time passed."""
    return max(now - then, 0.0) / seconds if seconds > 0 else 0.0


def count(value: float) -> str:
    """Four digits are enough to watch: 9,876 12.3k 4.57M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.{_decimals(scaled)}f}{unit}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    return max(0, 2 - max(int(math.log10(abs(value))), 0)) if value else 0
