"""A small game as flat arrays: every history a cell, every infoset a row. Written once, then only read.

Between two chance turns a game is a tree of decisions, and most deals have the same tree with other cards: so the
tree is kept once, as nodes, and each world, which is a deal so far, has four bytes for each node of it, its cells.
The walk is at a node in a world: its cell is ``cells[node + shift]``, with a shift that only chance changes. Worlds
that differ in nothing are one world with several ways to it, so what nobody sees (a suit) is merged and its odds are
added. Chance turns in a row are one.

Nodes lie parents before children, the children of a node side by side: child a of a node is ``first + a``. Worlds lie
parents before children too. A row is what a player knows when it decides; its actions are entries, side by side from
``offsets[row]`` on. The numbers follow from the game alone, so every process that compiles it numbers alike. Rows of
a player's later decisions have higher numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

NODE = np.dtype(
    [
        ("first", np.uint32),  # the first child
        ("mover", np.int16),  # a seat, CHANCE_TURN or GAME_OVER
        ("n", np.uint16),  # children; 0 at a chance turn, where outcomes lead on
    ],
    align=True,
)

WORLD = np.dtype(
    [
        ("shift", np.uint64),  # from nodes to cells, modulo 2**64
        ("node", np.uint32),  # the first of its tree
        ("n", np.uint32),  # nodes of its tree
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("odds", np.float64),
        ("keep", np.float64),  # a draw falls on all outcomes alike, stays here with this chance
        ("other", np.uint32),  # and otherwise goes to this one of the turn's outcomes (alias method)
        ("n", np.uint32),  # outcomes of the turn
        ("node", np.uint32),  # where it leads
        ("shift", np.uint64),
    ],
    align=True,
)

NO_ENTRY = -1


class Flat(NamedTuple):
    """What kernels walk on: H histories, R rows, E entries."""

    nodes: Array  # NODE[N]
    cells: Array  # uint32[H], of a decision its first entry, of a chance turn its first outcome, of an end its payoffs
    worlds: Array  # WORLD[W], the first one begins the game
    outcomes: Array  # OUTCOME[...], those of a chance turn side by side
    payoffs: Array  # float64[T, P], by seat
    offsets: Array  # int32[R + 1], of each row's entries
    row_of: Array  # int32[E]
    movers: Array  # int32[R], whose decision it is
    parents: Array  # int32[R], the entry of the mover's decision before this one, or NO_ENTRY


def empty_flat() -> Flat:
    """Arrays of the right types, for the signatures of kernels."""
    numbers = np.zeros(1, np.int32)
    tree = np.zeros(1, NODE), np.zeros(1, np.uint32), np.zeros(1, WORLD)
    return Flat(*tree, np.zeros(1, OUTCOME), np.zeros((1, 1)), numbers, numbers, numbers, numbers)


class FlatGame(NamedTuple):
    """A compiled game and how to find the way back to its rules."""

    flat: Flat
    keys: NDArray[np.uint64]  # uint64[R], the game's key of each row
    actions: NDArray[np.int32]  # int32[E], the game's action of each entry

    @property
    def players(self) -> int:
        return int(self.flat.payoffs.shape[1])

    @property
    def n_rows(self) -> int:
        return len(self.flat.movers)

    @property
    def n_histories(self) -> int:
        return len(self.flat.cells)

    @property
    def n_entries(self) -> int:
        return len(self.actions)

    def entries_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The entries of these rows, one row after another."""
        first, end = self.flat.offsets[rows], self.flat.offsets[rows + 1]
        sizes = (end - first).astype(np.int64)
        skipped = np.repeat(first - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
        return np.arange(len(skipped)) + skipped

    def levels(self) -> NDArray[np.int32]:
        """int32[R]: how many decisions of its own the row's player has behind it."""
        levels = np.zeros(self.n_rows, np.int32)
        for row, parent in enumerate(self.flat.parents):
            if parent != NO_ENTRY:
                levels[row] = levels[self.flat.row_of[parent]] + 1
        return levels
