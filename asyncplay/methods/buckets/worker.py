"""What a worker does with boards: rank the pairs beside them, spread them over what may follow, find their buckets."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.cards import CARDS
from asyncplay.games.holdem.canonical import BOARD_SIZES, CLASSES, index_boards, number_boards
from asyncplay.games.holdem.layout import FLOP, RIVER
from asyncplay.games.kernels import ready
from asyncplay.methods.buckets.messages import BoardsResult, BoardsSpec
from asyncplay.solve.abstraction import clusters
from asyncplay.solve.abstraction.bucket_file import class_of
from asyncplay.solve.abstraction.clusters import assign, cumulative
from asyncplay.solve.abstraction.equity import (
    BINS,
    FULL_PAIRS,
    count_alike,
    most_halves,
    new_ranking,
    rank_pairs,
    spread,
)
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Job, Message
from asyncplay.worker.core import Step

EQUITY_UNITS = 4095  # an equity of 1 in statistics, which are whole numbers
STATS, CLASS_STATS = 3, BINS + 2
"""Sums of a bucket: weight, weight * equity, weight * equity^2. Of a class: histogram, weight, weight * equity."""

KERNELS = (rank_pairs, spread, count_alike, number_boards, class_of, *clusters.KERNELS)


class _Unit(NamedTuple):
    job: int
    unit: int
    seed: int
    spec: BoardsSpec
    boards: slice


class Views(NamedTuple):
    """The pairs beside a board that are in play."""

    places: NDArray[np.int64]  # [n], ascending
    histograms: NDArray[np.int32]  # [n, BINS]
    equities: NDArray[np.int64]  # [n], of EQUITY_UNITS
    n_pairs: int


class BoardsPlayer:
    """Works through boards, unit by unit, in the order they come."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._todo: deque[_Unit] = deque()
        self._table: SpreadTable | None = None

    def take(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, BoardsSpec), "boards need their own spec"
        ends = [0, *spec.ends.tolist()]
        for k in range(job.count):
            boards = slice(ends[k], ends[k + 1])
            self._todo.append(_Unit(job.number, job.first + k, job.seed, spec, boards))

    def receive(self, message: Message) -> None:
        raise AssertionError(f"boards ask nothing, but were sent a {type(message).__name__}")

    def advance(self, now_s: float) -> Step:
        messages: list[Message] = [self._work(self._todo.popleft())] if self._todo else []
        return Step(messages, 0 if self._todo else None)

    def _work(self, unit: _Unit) -> BoardsResult:
        spec = unit.spec
        boards, weights = spec.boards[unit.boards].tolist(), spec.weights[unit.boards].tolist()
        if spec.task == "rank":
            return BoardsResult(unit.job, unit.unit, rank_boards(spec.deck, boards).tobytes(), np.zeros(0, np.int64))
        self._table = self._table or SpreadTable(spec.deck, spec.halves)
        if spec.task == "sample":
            points = [sample_board(self._table.views(board), spec.sample, unit.seed, board) for board in boards]
            data = np.concatenate(points).astype(np.int16).tobytes()
            return BoardsResult(unit.job, unit.unit, data, np.zeros(0, np.int64))
        buckets, totals = assign_boards(self._table, boards, weights, spec)
        return BoardsResult(unit.job, unit.unit, buckets.tobytes(), totals)


class SpreadTable:
    """The half wins on all canonical full boards, shared by all workers of a machine, and how to find them."""

    def __init__(self, deck: int, path: str) -> None:
        self.deck, self._most = deck, most_halves(deck)
        self._index = index_boards(deck, RIVER)
        self._halves = np.memmap(path, np.int16, "c", shape=(len(self._index.boards), FULL_PAIRS))
        self._maps = np.zeros((2, CARDS), np.int64)

    def views(self, board: int) -> Views:
        """The pairs beside a flop or a turn, spread over the boards that may follow."""
        free = CARDS - board.bit_count()
        n_pairs = free * (free - 1) // 2
        histograms, totals = np.zeros((n_pairs, BINS), np.int32), np.zeros(n_pairs, np.int64)
        index = self._index
        ready(spread)(
            self.deck, board, self._most, index.choose, index.numbers, self._halves, self._maps, histograms, totals
        )
        counts = histograms.sum(axis=1)
        places = np.flatnonzero(counts)
        equities = totals[places] * EQUITY_UNITS // (counts[places] * self._most)
        return Views(places, np.ascontiguousarray(histograms[places]), equities, n_pairs)


def rank_boards(deck: int, boards: list[int]) -> NDArray[np.int16]:
    """Half wins of all pairs beside full boards, int16[boards, FULL_PAIRS]."""
    halves, ranking = np.zeros((len(boards), FULL_PAIRS), np.int16), new_ranking()
    for board, row in zip(boards, halves, strict=True):
        ready(rank_pairs)(deck, board, *ranking, row)
    return halves


def sample_board(views: Views, count: int, seed: int, board: int) -> NDArray[np.int32]:
    """Cumulative histograms of about so many pairs: every k-th from a place that the seed draws for this board."""
    step = max(len(views.places) // count, 1)
    first = rng.below(rng.stream(seed, board), step)
    return cumulative(views.histograms[first::step])


def assign_boards(
    table: SpreadTable, boards: list[int], weights: list[int], spec: BoardsSpec
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The bucket of every pair beside some boards of one street, 0 for those not in play, and all sums."""
    is_flop = boards[0].bit_count() == BOARD_SIZES[FLOP]
    centers = (spec.flop_centers if is_flop else spec.turn_centers).reshape(-1, BINS).copy()
    stats, classes = np.zeros((len(centers), STATS), np.int64), np.zeros((CLASSES, CLASS_STATS), np.int64)
    found = []
    for board, weight in zip(boards, weights, strict=True):
        views = table.views(board)
        nearest, distances = np.zeros(len(views.places), np.int32), np.zeros(len(views.places), np.int64)
        ready(assign)(cumulative(views.histograms), centers, nearest, distances)
        row = np.zeros(views.n_pairs, np.uint16)
        row[views.places] = nearest
        found.append(row)
        powers = weight * np.stack([np.ones_like(views.equities), views.equities, views.equities**2], axis=1)
        np.add.at(stats, nearest, powers)
        if is_flop:
            own = _classes_beside(board)[views.places]
            sums = np.concatenate([weight * views.histograms.astype(np.int64), powers[:, :2]], axis=1)
            np.add.at(classes, own, sums)
    return np.concatenate(found), np.concatenate([stats.ravel(), classes.ravel() if is_flop else classes[:0].ravel()])


def _classes_beside(board: int) -> NDArray[np.int64]:
    """The class of each pair beside a board, by place."""
    free = [card for card in range(CARDS) if not board >> card & 1]
    pairs = [1 << high | 1 << low for k, high in enumerate(free) for low in free[:k]]
    return np.array([ready(class_of)(pair) for pair in pairs], np.int64)
