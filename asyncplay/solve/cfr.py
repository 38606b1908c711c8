"""Counterfactual regret minimisation by full walks: every history of a flat game, once for each player.

The players take turns: the next player's walk already meets what the one before it has learned in the iteration. The
variants differ in how they discount the past, see ``Variant``.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import int64, typeof, void

from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.games.spec import GAME_OVER
from asyncplay.solve.exact import expected, last_node, spread_reach
from asyncplay.solve.flat import NO_ENTRY, Array, Flat, FlatGame, empty_flat
from asyncplay.solve.regret import REGRET, SUM, discount_all, matching, new_table


class Variant(NamedTuple):
    """After iteration t the table is discounted with these exponents, see ``regret.discount``."""

    alpha: float = math.inf  # of regrets above 0; inf keeps them
    beta: float = math.inf  # of regrets below 0
    gamma: float = 0.0  # of strategy sums; 0 keeps them
    has_floor: int = 0  # no regret falls below 0


VARIANTS = {
    "cfr": Variant(),
    "cfr+": Variant(gamma=1.0, has_floor=1),
    "linear": Variant(1.0, 1.0, 1.0),
    "discounted": Variant(1.5, 0.0, 2.0),
}


class Sweep(NamedTuple):
    """A table and arrays to work in; the names shared with ``exact.Study`` mean the same."""

    flat: Flat
    table: Array  # float64[E, 2]
    policy: Array  # float64[E], by the present regrets
    plan: Array  # float64[E], how likely the mover's own decisions lead there
    values: Array  # float64[H]
    reach: Array  # float64[H]
    gains: Array  # float64[E], what the regrets grow by


_FLOATS = np.zeros(1)
WORK = typeof(Sweep(empty_flat(), np.zeros((1, 2)), *(_FLOATS,) * 5))


@kernel(void(WORK, typeof(Variant()), int64, int64))
def walk(work, variant, first, n):
    """Do iterations ``first`` to ``first + n - 1``, counted from 1."""
    for iteration in range(first, first + n):
        for player in range(work.flat.payoffs.shape[1]):
            match_regrets(work, player)
            spread_reach(work, player)
            gather_gains(work, player)
            learn(work, player, variant.has_floor)
        discount_all(work.table, iteration, variant.alpha, variant.beta, variant.gamma)


@helper
def match_regrets(work, player):
    """Write the policy of the regrets; add the player's to its sums, weighted by how likely it reaches the infoset."""
    flat, table, policy, plan = work.flat, work.table, work.policy, work.plan
    for infoset in range(len(flat.movers)):
        first, n = flat.offsets[infoset], flat.offsets[infoset + 1] - flat.offsets[infoset]
        scale, even = matching(table, first, n)
        for entry in range(first, first + n):
            policy[entry] = max(table[entry, REGRET], 0.0) * scale + even
        if flat.movers[infoset] == player:
            own = 1.0 if flat.parents[infoset] == NO_ENTRY else plan[flat.parents[infoset]]
            for entry in range(first, first + n):
                plan[entry] = own * policy[entry]
                table[entry, SUM] += plan[entry]


@helper
def gather_gains(work, player):
    """Value all histories from the ends back; gain of an action: its value beyond the history's, times the reach."""
    flat, values, gains = work.flat, work.values, work.gains
    for entry in range(len(gains)):
        gains[entry] = 0.0
    for number in range(len(flat.worlds) - 1, -1, -1):
        world = flat.worlds[number]
        for back in range(world.n):
            node, shift = last_node(world, back), world.shift
            at, cell, here = flat.nodes[node], flat.cells[node + shift], node + shift
            if at.mover == GAME_OVER:
                values[here] = flat.payoffs[cell, player]
                continue
            values[here] = expected(work, at, shift, cell)
            if at.mover == player:
                for k in range(at.n):
                    gains[cell + k] += work.reach[here] * (values[at.first + k + shift] - values[here])


@helper
def learn(work, player, has_floor):
    """Add the gains to the regrets of the player's infosets."""
    flat = work.flat
    for infoset in range(len(flat.movers)):
        if flat.movers[infoset] == player:
            for entry in range(flat.offsets[infoset], flat.offsets[infoset + 1]):
                regret = work.table[entry, REGRET] + work.gains[entry]
                work.table[entry, REGRET] = max(regret, 0.0) if has_floor else regret


class Walker:
    """Walks a game on a table of its own."""

    def __init__(self, game: FlatGame, variant: Variant) -> None:
        self.table = new_table(game)
        self.iterations = 0
        policy, plan, gains = (np.zeros(game.n_entries) for _ in range(3))
        values, reach = (np.zeros(game.n_histories) for _ in range(2))
        self._variant = variant
        self._work = Sweep(game.flat, self.table, policy, plan, values, reach, gains)

    def run(self, n: int) -> None:
        """Do ``n`` more iterations."""
        ready(walk)(self._work, self._variant, self.iterations + 1, n)
        self.iterations += n
