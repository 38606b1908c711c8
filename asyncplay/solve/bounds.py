"""How much sampled walks can change a table: upper bounds, by which the coordinator judges what workers send.

Iteration t counts w(t) = t + 1 or 1 (mccfr.py). Let W be the sum of w over a piece's iterations, U the largest payoff
either way, P the players.

External walks. A player's infoset is met at most once in that player's walk (perfect recall), and its regrets change
by w times the difference of two values between the lowest and the highest payoff: |regret| <= W * span. In another
player's walk it is met at most as often as it has histories, and its sums grow by w times a probability: sum <= W *
(P - 1) * histories. The value of a walk is U at most, and it passes every history at most once.

Outcome walks divide by the odds of what the walking player drew. A draw among n actions has odds of explore / n or
more, so what is divided by grows no further than F, the largest product of n / explore along a player's own decisions:
|regret| <= W * U * F, sum <= W * (P - 1) * F, |value| <= U * F.

Walks over a betting tree are external, and an iteration deals once: a walk meets an infoset at most once, whosever it
is, so sum <= W * (P - 1).
"""

from typing import NamedTuple

import numpy as np

from asyncplay.solve.abstraction.blueprint import Blueprint
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


def bounds_of(game: FlatGame | Blueprint, settings: SamplerSettings) -> Bounds:
    if isinstance(game, Blueprint):
        return _bounds_of_tree(game, settings)
    flat, others = game.flat, game.players - 1
    most = float(np.abs(flat.payoffs).max())
    if settings.method == OUTCOME:
        factors = np.diff(flat.offsets) / min(settings.explore_first, settings.explore_last)
        for infoset, parent in enumerate(flat.parents):  # later decisions have higher numbers
            if parent != NO_ENTRY:
                factors[infoset] *= factors[flat.infoset_of[parent]]
        factor = float(factors.max())
        regret, total, value = most * factor, others * factor, most * factor
    else:
        histories = np.zeros(game.n_infosets, np.int64)
        for world in flat.worlds:
            nodes = flat.nodes[int(world["node"]) : int(world["node"]) + int(world["n"])]
            first = (int(world["node"]) + int(world["shift"])) % 2**64
            entries = flat.cells[first : first + len(nodes)][nodes["mover"] >= 0]
            np.add.at(histories, flat.infoset_of[entries], 1)
        regret = float((flat.payoffs.max(axis=0) - flat.payoffs.min(axis=0)).max())
        total, value = others * int(histories.max()), most
    least_nodes, most_nodes = game.players, game.players * game.n_histories
    sizes = regret * ROUNDING, total * ROUNDING, value * ROUNDING
    return Bounds(*sizes, least_nodes, most_nodes, bool(settings.is_linear))


def _bounds_of_tree(game: Blueprint, settings: SamplerSettings) -> Bounds:
    """A player loses at most what it paid and wins at most what the others paid."""
    paid = game.tree.paid.astype(float)
    lost, won = paid.max(), (paid.sum(axis=1, keepdims=True) - paid).max()
    sizes = (lost + won) * ROUNDING, (game.players - 1) * ROUNDING, max(lost, won) * ROUNDING
    return Bounds(*sizes, game.players, game.players * len(game.tree.nodes), bool(settings.is_linear))
