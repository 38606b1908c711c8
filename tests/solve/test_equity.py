"""Equities beside boards, their histograms, and k-means by earth mover's distance."""

from itertools import combinations

import numpy as np
import pytest

from asyncplay import rng
from asyncplay.games.cards import CARDS, DECK, card_set
from asyncplay.games.holdem.canonical import index_boards
from asyncplay.games.holdem.layout import FLOP, RIVER, TURN, deck_of
from asyncplay.games.holdem.strength import rank_hands
from asyncplay.games.kernels import ready
from asyncplay.solve.abstraction.clusters import assign, cluster, cumulative
from asyncplay.solve.abstraction.equity import (
    BINS,
    CDF_TOTAL,
    FULL_PAIRS,
    NOT_IN_PLAY,
    count_alike,
    most_halves,
    new_ranking,
    rank_pairs,
    spread,
)

NINES = deck_of(24)


def free_cards(deck: int, board: int) -> list[int]:
    return [card for card in range(CARDS) if (deck & ~board) >> card & 1]


def place_of(pair: tuple[int, int], board: int) -> int:
    """The number of a pair among those of all cards that are not on the board."""
    low, high = (card - (board & ((1 << card) - 1)).bit_count() for card in sorted(pair))
    return high * (high - 1) // 2 + low


def halves_of(deck: int, board: int) -> dict[tuple[int, int], int]:
    """Every pair against every other that shares no card with it: 2 for a win, 1 for a tie."""
    pairs = list(combinations(free_cards(deck, board), 2))
    hands = np.array([board | 1 << a | 1 << b for a, b in pairs], np.int64)
    ready(rank_hands)(hands, worth := np.empty(len(hands), np.int64))
    found = {}
    for pair, own in zip(pairs, worth, strict=True):
        others = [other for other, rival in zip(worth, pairs, strict=True) if not set(rival) & set(pair)]
        found[pair] = sum(2 * int(own > other) + int(own == other) for other in others)
    return found


@pytest.mark.parametrize("cards", ["9sTsJsQd9h", "AsAhAdAcKs", "9sTdJcQhKs"])
def test_what_a_pair_wins_is_read_off_the_order(cards):
    board = card_set(cards)
    ready(rank_pairs)(NINES, board, *new_ranking(), halves := np.zeros(FULL_PAIRS, np.int16))
    wanted = halves_of(NINES, board)
    assert {pair: int(halves[place_of(pair, board)]) for pair in wanted} == wanted
    assert (halves != NOT_IN_PLAY).sum() == len(wanted)
    assert halves.max() <= most_halves(NINES)


@pytest.mark.parametrize("cards", ["2c7dThJsAs", "2c2d2hJsAs"])
def test_all_pairs_together_win_half_of_the_full_deck(cards):
    ready(rank_pairs)(DECK, card_set(cards), *new_ranking(), halves := np.zeros(FULL_PAIRS, np.int16))
    assert halves.sum(dtype=np.int64) == FULL_PAIRS * 990


@pytest.mark.parametrize("cards", ["9sTsQd", "JsJhQd", "9sTsQdJh"])
def test_a_histogram_is_the_sum_over_the_boards_that_may_follow(cards):
    """Against full boards ranked one by one, without canonical forms."""
    board, most, river = card_set(cards), most_halves(NINES), index_boards(NINES, RIVER)
    halves = np.zeros((len(river.boards), FULL_PAIRS), np.int16)
    for full, row in zip(river.boards.tolist(), halves, strict=True):
        ready(rank_pairs)(NINES, full, *new_ranking(), row)
    free = CARDS - board.bit_count()
    histograms = np.zeros((free * (free - 1) // 2, BINS), np.int32)
    totals, maps = np.zeros(len(histograms), np.int64), np.zeros((2, CARDS), np.int64)
    ready(spread)(NINES, board, most, river.choose, river.numbers, halves, maps, histograms, totals)
    wanted = np.zeros_like(histograms)
    for more in combinations(free_cards(NINES, board), 5 - board.bit_count()):
        full = board | sum(1 << card for card in more)
        rank_pairs(NINES, full, *new_ranking(), row := np.zeros(FULL_PAIRS, np.int16))
        for pair in combinations(free_cards(NINES, full), 2):
            wanted[place_of(pair, board), int(row[place_of(pair, full)]) * BINS // (most + 1)] += 1
    np.testing.assert_array_equal(histograms, wanted)


@pytest.mark.parametrize(("street", "n_boards"), [(FLOP, 22_100), (TURN, 270_725), (RIVER, 2_598_960)])
def test_canonical_boards_stand_for_all_boards(street, n_boards):
    boards = index_boards(DECK, street).boards
    ready(count_alike)(boards, weights := np.zeros(len(boards), np.int64))
    assert weights.sum() == n_boards


def test_the_distance_of_two_hands_is_the_least_work_to_move_the_earth():
    """All of it from bin 0 to bin k is k bins far; half of it half as far."""
    histograms = np.zeros((3, BINS), np.int64)
    histograms[0, 0], histograms[1, 7], histograms[2, [0, 7]] = 2, 2, 1
    points = cumulative(histograms)
    for other, bins in ((1, 7.0), (2, 3.5)):
        nearest, distances = np.zeros(1, np.int32), np.zeros(1, np.int64)
        ready(assign)(points[:1], points[other : other + 1].copy(), nearest, distances)
        assert distances[0] == bins * CDF_TOTAL


def blobs(count: int) -> np.ndarray:
    """Cumulative histograms around three equities."""
    random, histograms = np.random.default_rng(0), np.zeros((count, BINS), np.int64)
    for k in range(count):
        np.add.at(histograms[k], random.integers(0, 5, 40) + (4, 20, 40)[k % 3], 1)
    return cumulative(histograms)


def test_clusters_that_lie_apart_are_found_and_come_weakest_first():
    points = blobs(300)
    centers = cluster(points, np.ones(300, np.int64), 3, rng.stream(1))
    ready(assign)(points, centers, nearest := np.zeros(300, np.int32), np.zeros(300, np.int64))
    assert nearest.tolist() == [k % 3 for k in range(300)]


def test_the_same_seed_gives_the_same_centers():
    points, weights = blobs(300), np.arange(1, 301)
    one, same, other = (cluster(points, weights, 20, rng.stream(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_fewer_different_hands_than_clusters_are_their_own_centers():
    points = np.repeat(blobs(6), 5, axis=0)
    centers = cluster(points, np.ones(len(points), np.int64), 10, rng.stream(1))
    assert {row.tobytes() for row in centers} == {row.tobytes() for row in points}


def test_a_heavier_hand_draws_its_center():
    points = np.zeros((3, 1), np.int32)
    points[:, 0] = [0, 100, 4000]
    centers = cluster(points, np.array([99, 1, 1]), 2, rng.stream(0))
    assert sorted(centers[:, 0].tolist()) == [1, 4000]
