"""Plain MCTS with random rollouts: a yardstick that needs no network.

At a node with N visits take the action with the largest Q + c * sqrt(log N / n), n being its visits and Q the mean of
what its rollouts brought the mover; actions without visits come first, in random order. A simulation adds one node,
plays random actions from there to the end of the game (of the stage, where it has some) and adds what each seat got to
all nodes on its way. The decision is the action with the most visits; of those the one with the best mean, the first
of several.

Nodes stand for sequences of decisions. Chance is drawn anew in each simulation, and where something is hidden each one
starts in another world that the player to move can imagine, so a node is met with different legal actions.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import int64, typeof

from asyncplay import rng
from asyncplay.games.kernels import body, helper
from asyncplay.games.spec import CHANCE_TURN, GameSpec

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

ROOT = 0
STEP = np.dtype(
    [
        ("parent", np.int32),
        ("action", np.int32),
        ("visits", np.int32),
        ("newest_child", np.int32),  # its other children follow by ``sibling``; ROOT for none
        ("sibling", np.int32),
    ],
    align=True,
)


class Rollouts(NamedTuple):
    """A game, how to search it, and the memory of a search."""

    rules: Array  # int64[R]
    rollouts: int
    exploration: float
    value_scale: float
    value_offset: float
    is_staged: int
    steps: Array  # STEP[rollouts + 1], the nodes; the first is the root
    values: Array  # float64[rollouts + 1, P], sums by seat
    found: Array  # int32[A], scratch: the child of an action at the node looked at last
    actions: Array  # int32[max_legal]
    worlds: Array  # int64[1, S]
    gains: Array  # float64[P]
    before: Array  # float64[P], what the seats had got when the search began
    room: Array  # int64[room_words]


def make_rollouts(spec: GameSpec, rollouts: int, exploration: float) -> Rollouts:
    """Memory for searches of one game."""
    return Rollouts(
        spec.rules,
        rollouts,
        exploration,
        spec.value_scale,
        spec.value_offset,
        int(spec.is_staged),
        np.zeros(rollouts + 1, STEP),
        np.zeros((rollouts + 1, spec.players)),
        np.zeros(spec.actions, np.int32),
        np.zeros(spec.max_legal, np.int32),
        np.zeros((1, spec.state_words), np.int64),
        np.zeros(spec.players),
        np.zeros(spec.players),
        spec.new_room(),
    )


_EXAMPLE = Rollouts(
    np.zeros(1, np.int64),
    1,
    1.0,
    1.0,
    0.0,
    0,
    np.zeros(1, STEP),
    np.zeros((1, 1)),
    np.zeros(1, np.int32),
    np.zeros(1, np.int32),
    np.zeros((1, 1), np.int64),
    np.zeros(1),
    np.zeros(1),
    np.zeros(1, np.int64),
)
ROLL_OUT = int64(typeof(_EXAMPLE), typeof(np.zeros(1, np.int64)), typeof(np.zeros(1, np.uint64)))


@body
def roll_out(game, memory, state, stream):
    """Return the decision of the seat to move after ``memory.rollouts`` simulations."""
    world, seat, n_steps = memory.worlds[0], game.to_move(memory.rules, state), 1
    clear(memory, ROOT)
    game.returns(memory.rules, state, memory.before)
    for _ in range(memory.rollouts):
        game.determinize(memory.rules, state, seat, stream, memory.worlds)
        node, is_new, mover = np.int64(ROOT), False, seat
        while mover >= 0:
            n_actions = game.legal(memory.rules, world, memory.actions, memory.room)
            if is_new:
                action = np.int64(memory.actions[rng.below(stream, n_actions)])
            else:
                child, i = choose(memory, node, n_actions, mover, stream)
                action, is_new = np.int64(memory.actions[i]), child == ROOT
                node = add_step(memory, n_steps, node, action) if is_new else child
                n_steps += is_new
            game.play(memory.rules, world, action, memory.room)
            mover = game.to_move(memory.rules, world)
            while mover == CHANCE_TURN and not memory.is_staged:
                game.chance(memory.rules, world, stream)
                mover = game.to_move(memory.rules, world)
        game.returns(memory.rules, world, memory.gains)
        add_gains(memory, node)
    return most_visited(memory, seat)


@helper
def clear(memory, node):
    """A node that nobody visited."""
    memory.steps[node].visits = 0
    memory.steps[node].newest_child = ROOT
    for seat in range(len(memory.gains)):
        memory.values[node, seat] = 0.0


@helper
def add_step(memory, node, parent, action):
    """Make the node behind an action; return it."""
    clear(memory, node)
    memory.steps[node].parent = parent
    memory.steps[node].action = action
    memory.steps[node].sibling = memory.steps[parent].newest_child
    memory.steps[parent].newest_child = node
    return np.int64(node)


@helper
def choose(memory, node, n_actions, mover, stream):
    """The child to go to, or ROOT for one that is still to be made, and which of the legal actions leads there."""
    steps, found, actions = memory.steps, memory.found, memory.actions
    for i in range(n_actions):
        found[actions[i]] = ROOT
    child = np.int64(steps[node].newest_child)
    while child != ROOT:
        found[steps[child].action] = child
        child = np.int64(steps[child].sibling)
    n_fresh = 0
    for i in range(n_actions):
        n_fresh += found[actions[i]] == ROOT
    if n_fresh > 0:
        left = rng.below(stream, n_fresh)
        for i in range(n_actions):
            left -= found[actions[i]] == ROOT
            if left < 0:
                return np.int64(ROOT), np.int64(i)
    return best_known(memory, node, n_actions, mover)


@helper
def best_known(memory, node, n_actions, mover):
    """The child with the largest upper bound and its place among the legal actions; all of those have been visited."""
    steps, best, place, best_bound = memory.steps, np.int64(ROOT), np.int64(0), -np.inf
    spread = memory.exploration * math.sqrt(math.log(steps[node].visits))
    for i in range(n_actions):
        child = np.int64(memory.found[memory.actions[i]])
        visits = steps[child].visits
        bound = memory.values[child, mover] / visits + spread / math.sqrt(visits)
        if bound > best_bound:
            best, place, best_bound = child, np.int64(i), bound
    return best, place


@helper
def add_gains(memory, node):
    """Add what the seats got in a simulation to all nodes on its way."""
    steps, gains = memory.steps, memory.gains
    for seat in range(len(gains)):
        brought = gains[seat] - memory.before[seat] if memory.is_staged else gains[seat]
        gains[seat] = brought * memory.value_scale + memory.value_offset
    while True:
        steps[node].visits += 1
        for seat in range(len(gains)):
            memory.values[node, seat] += gains[seat]
        if node == ROOT:
            break
        node = np.int64(steps[node].parent)


@helper
def most_visited(memory, seat):
    """The action of the root that was visited most, see above."""
    steps, best = memory.steps, np.int64(ROOT)
    child = np.int64(steps[ROOT].newest_child)
    while child != ROOT:
        lead = np.int64(1) if best == ROOT else np.int64(steps[child].visits - steps[best].visits)
        if lead == 0:
            margin = memory.values[child, seat] - memory.values[best, seat]  # of as many visits
            is_lower = steps[child].action < steps[best].action
            lead = np.int64(margin > 0.0 or (margin == 0.0 and is_lower))
        if lead > 0:
            best = child
        child = np.int64(steps[child].sibling)
    return np.int64(steps[best].action)
