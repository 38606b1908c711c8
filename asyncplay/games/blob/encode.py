"""What a player sees of Blob: 256 features, and a key of the same; behind the features also what it does not see.

"Seat k" is k places to the left of the viewer; entries of seats that do not exist are 0. Everything is computed
in float64 and rounded once.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.blob.layout import (
    BIDDING,
    BIDS,
    DEALER,
    DEALING,
    DECISIONS,
    HANDS,
    IS_WHOLE,
    MOST_POINTS,
    N_ROUNDS,
    N_TABLE,
    N_TRICKS,
    NO_TRUMP,
    PHASE,
    PLAYED,
    PLAYERS,
    ROUND,
    SIZE,
    START_SIZE,
    TABLE,
    TRICKS,
    TRUMP,
    TURN,
    byte_of,
    forbidden_bid,
    round_size,
    total_of,
)
from asyncplay.games.cards import CARDS, RANKS, SUITS, count_cards, lowest_card, suit_cards
from asyncplay.games.kernels import helper, kernel

FEATURES = 256
HAND, ON_TABLE, GONE = 0, 52, 104
SEAT_BIDS, SEAT_TRICKS, OWN_BID, OWN_TRICKS = 156, 164, 172, 173
DEALT, TRICKS_DONE, FROM_DEALER, TABLE_SIZE, TRUMPS = 174, 175, 176, 177, 178
BIDS_AS_DEALER, PHASES, HELD, LAID, PROGRESS = 182, 183, 186, 187, 188
NEED, IN_TRICK, OWN_TRUMPS, SUIT_LENGTHS, HONOURS, TRUMP_RANK, FORBIDDEN = 189, 190, 191, 192, 196, 200, 201
TOTAL, ROUNDS_DONE, ROUNDS_LEFT, ONES_LEFT, PART, SIZES_BEFORE, CONTEXT_END = 202, 210, 211, 212, 213, 214, 229
PAST_ROUNDS = 15
LOWEST_RANK, HIGHEST_RANK = 2, 14


@kernel(contract.ENCODE_FLOATS)
def encode(rules, state, viewer, features, room):
    """All 256 entries; 0-155 are cards, 202 and later the context of a whole game, 0 in a single round.

    Behind them the hands of the others, 52 entries for each of the seats k = 1 .. P-1, if the array is longer.
    """
    for index in range(FEATURES):
        features[index] = 0.0
    mark(state[HANDS + viewer], features, HAND)
    for k in range(state[N_TABLE]):  # in the order of play
        features[ON_TABLE + byte_of(state[TABLE], k)] = (k + 1) / 8
    mark(state[PLAYED], features, GONE)
    write_seats(rules, state, viewer, features)
    write_round(rules, state, viewer, features)
    write_hand(state, state[HANDS + viewer], features)
    if rules[IS_WHOLE]:
        write_context(rules, state, viewer, features)
    if len(features) > FEATURES:
        write_hidden(rules, state, viewer, features)


@helper
def write_hidden(rules, state, viewer, features):
    """A 1 for each card in the hands of the others, seat by seat."""
    for index in range(FEATURES, len(features)):
        features[index] = 0.0
    for k in range(1, rules[PLAYERS]):
        mark(state[HANDS + (viewer + k) % rules[PLAYERS]], features, FEATURES + CARDS * (k - 1))


@helper
def mark(cards, features, first):
    """A 1 for each card."""
    while cards:
        features[first + lowest_card(cards)] = 1.0
        cards &= cards - 1


@helper
def write_seats(rules, state, viewer, features):
    """156-173: bids and tricks of all seats, the viewer's own once more."""
    size = state[SIZE]
    for k in range(rules[PLAYERS]):
        seat = (viewer + k) % rules[PLAYERS]
        bid = byte_of(state[BIDS], seat) - 1
        features[SEAT_BIDS + k] = bid / size if bid >= 0 else -1.0
        features[SEAT_TRICKS + k] = byte_of(state[TRICKS], seat) / size
    features[OWN_BID] = features[SEAT_BIDS]
    features[OWN_TRICKS] = features[SEAT_TRICKS]


