"""Matches on the run's own queue: how strong is what was learned?"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asyncplay.coordinator.dispatch import Assignment, Dispatcher, Work
from asyncplay.coordinator.ledger import Ledger
from asyncplay.wire.messages import Game

SURE = 1.96  # deviations on either side that make 95 %


class Score(NamedTuple):
    """A match's result for the hero: 1 is won, 0 lost, with a 95 % interval over pairs of games."""

    score: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.score:.3f} ({self.low:.3f} to {self.high:.3f}, {self.games} games)"


def score(outcomes: Mapping[int, float], seats: int) -> Score:
    """Sum up outcomes in -1 .. 1 by game number; the games of one opening, ``seats`` of them, count as one.

    Shared openings make the games of a pair alike, so the interval is over the means of pairs; with all of them
    equal it is that of a single doubtful game.
    """
    points = {unit: (outcome + 1) / 2 for unit, outcome in outcomes.items()}
    groups: dict[int, list[float]] = {}
    for unit, point in points.items():
        groups.setdefault(unit // seats, []).append(point)
    means = np.array([np.mean(group) for group in groups.values()])
    mean = float(np.mean(list(points.values())))
    spread = max(float(means.std(ddof=1)) if len(means) > 1 else 0.5, 1 / len(points))
    doubt = SURE * spread / math.sqrt(len(means))
    results = np.sign(list(outcomes.values()))
    counts = [int((results == wanted).sum()) for wanted in (1, 0, -1)]
    return Score(mean, max(mean - doubt, 0.0), min(mean + doubt, 1.0), len(points), *counts)


class Match:
    """One match: a work for the workers, and its result when that is settled."""

    def __init__(self, assignment: Assignment, games: int, seats: int) -> None:
        self.work = Work(assignment, Ledger(games), on_game=self._take)
        self._seats = seats
        self._outcomes: dict[int, float] = {}  # of the hero, by game

    def score(self) -> Score:
        return score(self._outcomes, self._seats)

    async def play(self, dispatcher: Dispatcher) -> Score:
        """Play beside whatever else the workers do."""
        dispatcher.add(self.work)
        try:
            await self.work.settled.wait()
        finally:
            dispatcher.remove(self.work)
        return self.score()

    def _take(self, game: Game) -> None:
        self._outcomes[game.unit] = float(game.outcome[game.unit % self._seats])


@dataclass(slots=True)
class Arena:
    """Plays matches every so often.

    Lifetime: ``run`` is one task of the run's group. Order: one match at a time. End: cancelled, a match
    that is under way is dropped.
    """

    every_s: float
    matches: Callable[[], Awaitable[Sequence[tuple[str, Match]]]]  # named after the rival
    dispatcher: Dispatcher
    on_result: Callable[[str, Score], None]

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.every_s)
            for name, match in await self.matches():
                self.on_result(name, await match.play(self.dispatcher))
