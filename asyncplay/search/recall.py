"""Answers the network gave before, for positions that look the same again.

Positions are told apart by 128 bits over what the network is shown and what is legal, so games and worlds share
what they learn. Only answers of the latest weights count. A position is kept at one of four neighbouring places;
where all four hold answers of the latest weights, the bits of the newcomer's key say which one gives way.

A block of rows is split by ``look_up`` into those that must be asked and those that need not: seen before, or equal
to another row of the same block. ``complete`` puts the answers to the former and the memory of the latter together.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int32, int64, types, uint8, uint64
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.kernels import Kernel, helper, kernel, ready
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array, Floats, Ints, Positions, offsets_of

NEIGHBOURS = 4
KNOWN = -1  # as the source of a row: its answer was remembered
NOTHING = -1  # as the version of a place

_BYTES = uint8[:, ::1]
_KEYS = uint64[:, ::1]
_INTS = types.Array(int32, 1, "C")
_ANSWERS = types.Array(float32, 1, "C", readonly=True)
_ANSWER_ROWS = types.Array(float32, 2, "C", readonly=True)


@helper
def hash_row(row, legal, key):
    """Write 128 bits over a row's bytes and its legal actions into ``key`` uint64[2]."""
    first, second = np.uint64(len(row)), np.uint64(len(legal))
    word, filled = np.uint64(0), 0
    for byte in row:
        word = (word << np.uint64(8)) | np.uint64(byte)
        filled += 1
        if filled == 8:
            first, second = rng.mix(first ^ word), rng.mix(second + word)
            word, filled = np.uint64(0), 0
    first, second = rng.mix(first ^ word), rng.mix(second + word)
    for action in legal:
        word = np.uint64(action) + rng.GOLDEN
        first, second = rng.mix(first ^ word), rng.mix(second + word)
    key[0], key[1] = first, second