@helper
def write_round(rules, state, viewer, features):
    """174-190 and 201: size, place, trump, phase, progress, what is forbidden."""
    size, players = state[SIZE], rules[PLAYERS]
    features[DEALT] = size / 13
    features[TRICKS_DONE] = state[N_TRICKS] / size
    features[FROM_DEALER] = ((viewer - state[DEALER]) % players) / players
    features[TABLE_SIZE] = players / 8
    if state[TRUMP] != NO_TRUMP:
        features[TRUMPS + state[TRUMP]] = 1.0
    features[BIDS_AS_DEALER] = viewer == state[DEALER] and state[PHASE] == BIDDING
    if state[PHASE] != DEALING:
        features[PHASES + state[PHASE] - BIDDING] = 1.0
    features[PROGRESS] = state[DECISIONS] / (players * (size + 1))
    bid = byte_of(state[BIDS], viewer) - 1
    features[NEED] = (byte_of(state[TRICKS], viewer) - bid) / size if bid >= 0 else 0.0
    features[IN_TRICK] = state[N_TABLE] / players
    forbidden = forbidden_bid(rules, state) if viewer == state[DEALER] else -1
    features[FORBIDDEN] = forbidden / size if forbidden >= 0 else -1.0


@helper
def write_hand(state, hand, features):
    """186, 187 and 191-200: how long and how strong the viewer's hand is, its trumps and their mean rank."""
    held = count_cards(hand)
    features[HELD] = held / 13
    features[LAID] = (state[SIZE] - held) / 13 if state[PHASE] != DEALING else 0.0
    for suit in range(SUITS):
        cards = (hand >> (RANKS * suit)) & ((1 << RANKS) - 1)
        features[SUIT_LENGTHS + suit] = count_cards(cards) / 13
        ace, king = (cards >> (RANKS - 1)) & 1, (cards >> (RANKS - 2)) & 1
        features[HONOURS + suit] = 1.0 if ace else 0.5 * king
    if state[TRUMP] != NO_TRUMP:
        trumps = hand & suit_cards(state[TRUMP])
        count, ranks = count_cards(trumps), 0
        while trumps:
            ranks += lowest_card(trumps) - RANKS * state[TRUMP] + LOWEST_RANK
            trumps &= trumps - 1
        features[OWN_TRUMPS] = count / 13
        features[TRUMP_RANK] = ranks / count / HIGHEST_RANK if count else 0.0


@helper
def write_context(rules, state, viewer, features):
    """202-230: a whole game as it stood when the present round was dealt."""
    players, start, number, rounds = rules[PLAYERS], rules[START_SIZE], state[ROUND], rules[N_ROUNDS]
    for k in range(players):
        features[TOTAL + k] = total_of(state, (viewer + k) % players) / rules[MOST_POINTS]
    features[ROUNDS_DONE] = number / rounds
    features[ROUNDS_LEFT] = (rounds - 1 - number) / rounds
    ones_left = start + players - 1 - max(number, start - 2)
    features[ONES_LEFT] = max(ones_left, 0) / (players + 1)
    features[PART] = 0.0 if number < start else 0.5 if number < start + players else 1.0
    for back in range(min(PAST_ROUNDS, number)):
        features[SIZES_BEFORE + back] = round_size(rules, number - 1 - back) / start
    features[CONTEXT_END] = players / 8
    features[CONTEXT_END + 1] = start / 8


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash over what ``encode`` shows: the own hand, what is on the table and gone, numbers of all seats.

    Who played which card earlier is not in it: the features do not show it either.
    """
    small = viewer | state[TURN] << 4 | state[PHASE] << 8 | state[DEALER] << 12 | state[TRUMP] << 16
    small |= state[DECISIONS] << 20 | state[N_TABLE] << 28 | state[SIZE] << 32 | state[ROUND] << 36
    mixed = rng.mix(np.uint64(small | rules[PLAYERS] << 44 | rules[START_SIZE] << 48 | rules[IS_WHOLE] << 52))
    for word in (state[HANDS + viewer], state[PLAYED], state[TABLE], state[BIDS], state[TRICKS]):
        mixed = rng.mix(mixed ^ np.uint64(word))
    if rules[IS_WHOLE]:
        for seat in range(rules[PLAYERS]):
            mixed = rng.mix(mixed ^ np.uint64(total_of(state, seat)))
    return mixed
