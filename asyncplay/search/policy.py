"""From visit counts to decisions: choose, record, play, and prepare the next decision.

Between two searched decisions lie chance turns and forced decisions; they are passed without a search. Every decision
is recorded, forced ones too, so that seed and actions replay the game; a policy is recorded only after a full search.

Playout-cap randomisation (Wu 2019): where some decisions are quick, each is a full search with probability
``full_share``, else one of ``quick_simulations`` without noise and without a policy to learn from. Policies need
few deep searches, values many games: quick decisions bring a game to its end cheaply.
"""

import numpy as np
from numba import int32, int64

from asyncplay import rng
from asyncplay.games.kernels import body, helper
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.gumbel import begin_halving, choose, improve, narrow
from asyncplay.search.layout import (
    CHANCE_STREAM,
    FINISHED,
    FORCED,
    NONE,
    OUTSIDE,
    PACKED,
    PLACED,
    STARTING,
    THINKING,
    THOUGHT_STREAM,
    unpack,
)
from asyncplay.search.tree import find_drawn, first_root, keep_subtree, plant

ADVANCE = int64(PACKED, int32[::1])


@body
def advance(game, packed, finished):
    """Take every decision that is due and start what is to start; call it when no row waits.

    Write the slots of all games that are over into ``finished`` int32[G]; return how many. They stand
    still until their status is set to STARTING (with a seed) or IDLE.
    """
    memory, n_finished = unpack(packed), 0
    for slot in range(len(memory.games.slots)):
        if is_due(memory, slot):
            kept = go_on(game, memory, slot)
            settle(game, memory, slot, kept)
        if memory.settings.is_gumbel and memory.games.slots[slot].status == THINKING:
            narrow(memory, slot)
        if memory.games.slots[slot].status == FINISHED:
            finished[n_finished] = slot
            n_finished += 1
    return n_finished


@helper
def is_due(memory, slot):
    """Say whether a game has something to do besides thinking."""
    status, n_worlds = memory.games.slots[slot].status, memory.settings.worlds
    if status != THINKING:
        return status in (STARTING, FORCED, PLACED)
    for tree in range(slot * n_worlds, slot * n_worlds + n_worlds):
        if memory.forest.trees[tree].simulations < memory.forest.trees[tree].budget:
            return False
    return True


@body
def go_on(game, memory, slot):
    """Start a game, go on from where one was placed, or play what was decided; return the node reached in the old
    tree, or NONE.

    The value that is recorded is what the search at the root expects for the player to move, 0 without a search.
    """
    owner, forest = memory.games.slots[slot], memory.forest
    if owner.status == STARTING:
        begin(game, memory, slot)
        return NONE
    if owner.status == PLACED:
        return NONE
    root, ordinal = forest.nodes[first_root(memory, slot)], np.int64(0)
    if owner.status == FORCED:  # by an action that must be legal
        while forest.edges[root.first_edge + ordinal].action != owner.forced:
            ordinal += 1
    else:
        ordinal = decide(memory, slot)
    total, visits = 0.0, 0
    for i in range(root.n_edges):
        total += forest.edges[root.first_edge + i].value_sum
        visits += forest.edges[root.first_edge + i].visits
    edge = forest.edges[root.first_edge + ordinal]
    write_down(memory, slot, edge.action, total / visits if visits > 0 else 0.0)
    game.play(memory.rules, memory.games.states[slot], edge.action, memory.scratch.room)
    return np.int64(edge.child)


@helper
def begin(game, memory, slot):
    """Set up a new game from the slot's seed."""
    owner = memory.games.slots[slot]
    owner.decisions = 0
    owner.stage_decisions = 0
    owner.policy_end = 0
    owner.shortened = 0
    owner.unrecorded = 0
    owner.version = 0
    for purpose in range(2):
        rng.plant(memory.games.streams[slot, purpose], owner.seed, purpose)
    game.reset(memory.rules, memory.games.states[slot])


@helper
def write_down(memory, slot, action, value):
    """Record a decision; its policy, if any, has been recorded already."""
    owner = memory.games.slots[slot]
    note = memory.records.decisions[slot, owner.decisions]
    note.action = action
    note.policy_end = owner.policy_end
    note.version = owner.version
    note.value = value
    owner.decisions += 1
    owner.stage_decisions += 1


