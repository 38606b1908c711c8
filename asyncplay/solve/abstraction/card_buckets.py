"""Finds the buckets of a deal: what kernels need of a bucket file, and how they read it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.cards import CARDS
from asyncplay.games.holdem.canonical import board_number, class_number, index_boards, number_beside
from asyncplay.games.holdem.layout import FLOP, HOLE_CARDS, PREFLOP, RIVER, TURN
from asyncplay.games.holdem.strength import strength
from asyncplay.games.kernels import helper

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types


class CardBuckets(NamedTuple):
    """The buckets of all hands, street by street, as bytes, and the numbers of boards by which they are found."""

    deck: Array  # int64[n], the cards in play
    choose: Array  # int32[52, 6], see canonical.BoardIndex
    flop_numbers: Array  # int32[C(52, 3)], likewise
    turn_numbers: Array
    river_numbers: Array
    n_pairs: Array  # int64[4], pairs beside a board, by street
    preflop: Array  # uint8[width * hands], little-endian
    flop: Array
    turn: Array
    river: Array
    width: int  # bytes of a bucket


class Dealt(NamedTuple):
    """A deal, of each seat."""

    holes: Array  # int64[P], hole cards, a set
    buckets: Array  # int64[P, 4], by street
    worth: Array  # int64[P], what hole cards and full board are worth


def card_buckets(deck: int, tables: Sequence[NDArray[Any]]) -> CardBuckets:
    """``tables``: uint8 or uint16, of each street the bucket of each hand, numbered as in a bucket file."""
    flop, turn, river = (index_boards(deck, street) for street in (FLOP, TURN, RIVER))
    as_bytes = [np.ascontiguousarray(table).view(np.uint8) for table in tables]
    return CardBuckets(
        deck=np.array([card for card in range(CARDS) if deck >> card & 1], np.int64),
        choose=flop.choose,
        flop_numbers=flop.numbers,
        turn_numbers=turn.numbers,
        river_numbers=river.numbers,
        n_pairs=np.array([0, flop.n_pairs, turn.n_pairs, river.n_pairs], np.int64),
        preflop=as_bytes[PREFLOP],
        flop=as_bytes[FLOP],
        turn=as_bytes[TURN],
        river=as_bytes[RIVER],
        width=tables[PREFLOP].itemsize,
    )


def empty_buckets() -> CardBuckets:
    """Arrays of the right types, for the signatures of kernels."""
    longs, numbers, table = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint8)
    choose = np.zeros((1, 1), np.int32)
    return CardBuckets(longs, choose, numbers, numbers, numbers, longs, table, table, table, table, 1)


def new_deal(players: int) -> Dealt:
    return Dealt(np.zeros(players, np.int64), np.zeros((players, 4), np.int64), np.zeros(players, np.int64))


@helper
def draw_set(stream, deck, taken, count):
    """A set of so many cards of the deck, none of them taken."""
    drawn = np.int64(0)
    for _ in range(count):
        card = np.int64(1) << deck[rng.below(stream, len(deck))]
        while (taken | drawn) & card:
            card = np.int64(1) << deck[rng.below(stream, len(deck))]
        drawn |= card
    return drawn


@helper
def deal(stream, deck, holes):
    """Deal hole cards to all seats; return the boards of the flop, the turn and the river."""
    taken = np.int64(0)
    for seat in range(len(holes)):
        holes[seat] = draw_set(stream, deck, taken, HOLE_CARDS)
        taken |= holes[seat]
    flop = draw_set(stream, deck, taken, 3)
    turn = flop | draw_set(stream, deck, taken | flop, 1)
    return flop, turn, turn | draw_set(stream, deck, taken | turn, 1)


@helper
def look_up(cards, dealt, flop, turn, river):
    """Find the buckets of all hole cards with these boards, and what they are worth on the last."""
    first_flop = board_number(cards.choose, cards.flop_numbers, flop) * cards.n_pairs[FLOP]
    first_turn = board_number(cards.choose, cards.turn_numbers, turn) * cards.n_pairs[TURN]
    first_river = board_number(cards.choose, cards.river_numbers, river) * cards.n_pairs[RIVER]
    for seat in range(len(dealt.holes)):
        hole = dealt.holes[seat]
        dealt.buckets[seat, PREFLOP] = read_bucket(cards.preflop, cards.width, class_number(hole))
        dealt.buckets[seat, FLOP] = read_bucket(cards.flop, cards.width, first_flop + number_beside(hole, flop))
        dealt.buckets[seat, TURN] = read_bucket(cards.turn, cards.width, first_turn + number_beside(hole, turn))
        dealt.buckets[seat, RIVER] = read_bucket(cards.river, cards.width, first_river + number_beside(hole, river))
        dealt.worth[seat] = strength(river | hole)


@helper
def read_bucket(table, width, hand):
    """The bucket of a hand; of one or two bytes."""
    if width == 1:
        return np.int64(table[hand])
    return np.int64(table[2 * hand]) | np.int64(table[2 * hand + 1]) << 8
