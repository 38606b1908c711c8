"""How fast hold'em's kernels are by themselves, on one core: ranking seven cards, ranking boards, walking a tree."""

import time
from collections.abc import Callable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from asyncplay import games
from asyncplay.config.tables import AbstractionSettings
from asyncplay.games.cards import CARDS, DECK
from asyncplay.games.holdem.canonical import index_boards
from asyncplay.games.holdem.layout import RIVER
from asyncplay.games.holdem.strength import rank_hands
from asyncplay.games.kernels import ready
from asyncplay.solve.abstraction.betting_tree import measure_tree
from asyncplay.solve.abstraction.equity import FULL_PAIRS, new_ranking, rank_pairs
from asyncplay.solve.abstraction.menus import menu_table

N_HANDS, N_BOARDS, WINDOWS = 1_000_000, 2_000, 5


class HandsSpeed(TypedDict):
    """One line of the table."""

    hands_per_s: float
    boards_per_s: float
    decisions_per_s: float


def measure() -> HandsSpeed:
    """Random hands in random order; boards with all 1,081 pairs beside them; decisions of the default betting tree.

    The best of several windows counts: what slows a window down are other processes.
    """
    hands, worth = random_hands(N_HANDS, 7), np.empty(N_HANDS, np.int64)
    boards, halves, ranking = index_boards(DECK, RIVER).boards, np.zeros(FULL_PAIRS, np.int16), new_ranking()
    spec, menus = games.load("holdem"), menu_table(AbstractionSettings())
    rank, rank_board = ready(rank_hands), ready(rank_pairs)

    def rank_boards() -> None:
        for board in boards[:: len(boards) // N_BOARDS][:N_BOARDS].tolist():
            rank_board(DECK, board, *ranking, halves)

    sizes = measure_tree(spec, menus, [1] * 4)
    assert sizes is not None, "nothing limits the count"
    return {
        "hands_per_s": N_HANDS / best_s(lambda: rank(hands, worth)),
        "boards_per_s": N_BOARDS / best_s(rank_boards),
        "decisions_per_s": sizes.n_decisions / best_s(lambda: measure_tree(spec, menus, [1] * 4)),
    }


def random_hands(count: int, size: int) -> NDArray[np.int64]:
    """Sets of so many cards."""
    order = np.argsort(np.random.default_rng(0).random((count, CARDS), np.float32), axis=1)[:, :size]
    hands: NDArray[np.int64] = (np.int64(1) << order.astype(np.int64)).sum(axis=1)
    return hands


def best_s(work: Callable[[], object]) -> float:
    """Seconds of the fastest of several times."""
    times = []
    for _ in range(WINDOWS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)
