"""The betting of abstracted hold'em as a public tree, compiled once. It knows no cards.

Nodes are decisions and ends; the children of a node lie side by side, child a of a node is ``first + a``. A decision
has a row of entries for each bucket that its mover's cards may be in: entry = base + bucket * n + a. Entries lie street
by street, and on a street in the order of the nodes. The numbers follow from rules, menus and buckets alone.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, int32, int64
from numpy.typing import NDArray

from asyncplay.games.holdem.betting import begin_betting, bet, reset
from asyncplay.games.holdem.layout import FOLDED, HISTORY, MOVER, PAID, PLAYERS, STREET, STREETS
from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, RULES, GameSpec
from asyncplay.solve.abstraction.menus import MOST_ACTIONS, considered

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

BETTING_NODE = np.dtype(
    [
        ("base", np.int64),  # of a decision its first entry, of an end the set of seats that have folded
        ("first", np.uint32),  # of a decision its first child, of an end its row of ``paid``
        ("mover", np.int8),  # a seat or GAME_OVER
        ("n", np.uint8),  # children
        ("street", np.uint8),
    ],
    align=True,
)

TOO_MANY = -1
N_NODES, N_ACTIONS = 0, 1  # columns of counts
NODE_BYTES = BETTING_NODE.itemsize + 4


class TreeSizes(NamedTuple):
    """What a tree will have."""

    decisions: tuple[int, ...]  # by street
    actions: tuple[int, ...]  # by street: children of all decisions
    ends: int
    buckets: tuple[int, ...]

    @property
    def n_decisions(self) -> int:
        return sum(self.decisions)

    @property
    def infosets(self) -> tuple[int, ...]:
        """By street."""
        return tuple(n * k for n, k in zip(self.decisions, self.buckets, strict=True))

    @property
    def entries(self) -> tuple[int, ...]:
        """By street."""
        return tuple(n * k for n, k in zip(self.actions, self.buckets, strict=True))

    @property
    def n_infosets(self) -> int:
        return sum(self.infosets)

    @property
    def n_entries(self) -> int:
        return sum(self.entries)


class BettingTree(NamedTuple):
    """A compiled tree; ``sizes`` says how much of everything there is."""

    sizes: TreeSizes
    nodes: Array  # BETTING_NODE[N], the root first
    actions: Array  # int32[N], the action of the real game that leads to a node; 0 for the root
    paid: Array  # int32[ends, P], chips of each seat in the pot at an end

    def digest(self) -> str:
        """SHA-256 of the tree, as a checkpoint carries it."""
        found = hashlib.sha256()
        for array in (self.nodes["base"], self.nodes["first"], self.nodes["mover"], self.actions, self.paid):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


class Walk(NamedTuple):
    """Scratch memory of a walk, a row for each decision on the way down."""

    states: Array  # int64[depth, HISTORY], positions without their history
    actions: Array  # int32[depth, MOST_ACTIONS], what is considered there
    counters: Array  # int64[depth, 3]: how many that are, the next to be tried, the node


N_CONSIDERED, NEXT, NODE = range(3)


def measure_tree(
    spec: GameSpec, menus: NDArray[np.int64], buckets: Sequence[int], most_entries: int = 1 << 60
) -> TreeSizes | None:
    """Count without keeping anything; None as soon as there are more entries than that."""
    counts, walk = np.zeros((STREETS, 2), np.int64), _scratch(spec)
    nothing = np.empty(0, BETTING_NODE), np.empty(0, np.int32), np.empty((0, spec.players), np.int32)
    ends = ready(walk_tree)(spec.rules, menus, np.array(buckets), most_entries, *walk, *nothing, counts)
    if ends == TOO_MANY:
        return None
    columns = [tuple(int(n) for n in column) for column in counts.T]
    return TreeSizes(columns[N_NODES], columns[N_ACTIONS], int(ends), tuple(buckets))


def compile_tree(spec: GameSpec, menus: NDArray[np.int64], buckets: Sequence[int]) -> BettingTree:
    """Build the tree; whether it fits into memory was asked before."""
    sizes = measure_tree(spec, menus, buckets)
    assert sizes is not None, "nothing limits the count"
    n_nodes = sizes.n_decisions + sizes.ends
    nodes, actions = np.zeros(n_nodes, BETTING_NODE), np.zeros(n_nodes, np.int32)
    paid, counts = np.zeros((sizes.ends, spec.players), np.int32), np.zeros((STREETS, 2), np.int64)
    walk_tree(spec.rules, menus, np.array(buckets), sizes.n_entries, *_scratch(spec), nodes, actions, paid, counts)
    first = 0
    for street, n_buckets in enumerate(sizes.buckets):
        here = np.flatnonzero((nodes["street"] == street) & (nodes["mover"] >= 0))
        n_entries = nodes["n"][here].astype(np.int64) * n_buckets
        nodes["base"][here] = first + np.cumsum(n_entries) - n_entries
        first += int(n_entries.sum())
    return BettingTree(sizes, nodes, actions, paid)


def _scratch(spec: GameSpec) -> Walk:
    depth = spec.max_decisions + 1
    states, actions = np.zeros((depth, HISTORY), np.int64), np.zeros((depth, MOST_ACTIONS), np.int32)
    return Walk(states, actions, np.zeros((depth, 3), np.int64))


WALK_TREE = int64(
    RULES, int64[:, :, :, ::1], int64[::1], int64, int64[:, ::1], int32[:, ::1], int64[:, ::1],
    from_dtype(BETTING_NODE)[::1], int32[::1], int32[:, ::1], int64[:, ::1],
)  # fmt: skip


@kernel(WALK_TREE)
def walk_tree(rules, menus, buckets, entries_left, states, considered_actions, counters, nodes, actions, paid, counts):  # noqa: PLR0917
    """Go through the tree depth first and count; where there are nodes to write to, write them too.

    Returns the number of ends, or TOO_MANY. ``counts`` gets decisions and actions by street.
    """
    is_kept, depth, n_used, n_ends = len(nodes) > 0, 0, 1, 0
    reset(rules, states[0])
    node, state = np.int64(0), states[0]
    while True:
        while state[MOVER] == CHANCE_TURN:  # the cards of a street, which the tree does not know
            begin_betting(rules, state)
        if state[MOVER] == GAME_OVER:
            if is_kept:
                write_end(rules, state, nodes[node], n_ends, paid)
            n_ends += 1
        else:
            n = considered(rules, menus, state, considered_actions[depth])
            counts[state[STREET], N_NODES] += 1
            counts[state[STREET], N_ACTIONS] += n
            entries_left -= n * buckets[state[STREET]]
            if entries_left < 0:
                return TOO_MANY
            if is_kept:
                nodes[node].mover, nodes[node].n = state[MOVER], n
                nodes[node].first, nodes[node].street = n_used, state[STREET]
                for a in range(n):
                    actions[n_used + a] = considered_actions[depth, a]
            counters[depth, N_CONSIDERED], counters[depth, NEXT], counters[depth, NODE] = n, 0, n_used
            n_used += n
            depth += 1
        while depth > 0 and counters[depth - 1, NEXT] == counters[depth - 1, N_CONSIDERED]:
            depth -= 1
        if depth == 0:
            return n_ends
        node, state = step(rules, states, considered_actions, counters, depth)


@helper
def step(rules, states, considered_actions, counters, depth):
    """Take the next action of the decision above; return the child's number and position."""
    above, state = states[depth - 1], states[depth]
    for word in range(HISTORY):
        state[word] = above[word]
    a = counters[depth - 1, NEXT]
    counters[depth - 1, NEXT] += 1
    bet(rules, state, np.int64(considered_actions[depth - 1, a]))
    return counters[depth - 1, NODE] + a, state


@helper
def write_end(rules, state, node, row, paid):
    """An end: who folded, and what everybody put in."""
    node.mover, node.n, node.street = GAME_OVER, 0, state[STREET]
    node.first, node.base = row, state[FOLDED]
    for seat in range(rules[PLAYERS]):
        paid[row, seat] = state[PAID + seat]
