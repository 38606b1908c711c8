"""Equities of all pairs of hole cards beside a board, and their histograms over the boards still to come.

On each canonical full board the pairs are ranked once, and what each wins against a random other pair is read off the
order: pairs below it, less those that share a card with it. It is counted in half wins: 2 for a win, 1 for a tie.
Histograms beside a flop or a turn are sums over the full boards that may follow. A pair's place in arrays is its number
among the pairs of all 52 cards that are not on the board (canonical.pair_number).
"""

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numba import int16, int32, int64, void

from asyncplay.games.cards import CARDS, RANKS, SUIT_CARDS, SUITS, count_cards, lowest_card
from asyncplay.games.holdem.canonical import place_of
from asyncplay.games.holdem.layout import BOARD_CARDS, HOLE_CARDS
from asyncplay.games.holdem.strength import strength
from asyncplay.games.kernels import helper, kernel

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

BINS = 48
CDF_TOTAL = 4096  # what a cumulative histogram ends with
FULL_PAIRS = comb(CARDS - BOARD_CARDS, 2)  # pairs of cards beside a full board
PLACE_BITS, DIGIT_BITS, DIGITS = 11, 10, 3  # sorted: the strength, of 30 bits, above the place
NOT_IN_PLAY = -1


class Ranking(NamedTuple):
    """Scratch memory to rank the pairs beside a full board in."""

    keys: Array  # int64[2, FULL_PAIRS]
    counts: Array  # int64[DIGITS, 1 << DIGIT_BITS]
    cards: Array  # int64[2, FULL_PAIRS], the cards of a pair by its place
    seen: Array  # int64[2, CARDS], pairs with a card: below the present ones, and among them


def new_ranking() -> Ranking:
    """Fresh scratch memory."""
    return Ranking(
        np.zeros((2, FULL_PAIRS), np.int64),
        np.zeros((DIGITS, 1 << DIGIT_BITS), np.int64),
        np.zeros((2, FULL_PAIRS), np.int64),
        np.zeros((2, CARDS), np.int64),
    )


def most_halves(deck: int) -> int:
    """Half wins of a pair that beats all others."""
    return 2 * comb(deck.bit_count() - BOARD_CARDS - HOLE_CARDS, 2)


@kernel(void(int64, int64, int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int16[::1]))
def rank_pairs(deck, board, keys, counts, cards, seen, halves):  # noqa: PLR0917
    """Write the half wins of every pair beside a full board, NOT_IN_PLAY for cards that the deck lacks."""
    n_pairs, place, high_place = 0, 0, 0
    for high in range(CARDS):
        if (board >> high) & 1:
            continue
        low_place = 0
        for low in range(high):
            if (board >> low) & 1:
                continue
            place = high_place * (high_place - 1) // 2 + low_place
            pair = np.int64(1) << high | np.int64(1) << low
            if pair & ~deck == 0:
                keys[0, n_pairs] = strength(board | pair) << PLACE_BITS | place
                cards[0, place], cards[1, place] = high, low
                n_pairs += 1
            halves[place] = NOT_IN_PLAY
            low_place += 1
        high_place += 1
    sort_keys(keys, counts, n_pairs)
    read_off(keys[DIGITS % 2], n_pairs, cards, seen, halves)


@helper
def sort_keys(keys, counts, n):
    """Sort by strength from one row to the other and back; the sorted one is row DIGITS % 2."""
    mask = (1 << DIGIT_BITS) - 1
    for digit in range(DIGITS):
        for value in range(1 << DIGIT_BITS):
            counts[digit, value] = 0
    for k in range(n):
        word = keys[0, k] >> PLACE_BITS
        for digit in range(DIGITS):
            counts[digit, (word >> (DIGIT_BITS * digit)) & mask] += 1
    for digit in range(DIGITS):
        source, target, shift, first = keys[digit % 2], keys[1 - digit % 2], PLACE_BITS + DIGIT_BITS * digit, 0
        for value in range(1 << DIGIT_BITS):
            here = counts[digit, value]
            counts[digit, value] = first
            first += here
        for k in range(n):
            value = (source[k] >> shift) & mask
            target[counts[digit, value]] = source[k]
            counts[digit, value] += 1