@helper
def place_of(key, keys, versions, version):
    """Return where ``key`` is kept for ``version``, or -1."""
    start = np.int64(key[0] % np.uint64(len(keys) // NEIGHBOURS)) * NEIGHBOURS
    for place in range(start, start + NEIGHBOURS):
        if versions[place] == version and keys[place, 0] == key[0] and keys[place, 1] == key[1]:
            return place
    return -1


@helper
def room_for(key, keys, versions, version):
    """Return where ``key`` shall be kept: where nothing of ``version`` is, else by its own bits."""
    start = np.int64(key[0] % np.uint64(len(keys) // NEIGHBOURS)) * NEIGHBOURS
    for place in range(start, start + NEIGHBOURS):
        if versions[place] != version:
            return place
    return start + np.int64(key[1] % np.uint64(NEIGHBOURS))


@kernel(int64(_BYTES, _INTS, _INTS, int64, _KEYS, int64[::1], _KEYS, _INTS, _INTS))
def find(rows, legal, offsets, version, keys, versions, row_keys, sources, asked):  # noqa: PLR0917
    """Write for each row its place in ``asked``, or KNOWN; return how many rows must be asked."""
    n_asked = 0
    for row in range(len(rows)):
        key = row_keys[row]
        hash_row(rows[row], legal[offsets[row] : offsets[row + 1]], key)
        sources[row] = KNOWN
        if place_of(key, keys, versions, version) >= 0:
            continue
        for earlier in range(n_asked):
            other = row_keys[asked[earlier]]
            if other[0] == key[0] and other[1] == key[1]:
                sources[row] = earlier
                break
        if sources[row] == KNOWN:
            sources[row] = n_asked
            asked[n_asked] = row
            n_asked += 1
    return n_asked


@kernel(
    types.void(
        _INTS, _INTS, int64, _KEYS, int64[::1], float32[:, ::1], float32[:, ::1], _KEYS, float32[::1], float32[:, ::1]
    )
)
def recall(offsets, sources, version, keys, versions, kept_priors, kept_values, row_keys, priors, values):  # noqa: PLR0917
    """Fill in the rows whose answers are remembered."""
    for row in range(len(sources)):
        if sources[row] == KNOWN:
            place = place_of(row_keys[row], keys, versions, version)
            for action in range(offsets[row + 1] - offsets[row]):
                priors[offsets[row] + action] = kept_priors[place, action]
            for seat in range(values.shape[1]):
                values[row, seat] = kept_values[place, seat]


@kernel(types.void(_INTS, _INTS, _INTS, _ANSWERS, _ANSWER_ROWS, float32[::1], float32[:, ::1]))
def fill_in(offsets, sources, asked_offsets, answers, answer_values, priors, values):  # noqa: PLR0917
    """Fill in the rows that were asked, and those equal to one of them."""
    for row in range(len(sources)):
        source = sources[row]
        if source != KNOWN:
            for action in range(offsets[row + 1] - offsets[row]):
                priors[offsets[row] + action] = answers[asked_offsets[source] + action]
            for seat in range(values.shape[1]):
                values[row, seat] = answer_values[source, seat]


@kernel(
    types.void(
        _INTS, _INTS, int64, _KEYS, int64[::1], float32[:, ::1], float32[:, ::1], _KEYS, float32[::1], float32[:, ::1]
    )
)
def keep(offsets, asked, version, keys, versions, kept_priors, kept_values, row_keys, priors, values):  # noqa: PLR0917
    """Remember the answers to the rows that were asked."""
    for row in asked:
        place = room_for(row_keys[row], keys, versions, version)
        keys[place, 0], keys[place, 1] = row_keys[row, 0], row_keys[row, 1]
        versions[place] = version
        for action in range(offsets[row + 1] - offsets[row]):
            kept_priors[place, action] = priors[offsets[row] + action]
        for seat in range(values.shape[1]):
            kept_values[place, seat] = values[row, seat]


KERNELS: tuple[Kernel, ...] = (find, recall, fill_in, keep)


class Split(NamedTuple):
    """A block of rows of which only a part must be asked."""

    ask: Positions  # the rows to ask, in order
    n_spared: int  # rows that need no asking
    offsets: Ints  # int32[n + 1] of the whole block
    sources: Ints  # int32[n]
    asked: Ints  # int32[rows to ask], which rows they are
    keys: NDArray[np.uint64]  # uint64[n, 2]
    priors: Floats  # float32[L], filled in where remembered
    values: Floats  # float32[n, P], likewise


class Recall:
    """What one worker remembers of the network's answers.

    Lifetime: as long as its worker. Order: each ``look_up`` is completed once, others may come in between. Limit:
    the places it was made with. End: nothing to close.
    """

    def __init__(self, spec: GameSpec, positions: int) -> None:
        places = -(-positions // NEIGHBOURS) * NEIGHBOURS
        self._players = spec.players
        self._keys = np.zeros((places, 2), np.uint64)
        self._versions = np.full(places, NOTHING, np.int64)
        self._priors = np.zeros((places, spec.max_legal), np.float32)
        self._values = np.zeros((places, spec.players), np.float32)
        self.version = NOTHING  # of the latest answer
        for dispatcher in KERNELS:
            ready(dispatcher)

    def forget(self) -> None:
        """Remember nothing, like one that was never asked; only while no ``look_up`` waits to be completed."""
        self._versions.fill(NOTHING)
        self.version = NOTHING

    def look_up(self, features: Array, legal: Ints, offsets: Ints) -> Split:
        """Say what must be asked of these rows; nothing of them is needed afterwards."""
        n_rows = len(features)
        keys, sources = np.empty((n_rows, 2), np.uint64), np.empty(n_rows, np.int32)
        asked = np.empty(n_rows, np.int32)
        shown = features.view(np.uint8).reshape(n_rows, -1)
        n_asked = find(shown, legal, offsets, self.version, self._keys, self._versions, keys, sources, asked)
        asked = asked[:n_asked].copy()
        priors, values = np.empty(len(legal), np.float32), np.empty((n_rows, self._players), np.float32)
        whole = offsets.copy()
        recall(whole, sources, self.version, *self._kept(), keys, priors, values)
        ask = pick(Positions(features, legal, offsets), asked)
        return Split(ask, n_rows - n_asked, whole, sources, asked, keys, priors, values)

    def complete(self, split: Split, priors: Floats, values: Floats, version: int) -> tuple[Floats, Floats]:
        """Return priors and values of the whole block, given the answers to ``split.ask``."""
        if len(split.asked):
            self.version = max(self.version, version)
            asked_offsets = split.ask.offsets
            fill_in(split.offsets, split.sources, asked_offsets, priors, values, split.priors, split.values)
            keep(split.offsets, split.asked, version, *self._kept(), split.keys, split.priors, split.values)
        return split.priors, split.values

    def _kept(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], Floats, Floats]:
        return self._keys, self._versions, self._priors, self._values


def pick(positions: Positions, rows: Ints) -> Positions:
    """Copies of these rows, in this order."""
    starts = positions.offsets[rows]
    counts = positions.offsets[rows + 1] - starts
    offsets = offsets_of(counts)
    entries = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1], dtype=np.int32)
    return Positions(positions.features[rows], positions.legal[entries], offsets)
