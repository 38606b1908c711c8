"""What seven cards are worth, and hands and boards but for the names of their suits."""

from itertools import permutations
from math import comb

import numpy as np
import pytest
from numba import int32, int64, void
from phevaluator import _pheval

from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import CARDS, DECK, RANKS, SUIT_CARDS, card_names, card_set, parse_cards
from asyncplay.games.holdem.canonical import BoardIndex, canonical, class_number, hand_number, index_boards
from asyncplay.games.holdem.layout import FLOP, RIVER, TURN, deck_of
from asyncplay.games.holdem.strength import CATEGORY_SHIFT, rank_hands, strength
from asyncplay.games.kernels import kernel, ready

CATEGORY_COUNTS = [
    23_294_460,  # high card
    58_627_800,  # one pair
    31_433_400,  # two pair
    6_461_620,  # three of a kind
    6_180_020,  # straight
    4_047_644,  # flush
    3_473_184,  # full house
    224_848,  # four of a kind
    41_584,  # straight flush
]
"""Of all seven-card hands, as every table of poker probabilities has them."""


def random_sets(count: int, size: int, seed: int = 0, deck: int = DECK) -> np.ndarray:
    """Sets of so many cards of a deck."""
    cards = np.array([card for card in range(CARDS) if deck >> card & 1])
    order = np.argsort(np.random.default_rng(seed).random((count, len(cards))), axis=1)[:, :size]
    return (np.int64(1) << cards[order]).sum(axis=1)


def worths(*hands: str | int) -> list[int]:
    sets = np.array([card_set(hand) if isinstance(hand, str) else hand for hand in hands], np.int64)
    rank_hands(sets, found := np.empty(len(sets), np.int64))
    return found.tolist()


