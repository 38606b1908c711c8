"""Blob with its suits exchanged: the 24 symmetries of a round.

Suits differ in nothing but which of them is trump, and that is turned too. In a whole game, or with a fixed trump, a
turned position may have a trump that its round never has. It is a sound example all the same: a search and its values
end with the round, in which it is played like the position it was turned from.
"""

from itertools import permutations

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.blob.encode import FEATURES, GONE, HAND, HONOURS, ON_TABLE, SUIT_LENGTHS, TRUMPS
from asyncplay.games.blob.layout import PHASE, PLAYING, SUIT_TURNS
from asyncplay.games.cards import CARDS, RANKS, SUITS
from asyncplay.games.kernels import kernel
from asyncplay.games.spec import Symmetries

ORDERS = list(permutations(range(SUITS)))
"""Symmetry y makes suit s to ORDERS[y][s]; the first is the identity."""


@kernel(contract.TURN)
def turn(rules, state, action, y, room):
    """A card of the turned suit; bids, which share their numbers with cards, stay."""
    if state[PHASE] != PLAYING:
        return action
    return rules[SUIT_TURNS + SUITS * y + action // RANKS] * RANKS + action % RANKS


def symmetries(players: int) -> Symmetries:
    """Cards and what is told suit by suit come from the suit that becomes theirs."""
    sources = np.argsort(np.array(ORDERS), axis=1)  # [y, s]: the suit that becomes s
    cards = (sources[:, :, None] * RANKS + np.arange(RANKS)).reshape(len(ORDERS), CARDS)
    n_features = FEATURES + CARDS * (players - 1)
    features = np.tile(np.arange(n_features), (len(ORDERS), 1))
    for first in (HAND, ON_TABLE, GONE, *range(FEATURES, n_features, CARDS)):
        features[:, first : first + CARDS] = first + cards
    for first in (TRUMPS, SUIT_LENGTHS, HONOURS):
        features[:, first : first + SUITS] = first + sources
    return Symmetries(features.astype(np.int32), None)
