"""The result of a match in numbers, with the doubt that is left."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

SURE = 1.96  # deviations on either side that make 95 %


class Score(NamedTuple):
    """A match's result for the hero, with a 95 % interval over the games of one opening or deal.

    Two seats: 1 is won, 0 lost. More: its points above the mean of the others, in the game's own units.
    """

    score: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int
    points: tuple[float, ...] = ()  # more than two seats: the hero's mean points, by the seat it had
    others: float = 0.0  # and those of the other seats

    @property
    def unit(self) -> str:
        return "points" if self.points else "score"

    def __str__(self) -> str:
        if not self.points:
            return f"{self.score:.3f} ({self.low:.3f} to {self.high:.3f}, {self.games} games)"
        seats = " ".join(f"{points:.2f}" for points in self.points)
        interval = f"{self.low:+.2f} to {self.high:+.2f}, {self.games} games"
        return f"{self.score:+.2f} points above the others' {self.others:.2f} ({interval}); by seat {seats}"


def score(outcomes: Mapping[int, float], seats: int) -> Score:
    """Sum up outcomes in -1 .. 1 by game number; the games of one opening, ``seats`` of them, count as one.

    Shared openings make the games of a pair alike, so the interval is over the means of pairs; with all of them
    equal it is that of a single doubtful game.
    """
    points = {unit: (outcome + 1) / 2 for unit, outcome in outcomes.items()}
    mean, doubt = _mean_and_doubt(points, seats, least=1 / len(points), alone=0.5)
    results = np.sign(list(outcomes.values()))
    wins, draws, losses = (int((results == wanted).sum()) for wanted in (1, 0, -1))
    return Score(mean, max(mean - doubt, 0.0), min(mean + doubt, 1.0), len(points), wins, draws, losses)


def compare(returns: Mapping[int, Points], seats: int) -> Score:
    """Sum up games of more than two seats: ``returns`` float64[P] by game number, the hero at seat number mod P.

    The highest points win; who shares them draws.
    """
    mine = {unit: float(points[unit % seats]) for unit, points in returns.items()}
    others = {unit: (float(points.sum()) - mine[unit]) / (seats - 1) for unit, points in returns.items()}
    margins = {unit: mine[unit] - others[unit] for unit in returns}
    mean, doubt = _mean_and_doubt(margins, seats, least=0.0, alone=math.inf)
    by_seat = [[mine[unit] for unit in returns if unit % seats == seat] for seat in range(seats)]
    best = [_rank(points, unit % seats) for unit, points in returns.items()]
    wins, draws, losses = (best.count(wanted) for wanted in (1, 0, -1))
    return Score(
        mean,
        mean - doubt,
        mean + doubt,
        len(returns),
        wins,
        draws,
        losses,
        points=tuple(float(np.mean(found)) for found in by_seat),
        others=float(np.mean(list(others.values()))),
    )


def _rank(points: Points, seat: int) -> int:
    """1 for the highest points, 0 for sharing them, -1 for less."""
    if points[seat] < points.max():
        return -1
    return 1 if np.count_nonzero(points == points[seat]) == 1 else 0


def _mean_and_doubt(values: Mapping[int, float], seats: int, *, least: float, alone: float) -> tuple[float, float]:
    """The mean and half of its interval, over the means of games that share an opening or a deal.

    Their spread is at least ``least``, and ``alone`` where there is only one such mean.
    """
    groups: dict[int, list[float]] = {}
    for unit, value in values.items():
        groups.setdefault(unit // seats, []).append(value)
    means = np.array([np.mean(group) for group in groups.values()])
    spread = max(float(means.std(ddof=1)) if len(means) > 1 else alone, least)
    return float(np.mean(list(values.values()))), SURE * spread / math.sqrt(len(means))
