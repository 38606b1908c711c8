"""What a position of Blob looks like in memory, and how to read it.

A set of cards is one word: bit suit * 13 + (rank - 2). Small numbers of all seats share a word, a byte a seat;
totals, which grow beyond a byte, have two bytes a seat in two words.
"""

import numpy as np

from asyncplay.games.cards import CARDS, RANKS, suit_cards
from asyncplay.games.kernels import helper

NO_TRUMP = 4
MAX_PLAYERS = 8
HIGHEST_SCORE = 23

# rules: the options, then tables of binomials and of the 24 orders of suits
PLAYERS, START_SIZE, IS_WHOLE, FIXED_DEALER, FIXED_TRUMP, N_ROUNDS, MOST_POINTS, BINOMIALS = range(8)
ANY = -1  # a dealer or trump that is drawn
BINOMIAL_ROW = CARDS + 1  # C(n, k) is rules[BINOMIALS + BINOMIAL_ROW * n + k], 0 <= n, k <= 52
SUIT_TURNS = BINOMIALS + BINOMIAL_ROW**2  # symmetry y makes suit s to rules[SUIT_TURNS + SUITS * y + s]

# state
HANDS = 0  # a word a seat: the cards it holds
PLAYED = 8  # cards played this round, the trick on the table included
VOIDS = 9  # bit 4 * seat + suit: this seat failed to follow this suit
TABLE = 10  # the card played k-th to the trick on the table in byte k = 0, 1, ...
BIDS = 11  # a byte a seat: its bid + 1, 0 if it has not bid
TRICKS = 12  # a byte a seat: tricks won
N_TABLE, N_TRICKS, TURN, PHASE, DEALER, TRUMP, SIZE, DECISIONS, ROUND = range(13, 22)
TOTALS = 22  # two words: points of the rounds before the present one
STATE_WORDS = 24

DEALING, BIDDING, PLAYING, SCORING = 0, 1, 2, 3  # before the first deal; all tricks finished


@helper
def byte_of(word, place):
    """Byte ``place`` of a word."""
    return (word >> (8 * place)) & 0xFF


@helper
def total_of(state, seat):
    """Points of the rounds before the present one."""
    return (state[TOTALS + (seat >> 2)] >> (16 * (seat & 3))) & 0xFFFF


@helper
def followers(cards, suit):
    """The cards of a hand that may be played to a trick of this suit."""
    following = cards & suit_cards(suit)
    return following if following else cards


@helper
def score_of(state, tricks, seat):
    """Points of the present round for so many tricks, a byte a seat, once all are finished."""
    bid = byte_of(state[BIDS], seat) - 1
    return 10 + bid if byte_of(tricks, seat) == bid else 0


@helper
def forbidden_bid(rules, state):
    """The bid that the dealer may not make now, or -1: the bids must not add up to the cards dealt."""
    if state[PHASE] != BIDDING or state[TURN] != state[DEALER]:
        return -1
    bids = 0
    for seat in range(rules[PLAYERS]):
        bids += byte_of(state[BIDS], seat)
    left = state[SIZE] - (bids - (rules[PLAYERS] - 1))
    return left if left >= 0 else -1


@helper
def is_taken_by(card, best, trump):
    """Say whether ``card``, played after ``best``, which is winning, takes the trick."""
    if card // RANKS == best // RANKS:
        return card > best
    return card // RANKS == trump


@helper
def best_on_table(state):
    """The card that is winning the trick on the table, and which of the table's cards it is."""
    best, place = byte_of(state[TABLE], 0), 0
    for k in range(1, state[N_TABLE]):
        card = byte_of(state[TABLE], k)
        if is_taken_by(card, best, state[TRUMP]):
            best, place = card, k
    return best, place


@helper
def round_size(rules, number):
    """Cards dealt in a round of a whole game: C .. 1, as many more ones as there are players, 2 .. C."""
    start, players = rules[START_SIZE], rules[PLAYERS]
    if number < start:
        return start - number
    return max(np.int64(1), number - start - players + 2)
