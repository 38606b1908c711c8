"""The table of a solver and what all solvers do with it.

A table is float64[E, 2]: of each entry of flat.py the REGRET and, beside it, the SUM of the strategies
played so far. float32 would stop moving after 2**24 visits of an infoset; these still move after 1e9, also with
weights that grow linearly (1e18 with increments of 1e9).
"""

from typing import Any, Protocol

import numpy as np
from numba import float64, int32, int64, void
from numpy.typing import NDArray

from asyncplay.games.kernels import helper, kernel

REGRET, SUM = 0, 1
TABLE = float64[:, ::1]

Table = NDArray[np.float64]


class Tabled(Protocol):
    """A game as far as a table knows it."""

    @property
    def offsets(self) -> NDArray[np.int32]:
        """int32[I + 1], of each infoset's entries."""

    @property
    def n_entries(self) -> int: ...


def new_table(game: Tabled) -> Table:
    """Every strategy uniform. Its pages are touched: untouched ones made a walk seven times slower."""
    return np.full((game.n_entries, 2), 0.0)


def average_policy(game: Tabled, table: Table) -> NDArray[np.float64]:
    """float64[E]: the share of each entry in its infoset's strategy sum; uniform where nothing was summed."""
    starts = game.offsets[:-1]
    sizes = np.diff(game.offsets)
    totals = np.repeat(np.add.reduceat(table[:, SUM], starts), sizes)
    uniform = np.repeat(1.0 / sizes, sizes)
    shares: Any = np.divide(table[:, SUM], totals, out=uniform, where=totals > 0.0)
    return shares


@kernel(float64(int32[::1], TABLE))
def largest_regrets(offsets, table):
    """The largest regret of each infoset, added up where it is above 0. Divided by the weights of all iterations it
    falls to 0, and with perfect recall bounds what all players together could gain by another strategy."""
    total = 0.0
    for infoset in range(len(offsets) - 1):
        largest = 0.0
        for entry in range(offsets[infoset], offsets[infoset + 1]):
            largest = max(largest, table[entry, REGRET])
        total += largest
    return total


@helper
def matching(table, entry, n):
    """Regret matching: the strategy at an infoset is ``max(regret, 0) * scale + even``, action by action.

    That is each action's part of the positive regrets, or if there are none, the same for all.
    """
    total = 0.0
    for k in range(n):
        total += max(table[entry + np.uint64(k), REGRET], 0.0)
    if total > 0.0:
        return 1.0 / total, 0.0
    return 0.0, 1.0 / n


@helper
def kept(period, exponent):
    """What is left of a regret after a period."""
    return 1.0 if exponent == np.inf else period**exponent / (period**exponent + 1.0)


@helper
def discount_all(table, period, alpha, beta, gamma):
    """Discount a whole table; the pass over it is left out if it would change nothing."""
    above, below = kept(period, alpha), kept(period, beta)
    recent = (period / (period + 1.0)) ** gamma
    if above == 1.0 and below == 1.0 and recent == 1.0:
        return
    for entry in range(len(table)):
        table[entry, REGRET] *= above if table[entry, REGRET] > 0.0 else below
        table[entry, SUM] *= recent


@kernel(void(TABLE, int64, float64, float64, float64))
def discount(table, period, alpha, beta, gamma):
    """Let the past count for less at the end of period k = 1, 2, ...: discounted CFR (Brown and Sandholm 2019).

    Regrets above 0 are multiplied by k^alpha / (k^alpha + 1), those below by the same with beta, strategy sums by
    (k / (k + 1))^gamma. 1, 1, 1 is linear CFR; inf, inf, 0 changes nothing. A full walk is a period of its own; a
    sampling solver takes rounds of many iterations for periods, and every process with a copy of the table calls this
    at their end.
    """
    discount_all(table, period, alpha, beta, gamma)
