"""PUCT over a group of games: descend to leaves, take in what the network says of them.

Formulas (the plain-Python twin in tests/search/twin.py is written beside the same lines). At a node with
N visits whose mover is seat s, take the edge with the largest

    Q + c * P * sqrt(N) / (1 + n)        the first of them where several are equal

n being the edge's visits and P its prior. Q is the mean of the values backed up through the edge for
seat s: every player looks after its own seat (max^n), which is minimax where two seats' values add up
to 0. An edge without visits has Q = (the network's value of the node for s) - first_play_reduction.
N and n include simulations that still wait for the network; each of those counts as ``virtual_loss``
below the mover's worst until its answer comes.

One simulation is one descent. It ends at a position the network has to see (a row), at the end of the
game, or, with several leaves a game, at a position that waits already: then it is undone. Chance turns
are drawn anew each time; a forced decision is passed through.

Order of calls: select, backup (all rows of that select), advance (policy.py), select ...
"""

import math
from typing import NamedTuple

import numpy as np
from numba import float32, float64, int64, typeof, uint8, void

from asyncplay import rng
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import CHANCE_TURN, RULES
from asyncplay.search.tree import (
    ENDED,
    FULL,
    MEMORY,
    NO_EDGE,
    NONE,
    OPEN,
    THINKING,
    THOUGHT_STREAM,
    WAITING,
    Array,
    draw_child,
    grow,
)

RESOLVED, ASKED, BLOCKED = 0, 1, 2  # how a simulation ended: without the network, with a row, not at all


class Settings(NamedTuple):
    """How to search; may change between two calls."""

    simulations: int = 32  # new ones for each decision
    leaves: int = 1  # rows a game may add to one select
    c_puct: float = 1.5
    first_play_reduction: float = 0.2
    virtual_loss: float = 1.0
    noise_alpha: float = 0.3  # Dirichlet noise on the root's priors
    noise_weight: float = 0.25  # 0 for none
    keeps_tree: int = 1  # carry the chosen child's subtree over to the next decision
    value_scale: float = 1.0  # of the game: see GameSpec
    value_offset: float = 0.0
    temperatures: Array = np.ones(1)  # float64[k], by decision number of the game, the last one for the rest


SETTINGS = typeof(Settings())
BYTES, FLOATS = uint8[:, ::1], float32[:, ::1]
SELECT_BYTES = int64(RULES, MEMORY, SETTINGS, BYTES)
SELECT_FLOATS = int64(RULES, MEMORY, SETTINGS, FLOATS)
BACKUP = void(MEMORY, SETTINGS, int64, float32[::1], float32[:, ::1], int64)


@helper
def select(game, rules, memory, settings, features):
    """Let every thinking game descend to its next leaves; return the number of rows.

    Row i is ``features`` [i], its legal actions and its place in the tree in ``memory.leaves``.
    """
    n_rows = np.int64(0)
    memory.leaves.offsets[0] = 0
    for slot in range(len(memory.games.slots)):
        if memory.games.slots[slot].status == THINKING:
            n_rows = gather(game, rules, memory, settings, features, slot, n_rows)
    return n_rows


@helper
def gather(game, rules, memory, settings, features, slot, n_rows):
    """Run simulations of one game until it has its rows or its budget is used up."""
    owner = memory.games.slots[slot]
    if settings.noise_weight > 0.0 and not owner.is_noised:
        add_noise(memory, settings, slot)
    wanted = n_rows + settings.leaves
    while n_rows < wanted and owner.simulations < owner.budget:
        outcome = simulate(game, rules, memory, settings, features, slot, n_rows)
        if outcome == BLOCKED:
            break
        n_rows += outcome
    return n_rows


@helper
def simulate(game, rules, memory, settings, features, slot, row):
    """One descent; return how it ended."""
    nodes, owner = memory.forest.nodes, memory.games.slots[slot]
    node = slot * memory.forest.nodes_per_game
    while nodes[node].status == OPEN:
        child = step_down(game, rules, memory, settings, slot, node)
        if child == FULL:
            take_back(memory.forest, settings, slot, node)
            owner.budget = owner.simulations  # decide with what there is
            return BLOCKED
        node = child
    if nodes[node].status == WAITING:
        take_back(memory.forest, settings, slot, node)
        return BLOCKED
    nodes[node].visits += 1
    owner.simulations += 1
    owner.total_simulations += 1
    if nodes[node].status == ENDED:
        end_values(game, rules, memory, settings, node)
        back_up(memory.forest, settings, slot, node, memory.scratch.values)
        return RESOLVED
    ask(game, rules, memory, features, slot, node, row)
    return ASKED


