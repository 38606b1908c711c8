"""What a player sees of hold'em: its cards, the board, the chips, and every decision so far; and a key of the same.

Features, in this order: the viewer's seat (P), its hole cards (52), flop, turn and river (52 each), then of each seat
from the viewer on the chips behind, its bet and whether it is in (3 P), then the action of each decision so far.
Chips are in units of the largest stack, actions in units of the largest action; no decision is 0.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.cards import CARDS, lowest_card
from asyncplay.games.holdem.layout import (
    ACTIONS,
    BETS,
    BOARD,
    DECISIONS,
    FLOP,
    HANDS,
    HISTORY,
    PLAYERS,
    RIVER,
    STREETS,
    behind,
    is_in,
)
from asyncplay.games.kernels import helper, kernel

OF_A_SEAT = 3


def n_features(players: int, max_decisions: int) -> int:
    """How many there are."""
    return players + STREETS * CARDS + OF_A_SEAT * players + max_decisions


@kernel(contract.ENCODE_FLOATS)
def encode(rules, state, viewer, features, room):
    """See the module's docstring."""
    players, scale = rules[PLAYERS], 1.0 / (rules[ACTIONS] - 2)
    for k in range(len(features)):
        features[k] = 0.0
    features[viewer] = 1.0
    write_cards(features, players, state[HANDS + viewer])
    for street in range(FLOP, RIVER + 1):
        write_cards(features, players + CARDS * street, state[BOARD + street])
    place = players + CARDS * STREETS
    for k in range(players):
        seat = (viewer + k) % players
        features[place] = behind(rules, state, seat) * scale
        features[place + 1] = state[BETS + seat] * scale
        features[place + 2] = is_in(state, seat)
        place += OF_A_SEAT
    for decision in range(state[DECISIONS]):
        features[place + decision] = (state[HISTORY + decision] + 1) / rules[ACTIONS]


@helper
def write_cards(features, first, cards):
    """A 1 for each card of a set."""
    while cards:
        features[first + lowest_card(cards)] = 1.0
        cards &= cards - 1


@kernel(contract.KEY)
def key(rules, state, viewer):
    """The viewer, its cards, the board street by street and all decisions."""
    mixed = rng.mix(np.uint64(viewer + 1))
    mixed = rng.mix(mixed ^ np.uint64(state[HANDS + viewer]))
    for street in range(FLOP, RIVER + 1):
        mixed = rng.mix(mixed ^ np.uint64(state[BOARD + street]))
    for decision in range(state[DECISIONS]):
        mixed = rng.mix(mixed ^ np.uint64(state[HISTORY + decision] + 1))
    return mixed
