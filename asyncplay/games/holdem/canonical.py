"""Hands and boards but for the names of their suits.

Two players' views, hole cards and board, are the same poker if a renaming of suits turns one into the other. The
canonical one of them has its suits in falling order of (ranks on the board, ranks in the hole): equal for all of them
and found by sorting four numbers. Before the flop that leaves 169 classes. Later a view has a number: that of its
canonical board times the pairs of cards beside a board, plus that of its canonical pair. Some numbers stay unused, as
boards with suits alike have several pairs that are the same poker.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from asyncplay.games.cards import CARDS, RANKS, SUIT_CARDS, count_cards, lowest_card
from asyncplay.games.kernels import helper, kernel

CLASSES = RANKS * RANKS  # of two cards: pairs on the diagonal, suited above it, others below
BOARD_SIZES = (0, 3, 4, 5)  # cards on the board, by street
UNUSED = -1


class BoardIndex(NamedTuple):
    """The canonical boards of one street by number, and how to find a board's number."""

    choose: NDArray[np.int32]  # int32[52, 6], C(card, k)
    numbers: NDArray[np.int32]  # int32[C(52, cards)], by the board's place among all sets; UNUSED if not canonical
    boards: NDArray[np.int64]  # int64[n], sets of cards, ascending
    n_pairs: int  # pairs of cards beside a board

    @property
    def n_hands(self) -> int:
        """How many numbers ``hand_number`` has."""
        return len(self.boards) * self.n_pairs


def index_boards(deck: int, street: int) -> BoardIndex:
    """Find the canonical boards of a street, the flop or later, with cards of this deck; some tens of milliseconds."""
    size = BOARD_SIZES[street]
    choose = np.array([[comb(card, k) for k in range(6)] for card in range(CARDS)], np.int32)
    numbers, boards = np.empty(comb(CARDS, size), np.int32), np.empty(comb(CARDS, size), np.int64)
    count = number_boards(deck, size, numbers, boards)
    return BoardIndex(choose, numbers, boards[:count].copy(), comb(CARDS - size, 2))


@kernel(int64(int64, int64, int32[::1], int64[::1]))
def number_boards(deck, size, numbers, boards):
    """Number the canonical boards in ascending order, which is also the order of ``place_of``; return their count."""
    board, count = np.int64((1 << size) - 1), 0
    for place in range(len(numbers)):
        numbers[place] = UNUSED
        if board & ~deck == 0 and canonical(np.int64(0), board)[1] == board:
            numbers[place] = count
            boards[count] = board
            count += 1
        lowest = board & -board  # the next set of as many cards
        carried = board + lowest
        board = carried | ((carried ^ board) >> (2 + lowest_card(lowest)))
    return count


@helper
def canonical(hole, board):
    """Hole cards and board with their suits in order."""
    a, b = suit_key(hole, board, 0), suit_key(hole, board, 1)
    c, d = suit_key(hole, board, 2), suit_key(hole, board, 3)
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    hole = (a & SUIT_CARDS) | (b & SUIT_CARDS) << RANKS | (c & SUIT_CARDS) << 2 * RANKS | (d & SUIT_CARDS) << 3 * RANKS
    board = a >> RANKS | b >> RANKS << RANKS | c >> RANKS << 2 * RANKS | d >> RANKS << 3 * RANKS
    return hole, board


@helper
def suit_key(hole, board, suit):
    """What a suit is sorted by."""
    return ((board >> (RANKS * suit)) & SUIT_CARDS) << RANKS | ((hole >> (RANKS * suit)) & SUIT_CARDS)


@helper
def place_of(choose, cards):
    """The place of a set of cards among all sets of as many, in ascending order."""
    place, k = np.int64(0), 1
    while cards:
        place += choose[lowest_card(cards), k]
        cards &= cards - 1
        k += 1
    return place


@helper
def pair_number(pair, board):
    """The number of two cards among the pairs of those that are not on the board."""
    low, high = lowest_card(pair), lowest_card(pair & (pair - 1))
    low -= count_cards(board & ((np.int64(1) << low) - 1))
    high -= count_cards(board & ((np.int64(1) << high) - 1))
    return high * (high - 1) // 2 + low


@helper
def board_number(choose, numbers, board):
    """The number of a board; equal where only the names of suits differ."""
    return np.int64(numbers[place_of(choose, canonical(np.int64(0), board)[1])])


@helper
def number_beside(hole, board):
    """The number of two cards among the pairs beside a board, with the suits of both in order."""
    hole, board = canonical(hole, board)
    return pair_number(hole, board)


@helper
def hand_number(choose, numbers, n_pairs, hole, board):
    """The number of what a player sees from the flop on; equal where only the names of suits differ."""
    return board_number(choose, numbers, board) * n_pairs + number_beside(hole, board)


@helper
def class_number(hole):
    """The class of two cards before the flop, 0 .. 168: row * 13 + column of the chart, the deuce first."""
    one, other = lowest_card(hole), lowest_card(hole & (hole - 1))
    low, high = min(one % RANKS, other % RANKS), max(one % RANKS, other % RANKS)
    is_suited = one // RANKS == other // RANKS
    return low * RANKS + high if is_suited else high * RANKS + low