@helper
def step_down(game, rules, memory, settings, slot, node):
    """Go from an open node to a child, made if need be, counting the visit; return it, or FULL."""
    forest = memory.forest
    if forest.nodes[node].mover == CHANCE_TURN:
        child = draw_child(game, rules, memory, slot, node)
        forest.nodes[node].visits += child != FULL
        return child
    ordinal = best_ordinal(forest, settings, node)
    edge = forest.nodes[node].first_edge + ordinal
    child = np.int64(forest.edges[edge].child)
    if child == NONE:
        child = grow(game, rules, memory, slot, node, ordinal)
        if child == FULL:
            return FULL
        forest.edges[edge].child = child
    forest.nodes[node].visits += 1
    forest.edges[edge].visits += 1
    forest.edges[edge].value_sum -= settings.virtual_loss
    return child


@helper
def best_ordinal(forest, settings, node):
    """Which of an open node's edges PUCT takes."""
    here, edges = forest.nodes[node], forest.edges
    exploration = settings.c_puct * math.sqrt(here.visits)
    first_play = here.value - settings.first_play_reduction
    best, best_score = 0, -np.inf
    for i in range(here.n_edges):
        edge = edges[here.first_edge + i]
        mean = edge.value_sum / edge.visits if edge.visits > 0 else first_play
        score = mean + exploration * edge.prior / (1 + edge.visits)
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def take_back(forest, settings, slot, node):
    """Undo a descent that came to ``node`` and did not count there."""
    root = slot * forest.nodes_per_game
    while node != root:
        ordinal, node = forest.nodes[node].ordinal, np.int64(forest.nodes[node].parent)
        forest.nodes[node].visits -= 1
        if ordinal != NO_EDGE:
            edge = forest.nodes[node].first_edge + ordinal
            forest.edges[edge].visits -= 1
            forest.edges[edge].value_sum += settings.virtual_loss


@helper
def back_up(forest, settings, slot, node, values):
    """Add ``values`` float64[P], by seat, to every edge above ``node``, and lift the virtual losses."""
    root = slot * forest.nodes_per_game
    while node != root:
        ordinal, node = forest.nodes[node].ordinal, np.int64(forest.nodes[node].parent)
        if ordinal != NO_EDGE:
            edge = forest.nodes[node].first_edge + ordinal
            forest.edges[edge].value_sum += values[forest.nodes[node].mover] + settings.virtual_loss


@helper
def end_values(game, rules, memory, settings, node):
    """Write the values of a finished game, by seat, into the scratch."""
    values = memory.scratch.values
    game.returns(rules, memory.forest.states[node], values)
    for seat in range(len(values)):
        values[seat] = values[seat] * settings.value_scale + settings.value_offset


@helper
def ask(game, rules, memory, features, slot, node, row):
    """Write the row of a fresh node."""
    forest, leaves = memory.forest, memory.leaves
    here = forest.nodes[node]
    here.status = WAITING
    game.encode(rules, forest.states[node], here.mover, features[row])
    offset = leaves.offsets[row]
    for i in range(here.n_edges):
        leaves.legal[offset + i] = forest.edges[here.first_edge + i].action
    leaves.offsets[row + 1] = offset + here.n_edges
    leaves.rows[row].slot = slot
    leaves.rows[row].node = node
    leaves.rows[row].seat = forest.nodes[slot * forest.nodes_per_game].mover


@helper
def add_noise(memory, settings, slot):
    """Mix Dirichlet noise into the priors of the root, once it has been answered."""
    forest, owner = memory.forest, memory.games.slots[slot]
    root = forest.nodes[slot * forest.nodes_per_game]
    if root.status != OPEN:
        return
    owner.is_noised = 1
    shares = memory.scratch.shares[: root.n_edges]
    rng.dirichlet(memory.games.streams[slot, THOUGHT_STREAM], settings.noise_alpha, shares)
    for i in range(root.n_edges):
        edge = forest.edges[root.first_edge + i]
        edge.prior = (1.0 - settings.noise_weight) * edge.prior + settings.noise_weight * shares[i]


@kernel(BACKUP)
def backup(memory, settings, n_rows, priors, values, version):
    """Take in the answers to all rows of the last select.

    ``priors`` float32[L]; ``values`` float32[n, P or more], entry k for the seat k places to the left of
    the leaf's player to move.
    """
    for row in range(n_rows):
        expand(memory, settings, row, priors, values[row])
        memory.games.slots[memory.leaves.rows[row].slot].version = version


@helper
def expand(memory, settings, row, priors, values):
    """Open the node of a row with its priors and back its values up."""
    forest, leaves, by_seat = memory.forest, memory.leaves, memory.scratch.values
    node = np.int64(leaves.rows[row].node)
    here, offset = forest.nodes[node], leaves.offsets[row]
    for i in range(here.n_edges):
        forest.edges[here.first_edge + i].prior = priors[offset + i]
    here.status = OPEN
    here.value = values[0]
    n_players = len(by_seat)
    for k in range(n_players):
        seat = here.mover + k
        by_seat[seat - n_players if seat >= n_players else seat] = values[k]
    back_up(forest, settings, np.int64(leaves.rows[row].slot), node, by_seat)