@helper
def read_off(order, n_pairs, cards, seen, halves):
    """Half wins from the order: of the pairs below, and of those equal, the ones that share no card."""
    below, tied = seen[0], seen[1]
    for card in range(CARDS):
        below[card] = 0
        tied[card] = 0
    start = 0
    while start < n_pairs:
        stop = start
        while stop < n_pairs and order[stop] >> PLACE_BITS == order[start] >> PLACE_BITS:
            place = order[stop] & ((1 << PLACE_BITS) - 1)
            tied[cards[0, place]] += 1
            tied[cards[1, place]] += 1
            stop += 1
        for k in range(start, stop):
            place = order[k] & ((1 << PLACE_BITS) - 1)
            a, b = cards[0, place], cards[1, place]
            wins = start - below[a] - below[b]
            halves[place] = 2 * wins + stop - start - tied[a] - tied[b] + 1
        for k in range(start, stop):
            place = order[k] & ((1 << PLACE_BITS) - 1)
            for side in range(2):
                below[cards[side, place]] += 1
                tied[cards[side, place]] -= 1
        start = stop


SPREAD = void(int64, int64, int64, int32[:, ::1], int32[::1], int16[:, ::1], int64[:, ::1], int32[:, ::1], int64[::1])


@kernel(SPREAD)
def spread(deck, board, most, choose, numbers, halves, maps, histogram, total):  # noqa: PLR0917
    """Of each pair beside a board: the histogram of its half wins over all boards that may follow, and their sum.

    ``halves`` int16[boards, FULL_PAIRS] belongs to the canonical full boards, which ``choose`` and ``numbers`` find;
    ``maps`` int64[2, CARDS] is scratch. Written are ``histogram`` int32[pairs, BINS] and ``total`` int64[pairs], by
    place; pairs that the deck lacks stay 0.
    """
    for pair in range(len(histogram)):
        total[pair] = 0
        for k in range(BINS):
            histogram[pair, k] = 0
    n_missing, free = BOARD_CARDS - count_cards(board), deck & ~board
    first = free
    while first:
        turned = first & -first
        first &= first - 1
        second = first if n_missing == 2 else turned  # one card alone is its own second
        while second:
            full = board | turned | (second & -second)
            second &= second - 1
            ordered = map_cards(full, board, maps)
            row = halves[numbers[place_of(choose, ordered)]]
            add_up(free & ~full, most, row, maps, histogram, total)


@helper
def map_cards(full, board, maps):
    """Write where the cards beside a full board lie: beside ``board``, and beside its canonical form with the suits
    renamed to match; return that form."""
    ordered, taken = np.int64(0), 0
    for rank in range(SUITS):  # the suit with the most on the board is the first
        best, chosen = np.int64(-1), 0
        for suit in range(SUITS):
            ranks = (full >> (RANKS * suit)) & SUIT_CARDS
            if (taken >> suit) & 1 == 0 and ranks > best:
                best, chosen = ranks, suit
        taken |= 1 << chosen
        ordered |= best << (RANKS * rank)
        for k in range(RANKS):
            maps[1, RANKS * chosen + k] = RANKS * rank + k
    for card in range(CARDS):
        below = (np.int64(1) << maps[1, card]) - 1
        maps[0, card] = card - count_cards(board & ((np.int64(1) << card) - 1))
        maps[1, card] -= count_cards(ordered & below)
    return ordered


@helper
def add_up(free, most, row, maps, histogram, total):  # noqa: PLR0917
    """Add the half wins on a full board to the pairs of free cards, by their places beside the board it completes."""
    highs = free
    while highs:
        card = lowest_card(highs)
        highs &= highs - 1
        lows = free & ((np.int64(1) << card) - 1)
        own, there = maps[0, card], maps[1, card]
        while lows:
            other = lowest_card(lows)
            lows &= lows - 1
            place = own * (own - 1) // 2 + maps[0, other]
            high, low = max(there, maps[1, other]), min(there, maps[1, other])
            won = np.int64(row[high * (high - 1) // 2 + low])
            histogram[place, won * BINS // (most + 1)] += 1
            total[place] += won


@kernel(void(int64[::1], int64[::1]))
def count_alike(boards, found):
    """How many boards differ from each canonical one only by the names of suits: the different orders of its suits."""
    for k in range(len(boards)):
        runs, alike = 24, 1
        before = np.int64(-1)
        for suit in range(SUITS):
            ranks = (boards[k] >> (RANKS * suit)) & SUIT_CARDS
            alike = alike + 1 if ranks == before else 1
            runs //= alike
            before = ranks
        found[k] = runs
