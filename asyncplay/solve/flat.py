"""A small game as flat arrays: a cell for every history, a number for every infoset. Written once, then only read.

Between two chance turns a game is a tree of decisions, and most deals have the same tree with other cards. So the tree
is stored once, as nodes, and each world (a deal so far) has four bytes for each node of its tree, its cells. A walk is
at a node in a world: its cell is ``cells[node + shift]``, with a shift that only chance changes. Worlds that differ in
nothing are one world which several outcomes lead to: what no player sees (a suit) is merged and its odds are added.
Successive chance turns are one turn.

Nodes lie parents before children, the children of a node side by side: child a of a node is ``first + a``. Worlds lie
parents before children too. An infoset is what a player knows when it decides; its actions are entries, side by side
from ``offsets[infoset]`` on. The numbers follow from the game alone, so every process that compiles it numbers alike.
Infosets of a player's later decisions have higher numbers.
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
    """What kernels walk on: H histories, I infosets, E entries."""

    nodes: Array  # NODE[N]
    cells: Array  # uint32[H], of a decision its first entry, of a chance turn its first outcome, of an end its payoffs
    worlds: Array  # WORLD[W], the first one begins the game
    outcomes: Array  # OUTCOME[...], those of a chance turn side by side
    payoffs: Array  # float64[T, P], by seat
    offsets: Array  # int32[I + 1], of each infoset's entries
    infoset_of: Array  # int32[E]
    movers: Array  # int32[I], the seat that decides
    parents: Array  # int32[I], the entry of the mover's decision before this one, or NO_ENTRY


def empty_flat() -> Flat:
    """Arrays of the right types, for the signatures of kernels."""
    numbers = np.zeros(1, np.int32)
    tree = np.zeros(1, NODE), np.zeros(1, np.uint32), np.zeros(1, WORLD)
    return Flat(*tree, np.zeros(1, OUTCOME), np.zeros((1, 1)), numbers, numbers, numbers, numbers)


class FlatGame(NamedTuple):
    """A compiled game and how to find the way back to its rules."""

    flat: Flat
    keys: NDArray[np.uint64]  # uint64[I], the game's key of each infoset
    actions: NDArray[np.int32]  # int32[E], the game's action of each entry

    @property
    def players(self) -> int:
        return int(self.flat.payoffs.shape[1])

    @property
    def offsets(self) -> NDArray[np.int32]:
        """int32[I + 1], of each infoset's entries."""
        offsets: NDArray[np.int32] = self.flat.offsets
        return offsets

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in (*self.flat, self.keys, self.actions))

    @property
    def n_infosets(self) -> int:
        return len(self.flat.movers)

    @property
    def n_histories(self) -> int:
        return len(self.flat.cells)

    @property
    def n_entries(self) -> int:
        return len(self.actions)

    def levels(self) -> NDArray[np.int32]:
        """int32[I]: how many decisions of its own the infoset's player has behind it."""
        levels = np.zeros(self.n_infosets, np.int32)
        for infoset, parent in enumerate(self.flat.parents):
            if parent != NO_ENTRY:
                levels[infoset] = levels[self.flat.infoset_of[parent]] + 1
        return levels
