"""Who has which of the cards that a player does not see: the truth, and what could be true."""

from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import CARDS, DECK, HANDS, PLAYED, PLAYERS, RANKS, count_cards
from asyncplay.games.blob.worlds import allowed_suits, cards_held
from asyncplay.games.kernels import helper, kernel
from asyncplay.payloads import POSSIBLE_SHIFT, SEEN

NOBODY = 1  # the bit of the cards that were not dealt


@kernel(contract.HOLDERS)
def holders(rules, state, viewer, found):
    """A card that nobody holds was not dealt. Like worlds, it knows of voids what the tricks have shown."""
    unseen = DECK & ~(state[PLAYED] | state[HANDS + viewer])
    undealt = NOBODY if count_cards(unseen) > count_held(rules, state, viewer) else 0
    for card in range(CARDS):
        found[card] = SEEN
        if (unseen >> card) & 1:
            possible = undealt | possible_seats(rules, state, viewer, card // RANKS)
            found[card] = holder_of(rules, state, viewer, card) | possible << POSSIBLE_SHIFT


@helper
def count_held(rules, state, viewer):
    """How many cards the others hold together."""
    held = 0
    for k in range(1, rules[PLAYERS]):
        held += cards_held(rules, state, (viewer + k) % rules[PLAYERS])
    return held


@helper
def possible_seats(rules, state, viewer, suit):
    """Bit k: the seat k places to the left could hold a card of this suit."""
    seats = 0
    for k in range(1, rules[PLAYERS]):
        seat = (viewer + k) % rules[PLAYERS]
        if cards_held(rules, state, seat) > 0:
            seats |= ((allowed_suits(state, seat) >> suit) & 1) << k
    return seats


@helper
def holder_of(rules, state, viewer, card):
    """How many places to the left of the viewer a card is held, 0 for nowhere."""
    for k in range(1, rules[PLAYERS]):
        if (state[HANDS + (viewer + k) % rules[PLAYERS]] >> card) & 1:
            return k
    return 0
