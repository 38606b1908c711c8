"""What seven cards are worth: a number that is larger for a better hand and equal for equal ones.

It is worked out by bit arithmetic on the ranks of the four suits, without tables. A number has three parts: the
category, the ranks that make it (the pairs, the trips ...) and the ranks beside them, each a set of 13 bits. Sets of
equally many ranks compare like their ranks from the top, so numbers compare like hands.
"""

import numpy as np
from numba import int64, void

from asyncplay.games.cards import RANKS, SUIT_CARDS, count_cards
from asyncplay.games.kernels import helper, kernel

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORIES = 9
CATEGORY_SHIFT = 2 * RANKS


@helper
def strength(cards):
    """The worth of a set of exactly seven cards."""
    a, b = cards & SUIT_CARDS, (cards >> RANKS) & SUIT_CARDS
    c, d = (cards >> (2 * RANKS)) & SUIT_CARDS, (cards >> (3 * RANKS)) & SUIT_CARDS
    long_suit = flush_suit(a, b, c, d)
    if long_suit:  # leaves too few cards for quads or a full house
        run = straight_top(long_suit)
        return worth(STRAIGHT_FLUSH, run, 0) if run else worth(FLUSH, top_five(long_suit), 0)
    ranks = a | b | c | d
    twice = (a & b) | (c & d) | ((a | b) & (c | d))
    if twice == 0:
        run = straight_top(ranks)
        return worth(STRAIGHT, run, 0) if run else worth(HIGH_CARD, without_two(ranks), 0)
    return repeated(ranks, twice, (a & b & (c | d)) | (c & d & (a | b)), a & b & c & d)


@helper
def repeated(ranks, twice, thrice, four):
    """The worth of cards without a flush; ranks that come at least once, twice, three and four times."""
    if four:
        return worth(QUADS, four, top(ranks ^ four))
    trips = top(thrice)
    if thrice and twice ^ trips:
        return worth(FULL_HOUSE, trips, top(twice ^ trips))
    run = straight_top(ranks)
    if run:
        return worth(STRAIGHT, run, 0)
    if thrice:
        return worth(TRIPS, trips, without_two(ranks ^ trips))
    high = top(twice)
    low = top(twice ^ high)
    if low:
        return worth(TWO_PAIR, high | low, top(ranks ^ high ^ low))
    return worth(PAIR, high, without_two(ranks ^ high))


@helper
def worth(category, made, beside):
    """The three parts in one number."""
    return (np.int64(category) << CATEGORY_SHIFT) | (made << RANKS) | beside


@helper
def flush_suit(a, b, c, d):
    """The ranks of the suit with five cards or more, or 0."""
    if count_cards(a) >= 5:
        return a
    if count_cards(b) >= 5:
        return b
    if count_cards(c) >= 5:
        return c
    return d if count_cards(d) >= 5 else np.int64(0)


@helper
def straight_top(ranks):
    """A bit for the highest five ranks in a row, the higher the better; 0 without a straight. Aces are also low."""
    line = (ranks << 1) | (ranks >> (RANKS - 1))
    runs = line & (line >> 1)
    return top(runs & (runs >> 2) & (line >> 4))


@helper
def top(ranks):
    """The highest of some ranks alone; 0 if there are none."""
    ranks |= ranks >> 1
    ranks |= ranks >> 2
    ranks |= ranks >> 4
    ranks |= ranks >> 8
    return ranks ^ (ranks >> 1)


@helper
def without_two(ranks):
    """All but the two lowest: of seven cards five count."""
    ranks &= ranks - 1
    return ranks & (ranks - 1)


@helper
def top_five(ranks):
    """The five highest of at least five ranks."""
    for _ in range(count_cards(ranks) - 5):
        ranks &= ranks - 1
    return ranks


@kernel(void(int64[::1], int64[::1]))
def rank_hands(hands, strengths):
    """The worth of each of many sets of seven cards."""
    for k in range(len(hands)):
        strengths[k] = strength(hands[k])
