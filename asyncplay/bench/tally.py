"""What play has done, counted so that games a minute are those of a steady state.

Games that begin together end together, so what ends in a short window says little: at first nothing, then a wave.
A window of *whole rounds* begins when as many games have ended as are under way, and is over when as many have
ended again, or a multiple of that. Cheap and dear parts of a game then weigh in it as they do in the long run, and
every game that it counts has really ended.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from asyncplay.bench.outside import until


class Tally(NamedTuple):
    """Totals at a time, or the difference between two times."""

    seconds: float
    games: int  # that ended
    rows: int  # that the network answered
    batches: int
    decisions: int = 0  # of the games that ended, searched ones
    spared: int = 0  # rows answered by the evaluation cache

    def since(self, before: "Tally") -> "Tally":
        return Tally._make(now - then for now, then in zip(self, before, strict=True))

    @property
    def games_per_min(self) -> float:
        return self.games / self.seconds * 60

    @property
    def decisions_per_s(self) -> float:
        return self.decisions / self.seconds

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.seconds

    @property
    def rows_per_game(self) -> float:
        return self.rows / self.games

    @property
    def mean_batch(self) -> float:
        return self.rows / max(self.batches, 1)


def total(parts: Iterable[Tally]) -> Tally:
    return Tally._make(map(sum, zip(*parts, strict=True)))


async def whole_rounds(count: Callable[[], Tally], under_way: int, seconds: float) -> Tally:
    """As many rounds of ``under_way`` games as take ``seconds``, but one at least; a round before them warms up."""
    await _until_ended(count, count(), under_way)
    before = count()
    window = await _until_ended(count, before, under_way)
    while window.seconds < seconds:
        window = await _until_ended(count, before, (window.games // under_way + 1) * under_way)
    return window


async def _until_ended(count: Callable[[], Tally], before: Tally, n_games: int) -> Tally:
    await until(lambda: count().since(before).games >= n_games)
    return count().since(before)
