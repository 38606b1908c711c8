"""What a tabular run shows of its rounds."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.part import Figure, Part, Plot, count

NO_TABLE = "this run solves nothing by table"
SOLVING = Plot("solving", "Utility of the first player, and regret", NO_TABLE)
VISITED = Plot("visited", "Share of the table that was visited", NO_TABLE)
LATEST_UTILITIES = 10_000  # pieces that the moving average is of


@dataclass(slots=True)
class RoundFigures(Part):
    """How a tabular run proceeds; counts since it began, resumes included."""

    NAME = "rounds"
    TITLE = "rounds"
    RANK = 4
    IS_LEFT = True

    pieces: Annotated[int, Figure("counter", "pieces", "pieces", count)] = 0
    """Pieces of work that came back and were merged."""

    iterations: Annotated[int, Figure("counter", "iterations", "iterations", count)] = 0
    """Iterations of those pieces."""

    nodes: Annotated[int, Figure("counter", "nodes", "nodes", count)] = 0
    """Nodes visited for them."""

    infosets: Annotated[int, Figure("gauge", "infosets", "infosets", count, line="infosets {:,}")] = 0
    """Infosets of the table that were ever changed."""

    utility: Annotated[
        float,
        Figure(
            "gauge",
            "points",
            "utility",
            "{:+.4f}".format,
            plot=SOLVING,
            has_curve=True,
            words="mean of the first player's gains",
        ),
    ] = 0.0
    """Utility of the first player, mean of the iterations of the last 10,000 pieces."""

    regret: Annotated[float, Figure("gauge", "points", "regret", "{:.4f}".format, plot=SOLVING, hides_zero=True)] = 0.0
    """Positive regrets of all infosets, the largest of each, by weighted iteration; it falls towards 0."""

    visited: Annotated[float, Figure("gauge", "share", "visited", "{:.1%}".format, plot=VISITED)] = 0.0
    """Share of the table's infosets that were ever changed."""

    table_bytes: Annotated[int, Figure("gauge", "bytes", "table", count)] = 0
    """Bytes of the table."""

    bytes_in: Annotated[int, Figure("counter", "bytes")] = 0
    """Bytes of changes from workers."""

    bytes_out: Annotated[int, Figure("counter", "bytes")] = 0
    """Bytes of merged changes to workers."""

    rows_in: int = 0  # touched infosets that workers reported
    rows_out: int = 0  # infosets that were sent to workers
    utilities: deque[tuple[float, float]] = field(
        default_factory=lambda: deque(maxlen=LATEST_UTILITIES)
    )  # of the first player, mean of each piece, and its iterations

    @property
    def mean_utility(self) -> float:
        """By iteration: pieces are of different sizes."""
        weight = sum(iterations for _, iterations in self.utilities)
        return sum(utility * iterations for utility, iterations in self.utilities) / max(weight, 1)

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        return replace(self, utility=self.mean_utility)

    def still(self) -> Self:
        return replace(self)