@body
def settle(game, memory, slot, kept):
    """Go on to the next real decision and prepare its trees, or finish the game.

    ``kept`` is the node of the present position in the old tree, or NONE. Where some decisions are quick, it is drawn
    whether this one is; a quick decision gets no noise, so it counts as noised already.
    """
    owner, state, settings = memory.games.slots[slot], memory.games.states[slot], memory.settings
    mover, n_actions = game.to_move(memory.rules, state), np.int64(0)
    while mover != GAME_OVER:
        n_actions = game.legal(memory.rules, state, memory.scratch.actions, memory.scratch.room)
        if n_actions > 1:
            break
        kept = pass_through(game, memory, slot, mover, kept)
        mover = game.to_move(memory.rules, state)
    if mover == GAME_OVER:
        owner.status = FINISHED
        game.returns(memory.rules, state, memory.records.returns[slot])
        return
    if not (settings.keeps_tree and kept != NONE and keep_subtree(memory, slot, kept, n_actions)):
        plant(game, memory, slot)
    owner.status = OUTSIDE if (owner.outside >> mover) & 1 else THINKING
    thought = memory.games.streams[slot, THOUGHT_STREAM]
    owner.is_quick = settings.quick_simulations > 0 and rng.uniform(thought) >= settings.full_share
    for tree in range(slot * settings.worlds, slot * settings.worlds + settings.worlds):
        grown = memory.forest.trees[tree]
        grown.simulations = 0
        grown.budget = settings.quick_simulations if owner.is_quick else settings.simulations
        grown.limit = grown.budget
        grown.is_noised = owner.is_quick
    if settings.is_gumbel:
        begin_halving(memory, slot)


@helper
def pass_through(game, memory, slot, mover, kept):
    """Let chance happen or play the only action, the first in the scratch; return the node after ``kept``, or NONE."""
    forest, state = memory.forest, memory.games.states[slot]
    if mover == CHANCE_TURN:
        game.chance(memory.rules, state, memory.games.streams[slot, CHANCE_STREAM])
        if memory.settings.is_staged:
            memory.games.slots[slot].stage_decisions = 0
        return find_drawn(forest, kept, state) if kept != NONE else NONE
    action = memory.scratch.actions[0]
    write_down(memory, slot, action, 0.0)
    game.play(memory.rules, state, action, memory.scratch.room)
    return np.int64(forest.edges[forest.nodes[kept].first_edge].child) if kept != NONE else NONE


@helper
def decide(memory, slot):
    """Record the policy of the root, visit counts unless Gumbel's, and choose an edge; return its ordinal."""
    forest, owner = memory.forest, memory.games.slots[slot]
    root = forest.nodes[first_root(memory, slot)]
    edges = forest.edges[root.first_edge : root.first_edge + root.n_edges]
    weights = memory.scratch.shares[: len(edges)]
    temperatures = memory.settings.temperatures
    temperature = temperatures[min(owner.stage_decisions, len(temperatures) - 1)]
    if memory.settings.is_gumbel:
        best = choose(memory, slot, temperature)
        improve(memory, slot, weights)
        add_worlds(memory, slot)
        record_policy(memory, slot, edges, weights)
        return best
    add_worlds(memory, slot)
    record_policy(memory, slot, edges, edges.visits)
    best = weigh(edges, temperature, weights)
    if temperature == 0.0:
        return best
    return draw(memory.games.streams[slot, THOUGHT_STREAM], weights)


@helper
def add_worlds(memory, slot):
    """Add what the other worlds' roots have seen to the first one's: all look the same to the player."""
    forest, n_worlds = memory.forest, memory.settings.worlds
    first = forest.nodes[first_root(memory, slot)]
    for tree in range(slot * n_worlds + 1, slot * n_worlds + n_worlds):
        other = forest.nodes[tree * forest.nodes_per_tree]
        for i in range(first.n_edges):
            edge, seen = forest.edges[first.first_edge + i], forest.edges[other.first_edge + i]
            edge.visits += seen.visits
            edge.value_sum += seen.value_sum


@helper
def record_policy(memory, slot, edges, weights):
    """Append the actions that have a weight to the slot's policies; none after a quick search or without space.

    ``Group`` makes space beforehand, as long as a game has not more entries than it may.
    """
    owner, policies = memory.games.slots[slot], memory.records.policies
    if owner.is_quick:
        return
    end = owner.policy_end
    for i in range(len(edges)):
        if weights[i] > 0:
            if end == policies.shape[1]:
                owner.unrecorded += 1
                return
            policies[slot, end].action = edges[i].action
            policies[slot, end].visits = weights[i]
            end += 1
    owner.policy_end = end


@helper
def weigh(edges, temperature, weights):
    """Write visits ** (1 / temperature), the largest scaled to 1; return the first of the largest.

    Without any visit (a budget of one simulation) the priors stand in for them.
    """
    visits, best = 0, 0
    for i in range(len(edges)):
        visits += edges[i].visits
    for i in range(len(edges)):
        weights[i] = edges[i].visits if visits > 0 else edges[i].prior
        best = i if weights[i] > weights[best] else best
    largest = weights[best]
    for i in range(len(edges)):
        weights[i] /= largest
        if temperature > 0.0 and temperature != 1.0:
            weights[i] **= 1.0 / temperature
    return best


@helper
def draw(stream, weights):
    """Draw an index by weight."""
    total, last = 0.0, 0
    for i in range(len(weights)):
        total += weights[i]
    left = rng.uniform(stream) * total
    for i in range(len(weights)):
        if weights[i] > 0.0:
            last = i
            left -= weights[i]
            if left < 0.0:
                break
    return last
