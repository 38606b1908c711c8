"""Who holds which card: the truth, for a network to learn, and its beliefs, to choose worlds by.

A network with beliefs answers with values float32[n, P + C * P]: behind the seats' values, for each card and holder
a number ``b``, by which the player to move believes that holder more likely than counting cards would say. A world,
which gives each unseen card a holder, has the weight

    exp(sum of b(card, holder) over the unseen cards)

What a network adds for a holder or a card as such is the same in all worlds of a position, as every world deals the
same cards to the same numbers: it changes nothing.

The belief of a decision comes with the answer for its root, before anything grows there. So the trees are planted in
worlds that are all alike, and once the answer is there each root moves to a world chosen by weight among several
drawn ones (``imagine``): to the player they all look the same, and their actions are the same.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import float32, int16, typeof, void

from asyncplay import rng
from asyncplay.games.kernels import body, helper
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.payloads import HOLDER, SEEN
from asyncplay.search.examples import REPLAY, policy_start
from asyncplay.search.layout import CHANCE_STREAM, PACKED, THOUGHT_STREAM, Array, unpack
from asyncplay.search.policy import draw
from asyncplay.search.tree import copy_words

EVEN_SHARE = 0.1  # of a choice is left to chance, so that no belief rules a world out


class Candidates(NamedTuple):
    """Worlds that a root may move to, and room to weigh them."""

    worlds: Array  # int64[M, S]
    weights: Array  # float64[M]
    holders: Array  # int16[C]


REVEAL = void(REPLAY, int16[:, ::1])
IMAGINE = void(
    PACKED,
    float32[:, ::1],
    typeof(Candidates(np.zeros((1, 1), np.int64), np.zeros(1), np.zeros(1, np.int16))),
)


def make_candidates(spec: GameSpec, count: int) -> Candidates:
    return Candidates(np.zeros((count, spec.state_words), np.int64), np.zeros(count), np.zeros(spec.cards, np.int16))


def believing_columns(spec: GameSpec) -> int:
    """How many columns the values of a network with beliefs have."""
    return spec.players * (1 + spec.cards)


@body
def reveal(game, replay, holders):
    """Replay a game and write ``holders`` int16[n, C] for each decision with a policy, as its player sees it."""
    rules, state, row = replay.rules, replay.state, 0
    rng.plant(replay.stream, replay.seed[0], CHANCE_STREAM)
    game.reset(rules, state)
    for decision in range(len(replay.actions)):
        while game.to_move(rules, state) == CHANCE_TURN:
            game.chance(rules, state, replay.stream)
        if replay.policy_ends[decision] > policy_start(replay, decision):
            game.holders(rules, state, game.to_move(rules, state), holders[row])
            row += 1
        game.play(rules, state, replay.actions[decision])


@body
def imagine(game, packed, values, candidates):
    """Move the roots among the rows of the last select, now answered, to worlds chosen by belief.

    ``values`` float32[n, P + C * P]; call it after ``backup`` and before the next select.
    """
    memory = unpack(packed)
    for row in range(len(values)):
        tree, node = np.int64(memory.leaves.rows[row].tree), np.int64(memory.leaves.rows[row].node)
        if node == tree * memory.forest.nodes_per_tree:
            slot, viewer = tree // memory.settings.worlds, np.int64(memory.forest.nodes[node].mover)
            thought = memory.games.streams[slot, THOUGHT_STREAM]
            game.determinize(memory.rules, memory.games.states[slot], viewer, thought, candidates.worlds)
            for number in range(len(candidates.weights)):
                game.holders(memory.rules, candidates.worlds[number], viewer, candidates.holders)
                candidates.weights[number] = log_weight(candidates.holders, values[row], len(memory.scratch.values))
            scale(candidates.weights)
            copy_words(candidates.worlds[draw(thought, candidates.weights)], memory.forest.states[node])


@helper
def log_weight(holders, answer, n_players):
    """What a network believes of a world in which the cards are held like this."""
    total = 0.0
    for card in range(len(holders)):
        if holders[card] != SEEN:
            total += answer[n_players + card * n_players + (holders[card] & HOLDER)]
    return total


@helper
def scale(weights):
    """Logarithms become shares, with some of the whole spread evenly."""
    highest, total = -np.inf, 0.0
    for number in range(len(weights)):
        highest = max(highest, weights[number])
    for number in range(len(weights)):
        weights[number] = math.exp(weights[number] - highest)
        total += weights[number]
    for number in range(len(weights)):
        weights[number] = (1.0 - EVEN_SHARE) * weights[number] / total + EVEN_SHARE / len(weights)
