"""How much sampled walks can change a table: upper bounds, for whoever must judge changes that others made.

Iteration t counts w(t) = t + 1 or 1 (mccfr.py). Let W be the sum of w over a piece's iterations, U the largest payoff
either way, P the players.

External walks. A player's row is met at most once in that player's walk (perfect recall), and its regrets change by w
times the difference of two values between the lowest and the highest payoff: |regret| <= W * span. In another player's
walk it is met at most as often as it has histories, and its sums grow by w times a probability: sum <= W * (P - 1) *
histories. A walk is worth no more than U and passes every history at most once.

Outcome walks divide by the odds of what the walking player drew. A draw among n actions has odds of explore / n or
more, so what is divided by grows no further than F, the largest product of n / explore along a player's own decisions:
|regret| <= W * U * F, sum <= W * (P - 1) * F, |value| <= U * F.
"""

from typing import NamedTuple

import numpy as np

from asyncplay.solve.flat import NO_ENTRY, FlatGame
from asyncplay.solve.mccfr import OUTCOME, SamplerSettings

ROUNDING = 1.001  # a change is a difference of sums that were rounded; they lose less than this


class Bounds(NamedTuple):
    """The largest changes of an iteration that counts once."""

    regret: float  # either way, of an entry
    total: float  # of an entry's strategy sum; never below 0
    value: float  # of the walk, either way
    least_nodes: int
    most_nodes: int
    is_linear: bool

    def weight(self, first: int, n: int) -> float:
        """What iterations ``first`` to ``first + n - 1`` count together."""
        return n * first + n * (n + 1) / 2 if self.is_linear else float(n)


def bounds_of(game: FlatGame, settings: SamplerSettings) -> Bounds:
    payoffs, others = game.flat.payoffs, game.players - 1
    most = float(np.abs(payoffs).max())
    if settings.method == OUTCOME:
        factor = _largest_product(game, min(settings.explore_first, settings.explore_last))
        regret, total, value = most * factor, others * factor, most * factor
    else:
        span = float((payoffs.max(axis=0) - payoffs.min(axis=0)).max())
        regret, total, value = span, others * _most_histories(game), most
    nodes = (game.players, game.players * game.n_histories)
    return Bounds(regret * ROUNDING, total * ROUNDING, value * ROUNDING, *nodes, bool(settings.is_linear))


def _largest_product(game: FlatGame, explore: float) -> float:
    """Of (actions / explore) over the decisions on any player's way; rows of later decisions have higher numbers."""
    products = np.diff(game.flat.offsets) / explore
    for row, parent in enumerate(game.flat.parents):
        if parent != NO_ENTRY:
            products[row] *= products[game.flat.row_of[parent]]
    return float(products.max())


def _most_histories(game: FlatGame) -> int:
    """Of any row."""
    flat, counts = game.flat, np.zeros(game.n_rows, np.int64)
    for world in flat.worlds:
        nodes = flat.nodes[int(world["node"]) : int(world["node"]) + int(world["n"])]
        first = (int(world["node"]) + int(world["shift"])) % 2**64
        entries = flat.cells[first : first + len(nodes)][nodes["mover"] >= 0]
        np.add.at(counts, flat.row_of[entries], 1)
    return int(counts.max())
