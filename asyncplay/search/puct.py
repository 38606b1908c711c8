"""PUCT over a group of games: descend to leaves, back the network's answers up.

Formulas (the plain-Python twin in tests/search/twin.py is written beside the same lines). At a node with
N visits whose mover is seat s, take the edge with the largest

    Q + c * P * sqrt(N) / (1 + n)        the first of them where several are equal

n being the edge's visits and P its prior. Q is the mean of the values backed up through the edge for
seat s: every player looks after its own seat (max^n), which is minimax where two seats' values add up
to 0. An edge without visits has Q = (the network's value of the node for s) - first_play_reduction.
N and n include simulations that still wait for the network; each of those counts as ``virtual_loss``
below the mover's worst until its answer comes. With Gumbel root selection the root goes by other rules (gumbel.py).

Where something is hidden a game has a tree for each of D worlds, which are searched side by side and independently;
their visit counts are added when the decision is taken (policy.py).

One simulation is one descent. It ends at a position that the network must evaluate (a row), at the end of the game, at
an ending that the game works out, or, with several leaves a tree, at a position that waits already: then it is
undone. Chance turns are drawn anew each time; a forced decision is passed through.

A select gives every tree its first leaf. Further ones, which cost strength, only fill a block that is too small:
as many a tree as make it ``fill_rows`` long, ``leaves`` at most, shared out evenly from the first slot on.

Order of calls: select, backup (all rows of that select), advance (policy.py), select ...
"""

import math

import numpy as np
from numba import float32, int64, uint8, void

from asyncplay import rng
from asyncplay.games.kernels import body, helper, kernel
from asyncplay.games.spec import CHANCE_TURN
from asyncplay.search.gumbel import due_ordinal
from asyncplay.search.layout import (
    ENDED,
    FRESH,
    FULL,
    NO_EDGE,
    NONE,
    OPEN,
    PACKED,
    SOLVED,
    THINKING,
    THOUGHT_STREAM,
    WAITING,
    unpack,
)
from asyncplay.search.tree import copy_words, draw_child, grow

RESOLVED, ASKED, BLOCKED = 0, 1, 2  # how a simulation ended: without the network, with a row, not at all

SELECT_BYTES = int64(PACKED, uint8[:, ::1])
SELECT_FLOATS = int64(PACKED, float32[:, ::1])
BACKUP = void(PACKED, float32[::1], float32[:, ::1], int64)


