"""Gumbel root selection (Danihelka et al. 2022): sequential halving at the root, PUCT everywhere below.

Formulas (the twin in tests/search/gumbel_twin.py is written beside the same lines). An action of prior P, whose
simulations came to the mean q for the player to move, is rated

    g + log P + sigma(q)        sigma(q) = (c_visit + most visits of an action) * c_scale * (q + 1) / 2

g being the action's Gumbel noise, drawn once for the decision. The paper's values lie in 0 .. 1, ours in -1 .. 1:
hence (q + 1) / 2, so that ``gumbel_visits`` (c_visit) and ``gumbel_scale`` (c_scale) mean what they mean there. An
action never tried has the mixed value

    (v + N * sum(P q) / sum(P)) / (1 + N)       sums over the actions that were tried, N their visits together

with the network's value v of the root. A decision of n simulations considers its m = ``gumbel_actions`` best rated
actions, or all if there are fewer. Each phase tries every action still considered n / (ceil(log2 m) * number of them)
times, at least once, and the next goes on with the better half, with two at least, until n is used up. Within a phase
the least tried come first, the better rated of them before the others, so that a budget too small for a whole phase
goes to the best.

What is learned is softmax(log P + sigma(q)) over all legal actions; what is played is the best rated of those still
considered, g counting ``temperature`` times: 1 is the paper's way, a draw from what is learned, 0 leaves nothing to
chance. Where ``noise_weight`` is 0 (matches, quick decisions) g is 0 from the beginning. There is no Dirichlet noise.

Where cards are hidden all worlds of a decision have the same noise and consider the same actions: q is the mean over
the simulations of all worlds, halving waits until every world has done its phase, and so each world gives an action
as many simulations as the others do. If each halved by itself, actions would be judged by the worlds that like them.

Simulations carried over from the last decision count in q, and not in the halving. Phases change in ``advance``, when
no row waits: virtual losses never touch a rating.
"""

import math

import numpy as np

from asyncplay import rng
from asyncplay.games.kernels import helper
from asyncplay.search.layout import FRESH, THOUGHT_STREAM
from asyncplay.search.tree import first_root

PARTS = 1 << 20  # a policy is written down as whole numbers of these
LEAST_PRIOR = 1e-30  # a prior may have come down to 0 on its way
MANY = np.int64(1) << 32  # more visits than any action has
OUT = -np.inf  # the rating of an action that is not considered any more


@helper
def begin_halving(memory, slot):
    """Start a decision: note what the tree brings along and draw the noise; the first phase waits for the root."""
    roots, root = memory.roots, memory.forest.nodes[first_root(memory, slot)]
    first, thought = slot * memory.settings.worlds, memory.games.streams[slot, THOUGHT_STREAM]
    is_noisy = memory.settings.noise_weight > 0.0 and not memory.games.slots[slot].is_quick
    for i in range(root.n_edges):
        roots.before[slot, i] = memory.forest.edges[root.first_edge + i].visits
        roots.noise[slot, i] = rng.gumbel(thought) if is_noisy else 0.0
        roots.ratings[slot, i] = 0.0
    roots.halvings[slot].considered = 0
    roots.halvings[slot].opening = root.status == FRESH
    for tree in range(first, first + memory.settings.worlds):
        memory.forest.trees[tree].limit = roots.halvings[slot].opening
        memory.forest.trees[tree].is_noised = 1