def test_the_order_of_100000_random_pairs_is_phevaluators():
    """Two hands with the same board, so that some are equal."""
    dealt = np.argsort(np.random.default_rng(0).random((100_000, CARDS), np.float32), axis=1)[:, :9]
    worth, place = np.empty((2, len(dealt)), np.int64), []
    for k, own in enumerate(([0, 1], [2, 3])):
        cards = dealt[:, [*own, *range(4, 9)]]
        rank_hands((np.int64(1) << cards).sum(axis=1), worth[k])
        theirs = (4 * (cards % RANKS) + cards // RANKS).tolist()  # it numbers cards by rank, then suit
        place.append([_pheval.evaluate_7cards(*hand) for hand in theirs])  # smaller is stronger
    order = np.sign(worth[0] - worth[1])
    np.testing.assert_array_equal(order, np.sign(np.subtract(place[1], place[0])))
    assert (order == 0).sum() > 1000


def _phevaluated(hand: int) -> int:
    return _pheval.evaluate_7cards(*(4 * (card % RANKS) + card // RANKS for card in range(CARDS) if hand >> card & 1))


def test_numbers_and_classes_are_one_to_one_with_phevaluators():
    """Every one of its classes that occurs has one number of ours."""
    hands = random_sets(50_000, 7, seed=1)
    pairs = set(zip(worths(*hands.tolist()), map(_phevaluated, hands.tolist()), strict=True))
    assert len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs}) > 3000


@pytest.mark.exhaustive
def test_all_133784560_hands_fall_into_the_known_categories():
    counts = np.zeros(9, np.int64)
    ready(count_categories)(counts)
    assert counts.tolist() == CATEGORY_COUNTS
    assert counts.sum() == comb(52, 7)


@kernel(void(int64[::1]))
def count_categories(counts):
    """Count the categories of all sets of seven cards."""
    one = np.int64(1)
    for a in range(6, CARDS):
        for b in range(5, a):
            for c in range(4, b):
                for d in range(3, c):
                    four = one << a | one << b | one << c | one << d
                    for e in range(2, d):
                        for f in range(1, e):
                            six = four | one << e | one << f
                            for g in range(f):
                                counts[strength(six | one << g) >> CATEGORY_SHIFT] += 1


def test_the_wheel_is_the_lowest_straight_and_an_ace_below_nines_is_none():
    wheel, six_high, trips, ace_to_nine = worths("As2d3c4h5s9dTc", "2d3c4h5s6sTcKd", "AsAhAd9c8d5s3h", "As9d8c7h6s5d3c")
    assert trips < wheel < six_high < ace_to_nine  # the last is a straight from five to nine
    short, pair = worths("As9d8c7h6sQdJc", "AsAd9c8h7sJdQc")
    assert short < pair


@pytest.mark.parametrize(("street", "n_boards", "n_hands"), [(FLOP, 1_755, 1_286_792), (TURN, 16_432, 13_960_050)])
def test_there_are_as_many_boards_and_hands_but_for_suits_as_is_known(street, n_boards, n_hands):
    index = index_boards(DECK, street)
    assert len(index.boards) == n_boards
    assert count_hands(DECK, index.boards) == n_hands


def test_there_are_134459_boards_of_five():
    assert len(index_boards(DECK, RIVER).boards) == 134_459


@pytest.mark.exhaustive
def test_there_are_123156254_hands_on_the_river():
    assert count_hands(DECK, index_boards(DECK, RIVER).boards) == 123_156_254


@kernel(int64(int64, int64[::1]))
def count_hands(deck, boards):
    """How many pairs beside canonical boards are canonical."""
    count = 0
    for k in range(len(boards)):
        for high in range(CARDS):
            for low in range(high):
                hole = np.int64(1) << high | np.int64(1) << low
                if hole & (boards[k] | ~deck) == 0:
                    found = canonical(hole, boards[k])
                    count += found[0] == hole and found[1] == boards[k]
    return count


@pytest.mark.parametrize(("cards", "ranks"), [(24, 6), (36, 9)])
def test_hands_of_a_reduced_deck_are_counted_by_their_orbits(cards, ranks):
    """Burnside: the mean over all renamings of suits of the hands that they leave as they are."""
    deck = deck_of(cards)
    total = sum(_unchanged(deck, suits) for suits in permutations(range(4)))
    assert count_hands(deck, index_boards(deck, FLOP).boards) == total // 24
    assert len(index_boards(deck, FLOP).boards) == total_boards(ranks)


def _unchanged(deck: int, suits: tuple[int, ...]) -> int:
    """Pairs and flops beside them that a renaming of suits does not change: both are made of whole cycles of cards."""
    cycles = [sorted(cycle) for cycle in {frozenset(_cycle(suit, suits)) for suit in range(4)}]
    sizes = [len(cycle) for cycle in cycles for _ in range((deck & SUIT_CARDS).bit_count())]
    ways = {(0, 0): 1}
    for size in sizes:  # each cycle of cards is in the deck, in the hole or on the board
        more: dict[tuple[int, int], int] = {}
        for (hole, board), count in ways.items():
            for new in ((hole, board), (hole + size, board), (hole, board + size)):
                if new[0] <= 2 and new[1] <= 3:
                    more[new] = more.get(new, 0) + count
        ways = more
    return ways.get((2, 3), 0)


def _cycle(suit: int, suits: tuple[int, ...]) -> list[int]:
    found = [suit]
    while suits[found[-1]] != suit:
        found.append(suits[found[-1]])
    return found


def total_boards(ranks: int) -> int:
    """Flops but for suits: one suit; two suits, two cards and one; three suits."""
    return comb(ranks, 3) + comb(ranks, 2) * ranks + comb(ranks + 2, 3)


@kernel(void(int64[::1], int64[::1]))
def number_classes(holes, found):
    """The class of each pair."""
    for k in range(len(holes)):
        found[k] = class_number(holes[k])


def test_two_cards_are_of_169_classes():
    holes = np.array([1 << a | 1 << b for a in range(CARDS) for b in range(a)], np.int64)
    number_classes(holes, found := np.empty(len(holes), np.int64))
    classes, counts = np.unique(found, return_counts=True)
    assert classes.tolist() == list(range(169))
    assert np.unique(counts, return_counts=True)[1].tolist() == [78, 13, 78]  # 4 suited, 6 paired, 12 others


@kernel(void(int32[:, ::1], int32[::1], int64, int64[:, ::1], int64[::1]))
def number_hands(choose, numbers, n_pairs, hands, found):
    """The number of each row of hole cards and board."""
    for k in range(len(hands)):
        found[k] = hand_number(choose, numbers, n_pairs, hands[k, 0], hands[k, 1])


def numbered(index: BoardIndex, hands: np.ndarray) -> np.ndarray:
    number_hands(index.choose, index.numbers, index.n_pairs, hands, found := np.empty(len(hands), np.int64))
    return found


def random_views(count: int, board_cards: int) -> np.ndarray:
    """int64[count, 2]: hole cards and board."""
    holes, more = random_sets(count, 2), random_sets(count, board_cards + 2, seed=1)
    boards = more & ~holes
    for k in range(count):
        while boards[k].item().bit_count() > board_cards:
            boards[k] &= boards[k] - 1
    return np.stack([holes, boards], axis=1)


def renamed(hands: np.ndarray, suits: tuple[int, ...]) -> np.ndarray:
    parts = [((hands >> (RANKS * suit)) & SUIT_CARDS) << (RANKS * to) for suit, to in enumerate(suits)]
    return np.bitwise_or.reduce(parts)


@pytest.mark.parametrize(("street", "board_cards"), [(FLOP, 3), (TURN, 4), (RIVER, 5)])
def test_renaming_suits_changes_no_number(street, board_cards):
    index, hands = index_boards(DECK, street), random_views(2000, board_cards)
    found = numbered(index, hands)
    assert 0 <= found.min() <= found.max() < index.n_hands
    for suits in permutations(range(4)):
        np.testing.assert_array_equal(numbered(index, renamed(hands, suits)), found)


def test_different_hands_have_different_numbers():
    """All canonical hands of a street: as many numbers as there are hands."""
    index = index_boards(DECK, FLOP)
    pairs = np.array([1 << a | 1 << b for a in range(CARDS) for b in range(a)], np.int64)
    hands = [np.stack([free, np.full(len(free), board)], axis=1) for board in index.boards[::97]
             for free in [pairs[pairs & board == 0]]]  # fmt: skip
    found = np.concatenate([numbered(index, np.ascontiguousarray(one)) for one in hands])
    assert len(np.unique(found)) == count_hands(DECK, index.boards[::97].copy())


def test_cards_are_read_as_people_write_them():
    assert card_names(card_set("2c As Td")) == "AsTd2c"
    assert parse_cards("askd") == [12, 50]
    for text, flaw in (("Ax", "'Ax' of 'Ax' is no card"), ("AsA", "'A' of 'AsA'"), ("AsAs", "As comes twice")):
        with pytest.raises(AsyncplayError, match=flaw):
            parse_cards(text)