@body
def select(game, packed, features):
    """Let every thinking game descend to its next leaves; return the number of rows.

    Row i is ``features`` [i], its legal actions and its place in the tree are in the memory's ``leaves``; first
    leaves come before further ones.
    """
    memory, n_rows, share, end = unpack(packed), np.int64(0), np.int64(1), np.int64(len(features))
    memory.leaves.offsets[0] = 0
    n_worlds = memory.settings.worlds
    for is_extra in range(2):
        for slot in range(len(memory.games.slots)):
            if memory.games.slots[slot].status == THINKING:
                for tree in range(slot * n_worlds, slot * n_worlds + n_worlds):
                    n_rows = gather(game, memory, features, tree, n_rows, min(n_rows + share, end), is_extra)
        missing, end = memory.settings.fill_rows - n_rows, min(memory.settings.fill_rows, end)
        if n_rows == 0 or missing <= 0 or memory.settings.leaves == 1:
            break
        share = min(memory.settings.leaves - 1, (missing + n_rows - 1) // n_rows)  # of each tree that has a first leaf
    return n_rows


@body
def gather(game, memory, features, tree, n_rows, wanted, is_extra):  # noqa: PLR0917  # kernels take no keywords
    """Run simulations in one tree until there are ``wanted`` rows or its budget is used up."""
    owner = memory.forest.trees[tree]
    if memory.settings.noise_weight > 0.0 and not owner.is_noised:
        add_noise(memory, tree)
    while n_rows < wanted and owner.simulations < owner.limit:
        outcome = simulate(game, memory, features, tree, n_rows)
        if outcome == BLOCKED:
            break
        memory.leaves.rows[n_rows].is_extra = is_extra
        n_rows += outcome
    return n_rows


@body
def simulate(game, memory, features, tree, row):
    """One descent; return how it ended."""
    nodes, owner = memory.forest.nodes, memory.forest.trees[tree]
    node = tree * memory.forest.nodes_per_tree
    while nodes[node].status == OPEN:
        child = step_down(game, memory, tree, node)
        if child == FULL:
            take_back(memory, tree, node)
            owner.budget = owner.limit = owner.simulations  # decide with what there is
            memory.games.slots[tree // memory.settings.worlds].shortened += 1
            return BLOCKED
        node = child
    if nodes[node].status == WAITING:
        take_back(memory, tree, node)
        return BLOCKED
    nodes[node].visits += 1
    owner.simulations += 1
    owner.total_simulations += 1
    if write_known(game, memory, tree, node):
        back_up(memory, tree, node)
        return RESOLVED
    memory.leaves.rows[row].slot = tree // memory.settings.worlds
    memory.leaves.rows[row].tree = tree
    ask(game, memory, features, node, row)
    return ASKED


@helper
def step_down(game, memory, tree, node):
    """Go from an open node to a child, made if need be, counting the visit; return it, or FULL."""
    forest = memory.forest
    if forest.nodes[node].mover == CHANCE_TURN:
        child = draw_child(game, memory, tree, node)
        forest.nodes[node].visits += child != FULL
        return child
    is_root = node == tree * forest.nodes_per_tree
    ordinal = due_ordinal(memory, tree) if is_root and memory.settings.is_gumbel else best_ordinal(memory, node)
    edge = forest.edges[forest.nodes[node].first_edge + ordinal]
    child = np.int64(edge.child)
    if child == NONE:
        child = grow(game, memory, tree, node, ordinal)
        if child == FULL:
            return FULL
        edge.child = child
    forest.nodes[node].visits += 1
    edge.visits += 1
    edge.value_sum -= memory.settings.virtual_loss
    return child


@helper
def best_ordinal(memory, node):
    """Which of an open node's edges PUCT takes."""
    here, edges, settings = memory.forest.nodes[node], memory.forest.edges, memory.settings
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
def take_back(memory, tree, node):
    """Undo a descent that came to ``node`` and did not count there."""
    nodes, root = memory.forest.nodes, tree * memory.forest.nodes_per_tree
    while node != root:
        ordinal, node = nodes[node].ordinal, np.int64(nodes[node].parent)
        nodes[node].visits -= 1
        if ordinal != NO_EDGE:
            edge = memory.forest.edges[nodes[node].first_edge + ordinal]
            edge.visits -= 1
            edge.value_sum += memory.settings.virtual_loss


@helper
def back_up(memory, tree, node):
    """Add the values in the scratch, by seat, to every edge above ``node``, and lift the virtual losses."""
    nodes, root = memory.forest.nodes, tree * memory.forest.nodes_per_tree
    while node != root:
        ordinal, node = nodes[node].ordinal, np.int64(nodes[node].parent)
        if ordinal != NO_EDGE:
            edge = memory.forest.edges[nodes[node].first_edge + ordinal]
            edge.value_sum += memory.scratch.values[nodes[node].mover] + memory.settings.virtual_loss


@helper
def write_known(game, memory, tree, node):
    """Write the values by seat into the scratch where the rules determine them, at the end of a game or by working an
    ending out; return whether they do."""
    forest, values, most = memory.forest, memory.scratch.values, memory.settings.exact_decisions
    here = forest.nodes[node]
    if here.status == ENDED:
        game.returns(memory.rules, forest.states[node], values)
        to_scale(game, memory, tree, values)
    elif (
        here.status == FRESH
        and most > 0
        and node != tree * forest.nodes_per_tree  # a root needs priors
        and game.ending(memory.rules, forest.states[node], most, memory.scratch.rooms, memory.scratch.futures) != 0
    ):
        here.status = SOLVED
        to_scale(game, memory, tree, memory.scratch.futures[0])
        copy_words(memory.scratch.futures[0], forest.endings[node])
    if here.status == SOLVED:
        copy_words(forest.endings[node], values)
    return here.status in (ENDED, SOLVED)


@helper
def to_scale(game, memory, tree, values):
    """From what the rules count for a finished game or stage to what networks learn."""
    forest, settings = memory.forest, memory.settings
    if settings.is_staged:
        game.returns(memory.rules, forest.states[tree * forest.nodes_per_tree], memory.scratch.before)
        for seat in range(len(values)):
            values[seat] -= memory.scratch.before[seat]
    for seat in range(len(values)):
        values[seat] = values[seat] * settings.value_scale + settings.value_offset


@helper
def ask(game, memory, features, node, row):
    """Write the row of a fresh node, a root or the node that was made last: all legal actions of the latter are in
    the scratch, as it may have fewer edges."""
    forest, leaves, scratch = memory.forest, memory.leaves, memory.scratch
    here, asked, offset = forest.nodes[node], leaves.rows[row], leaves.offsets[row]
    here.status = WAITING
    game.encode(memory.rules, forest.states[node], here.mover, features[row], memory.scratch.room)
    is_root = node == asked.tree * forest.nodes_per_tree
    n_actions = here.n_edges if is_root else scratch.n_actions[0]
    for i in range(n_actions):
        leaves.legal[offset + i] = forest.edges[here.first_edge + i].action if is_root else scratch.actions[i]
    leaves.offsets[row + 1] = offset + n_actions
    asked.node = node
    asked.seat = forest.nodes[asked.tree * forest.nodes_per_tree].mover


@helper
def add_noise(memory, tree):
    """Mix Dirichlet noise into the priors of the root, once it has been answered."""
    forest, weight = memory.forest, memory.settings.noise_weight
    root = forest.nodes[tree * forest.nodes_per_tree]
    if root.status != OPEN:
        return
    forest.trees[tree].is_noised = 1
    shares = memory.scratch.shares[: root.n_edges]
    thought = memory.games.streams[tree // memory.settings.worlds, THOUGHT_STREAM]
    rng.dirichlet(thought, memory.settings.noise_alpha, shares)
    for i in range(root.n_edges):
        edge = forest.edges[root.first_edge + i]
        edge.prior = (1.0 - weight) * edge.prior + weight * shares[i]


@helper
def keep_best_priors(memory, node, row, priors):
    """Fill the edges of a node that has fewer than actions: the best by prior, the first where several are equal."""
    leaves, here, edges = memory.leaves, memory.forest.nodes[node], memory.forest.edges
    start, end = leaves.offsets[row], leaves.offsets[row + 1]
    ordered = memory.scratch.shares[: end - start]
    for i in range(end - start):
        ordered[i] = priors[start + i]
    least = nth_largest(ordered, here.n_edges)
    n_equal = here.n_edges
    for i in range(start, end):
        n_equal -= priors[i] > least
    edge = here.first_edge
    for i in range(start, end):
        if priors[i] > least or (priors[i] == least and n_equal > 0):
            n_equal -= priors[i] == least
            edges[edge].prior = priors[i]
            edges[edge].action = leaves.legal[i]
            edge += 1


@helper
def nth_largest(values, n):
    """The n-th largest of these numbers, which change their places: quickselect."""
    first, last = 0, len(values) - 1
    while first < last:
        pivot, left, right = values[(first + last) >> 1], first, last
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if n - 1 <= right:
            last = right
        elif n - 1 >= left:
            first = left
        else:
            break
    return values[n - 1]


@kernel(BACKUP)
def backup(packed, priors, values, version):
    """Take the answers to all n rows of the last select: open their nodes with the priors and back the values up.

    ``priors`` float32[L]; ``values`` float32[n, P or more], entry k for the seat k places to the left of
    the leaf's player to move.
    """
    memory = unpack(packed)
    forest, leaves, by_seat = memory.forest, memory.leaves, memory.scratch.values
    n_players = len(by_seat)
    for row in range(len(values)):
        node = np.int64(leaves.rows[row].node)
        here, offset = forest.nodes[node], leaves.offsets[row]
        if leaves.offsets[row + 1] - offset > here.n_edges:
            keep_best_priors(memory, node, row, priors)
        else:
            for i in range(here.n_edges):
                forest.edges[here.first_edge + i].prior = priors[offset + i]
        here.status = OPEN
        here.value = values[row, 0]
        for k in range(n_players):
            seat = here.mover + k
            by_seat[seat - n_players if seat >= n_players else seat] = values[row, k]
        back_up(memory, np.int64(leaves.rows[row].tree), node)
        memory.games.slots[leaves.rows[row].slot].version = version