@helper
def narrow(memory, slot):
    """Go on to the next phase, with fewer actions and a new limit, if every world has done the present one."""
    forest, n_worlds = memory.forest, memory.settings.worlds
    halving, planned = memory.roots.halvings[slot], 0
    for tree in range(slot * n_worlds, slot * n_worlds + n_worlds):
        if forest.trees[tree].simulations < forest.trees[tree].limit:
            return
        planned = max(planned, forest.trees[tree].budget - halving.opening)
    widest = min(memory.settings.gumbel_actions, forest.nodes[first_root(memory, slot)].n_edges)
    halving.considered = max(halving.considered // 2, 2) if halving.considered > 0 else widest
    keep_best(memory, slot, halving.considered)
    n_phases = 0
    while (1 << n_phases) < widest:
        n_phases += 1
    n_more = max(planned // (n_phases * halving.considered), 1) * halving.considered
    for tree in range(slot * n_worlds, slot * n_worlds + n_worlds):
        forest.trees[tree].limit = min(forest.trees[tree].limit + n_more, forest.trees[tree].budget)


@helper
def keep_best(memory, slot, n_kept):
    """Rate the actions anew and leave only the best of those still considered, the first where several are equal."""
    ratings = memory.scratch.shares[: memory.forest.nodes[first_root(memory, slot)].n_edges]
    kept = memory.roots.ratings[slot]
    rate(memory, slot, 1.0, ratings)
    for i in range(len(ratings)):
        if kept[i] == OUT:
            ratings[i] = OUT
        kept[i] = OUT
    for _ in range(n_kept):
        best = 0
        for i in range(len(ratings)):
            best = i if ratings[i] > ratings[best] else best
        kept[best] = ratings[best]
        ratings[best] = OUT


@helper
def due_ordinal(memory, tree):
    """Which edge of a root the next simulation takes: of those considered, the least tried, the best rated first."""
    forest, slot = memory.forest, tree // memory.settings.worlds
    root = forest.nodes[tree * forest.nodes_per_tree]
    ratings, before = memory.roots.ratings[slot], memory.roots.before[slot]
    due, fewest = 0, MANY
    for i in range(root.n_edges):
        visits = forest.edges[root.first_edge + i].visits - before[i] if ratings[i] > OUT else MANY
        if visits < fewest or (visits == fewest and ratings[i] > ratings[due]):
            due, fewest = i, visits
    return due


@helper
def rate(memory, slot, noise_weight, ratings):
    """Write noise_weight * g + log P + sigma(q) of every legal action."""
    factor, mixed = outlook(memory, slot, len(ratings))
    for i in range(len(ratings)):
        visits, total = seen(memory, slot, i)
        mean = total / visits if visits > 0 else mixed
        noise = noise_weight * memory.roots.noise[slot, i]
        ratings[i] = noise + math.log(prior_of(memory, slot, i)) + factor * (mean + 1.0) / 2.0


@helper
def outlook(memory, slot, n_edges):
    """Return the factor of sigma and the mixed value."""
    value = np.float64(memory.forest.nodes[first_root(memory, slot)].value)
    all_visits, most, priors, weighed = 0, 0, 0.0, 0.0
    for i in range(n_edges):
        visits, total = seen(memory, slot, i)
        if visits > 0:
            all_visits += visits
            most = max(most, visits)
            priors += prior_of(memory, slot, i)
            weighed += prior_of(memory, slot, i) * (total / visits)
    mixed = (value + all_visits * (weighed / priors)) / (1 + all_visits) if all_visits > 0 else value
    return (memory.settings.gumbel_visits + most) * memory.settings.gumbel_scale, mixed


@helper
def seen(memory, slot, ordinal):
    """Visits and values of an action of the root, over all worlds."""
    forest, first, visits, total = memory.forest, slot * memory.settings.worlds, 0, 0.0
    for tree in range(first, first + memory.settings.worlds):
        edge = forest.edges[forest.nodes[tree * forest.nodes_per_tree].first_edge + ordinal]
        visits += edge.visits
        total += edge.value_sum
    return visits, total


@helper
def prior_of(memory, slot, ordinal):
    """The prior in the first world: all roots look the same to the player, so the network said the same of them.

    float64, because the logarithm of a float32 would be one.
    """
    forest = memory.forest
    edge = forest.edges[forest.nodes[first_root(memory, slot)].first_edge + ordinal]
    return max(np.float64(edge.prior), LEAST_PRIOR)


@helper
def choose(memory, slot, temperature):
    """Return the best action of those still considered and tried; without any simulation, of all."""
    ratings = memory.scratch.shares[: memory.forest.nodes[first_root(memory, slot)].n_edges]
    rate(memory, slot, temperature, ratings)
    best, best_is_tried, best_rating = 0, False, OUT
    for i in range(len(ratings)):
        is_tried = seen(memory, slot, i)[0] > 0
        is_better = ratings[i] > best_rating if is_tried == best_is_tried else is_tried
        if memory.roots.ratings[slot, i] > OUT and is_better:
            best, best_is_tried, best_rating = i, is_tried, ratings[i]
    return best


@helper
def improve(memory, slot, parts):
    """Write softmax(log P + sigma(q)) in whole numbers of ``PARTS``; nothing but zeros if nothing was tried."""
    n_visits, largest, total = 0, OUT, 0.0
    rate(memory, slot, 0.0, parts)
    for i in range(len(parts)):
        n_visits += seen(memory, slot, i)[0]
        largest = max(largest, parts[i])
    for i in range(len(parts)):
        parts[i] = math.exp(parts[i] - largest)
        total += parts[i]
    for i in range(len(parts)):
        parts[i] = math.floor(parts[i] / total * PARTS + 0.5) if n_visits > 0 else 0.0
