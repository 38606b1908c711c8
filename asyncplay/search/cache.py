"""The evaluation cache: the network's answers of a worker, by position.

The key of a position is a hash of 128 bits over its features and legal actions, so games and worlds share answers.
Only answers of the latest weights count. A position is stored at one of four neighbouring places; where all four hold
answers of the latest weights, the bits of the new key choose which one it replaces.

``look_up`` splits a block of rows into misses, which must be asked, and hits, which need not: stored before, or equal
to another row of the same block. ``complete`` joins the answers to the misses and the stored answers.

The priors lie in a pool. Where it has room for the most legal actions at every place, each place owns a stretch of it.
Where it has not, a place gets a stretch when its first answer comes, as long as the position has legal actions: an
answer without room is not stored, and counted. With new weights the pool is empty again.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int32, int64, typeof, types, uint8

from asyncplay import rng
from asyncplay.games.kernels import Kernel, helper, kernel, ready
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array, Floats, Ints, Positions, offsets_of

NEIGHBOURS = 4
KNOWN = -1  # as the source of a row: its answer was stored
NOTHING = -1  # as the version of a place, or in a spot
GIVEN, REFUSED = 0, 1  # the counts of a pool
MOST_BYTES = 1 << 62
PLACE_BYTES = 16 + 8 + 8 + 4  # key, version and stretch of a place; its values come on top


class CachedAnswers(NamedTuple):
    """The stored answers, at M places."""

    keys: Array  # uint64[M, 2]
    versions: Array  # int64[M], of the weights that answered, or NOTHING
    starts: Array  # int64[M], where a place's stretch of the pool begins,
    rooms: Array  # int32[M], and how long it is
    pool: Array  # float32[entries], priors
    values: Array  # float32[M, P]
    counts: Array  # int64[2], entries of the pool that are given out, and answers that it had no room for


class Block(NamedTuple):
    """n rows with L legal actions, and what is known of them."""

    offsets: Array  # int32[n + 1] into ``priors``
    keys: Array  # uint64[n, 2]
    asked: Array  # int32[n], the rows to ask come first
    spots: Array  # int32[a power of two above 2 n], places in ``asked`` by key, or NOTHING
    sources: Array  # int32[n], of each row its place in ``asked``, or KNOWN
    priors: Array  # float32[L], filled in for hits
    values: Array  # float32[n, P], likewise


_INTS, _KEYS, _FLOATS = np.zeros(1, np.int32), np.zeros((1, 2), np.uint64), np.zeros((1, 1), np.float32)
_LONGS = np.zeros(1, np.int64)
KEPT = typeof(CachedAnswers(_KEYS, _LONGS, _LONGS, _INTS, _FLOATS[0], _FLOATS, _LONGS))
BLOCK = typeof(Block(_INTS, _KEYS, _INTS, _INTS, _INTS, _FLOATS[0], _FLOATS))
ANSWERS, ANSWER_ROWS = (types.Array(float32, n, "C", readonly=True) for n in (1, 2))


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
def place_of(kept, key, version):
    """Return where ``key`` is kept for ``version``, or -1."""
    start = np.int64(key[0] % np.uint64(len(kept.keys) // NEIGHBOURS)) * NEIGHBOURS
    for place in range(start, start + NEIGHBOURS):
        if kept.versions[place] == version and kept.keys[place, 0] == key[0] and kept.keys[place, 1] == key[1]:
            return place
    return -1


@helper
def spot_for(block, key):
    """Return where ``key`` is among the block's spots, or the empty one where it belongs."""
    last = np.uint64(len(block.spots) - 1)
    spot = key[1] & last
    while block.spots[spot] != NOTHING:
        other = block.keys[block.asked[block.spots[spot]]]
        if other[0] == key[0] and other[1] == key[1]:
            break
        spot = (spot + np.uint64(1)) & last
    return spot


@kernel(int64(KEPT, int64, BLOCK, uint8[:, ::1], int32[::1]))
def find(kept, version, block, rows, legal):
    """Write keys, sources and the rows to ask; return how many must be asked."""
    n_asked = 0
    for row in range(len(rows)):
        key = block.keys[row]
        hash_row(rows[row], legal[block.offsets[row] : block.offsets[row + 1]], key)
        block.sources[row] = KNOWN
        if place_of(kept, key, version) >= 0:
            continue
        spot = spot_for(block, key)
        if block.spots[spot] == NOTHING:
            block.spots[spot] = n_asked
            block.asked[n_asked] = row
            n_asked += 1
        block.sources[row] = block.spots[spot]
    return n_asked


@kernel(types.void(KEPT, int64, BLOCK))
def recall(kept, version, block):
    """Fill in the rows whose answers are stored."""
    for row in range(len(block.sources)):
        if block.sources[row] == KNOWN:
            place, start = place_of(kept, block.keys[row], version), block.offsets[row]
            stored = kept.starts[place]
            for action in range(block.offsets[row + 1] - start):
                block.priors[start + action] = kept.pool[stored + action]
            for seat in range(block.values.shape[1]):
                block.values[row, seat] = kept.values[place, seat]


@kernel(types.void(BLOCK, int32[::1], ANSWERS, ANSWER_ROWS))
def fill_in(block, offsets, priors, values):
    """Fill in the rows that were asked, and those equal to one of them, from the answers and their ``offsets``."""
    for row in range(len(block.sources)):
        source = block.sources[row]
        if source != KNOWN:
            start = block.offsets[row]
            for action in range(block.offsets[row + 1] - start):
                block.priors[start + action] = priors[offsets[source] + action]
            for seat in range(block.values.shape[1]):
                block.values[row, seat] = values[source, seat]


@helper
def has_stretch(kept, place, n_priors):
    """Whether the pool has room for so many priors at ``place``, given out now if the place's own does not do."""
    if n_priors <= kept.rooms[place]:
        return True
    if kept.counts[GIVEN] + n_priors > len(kept.pool):
        kept.counts[REFUSED] += 1
        return False
    kept.starts[place], kept.rooms[place] = kept.counts[GIVEN], n_priors
    kept.counts[GIVEN] += n_priors
    return True


@kernel(types.void(KEPT, int64, BLOCK, int64))
def keep(kept, version, block, n_asked):
    """Store the answers to the rows that were asked, each at a place that ``version`` has not filled, if any."""
    for row in block.asked[:n_asked]:
        key, start = block.keys[row], block.offsets[row]
        first = np.int64(key[0] % np.uint64(len(kept.keys) // NEIGHBOURS)) * NEIGHBOURS
        place = first + np.int64(key[1] % np.uint64(NEIGHBOURS))
        for free in range(first, first + NEIGHBOURS):
            if kept.versions[free] != version:
                place = free
                break
        n_priors = block.offsets[row + 1] - start
        if not has_stretch(kept, place, n_priors):
            continue
        kept.keys[place, 0], kept.keys[place, 1] = key[0], key[1]
        kept.versions[place] = version
        stored = kept.starts[place]
        for action in range(n_priors):
            kept.pool[stored + action] = block.priors[start + action]
        for seat in range(block.values.shape[1]):
            kept.values[place, seat] = block.values[row, seat]


KERNELS: tuple[Kernel, ...] = (find, recall, fill_in, keep)


class Split(NamedTuple):
    """A block of rows of which only a part must be asked."""

    ask: Positions  # the rows to ask, in order
    n_spared: int  # hits
    block: Block


class CacheShape(NamedTuple):
    """The sizes of a cache."""

    places: int
    entries: int  # of its pool
    is_fixed: bool  # whether the pool is enough for any answers at all places
    n_bytes: int


def cache_shape(spec: GameSpec, positions: int, most_bytes: int) -> CacheShape:
    """The shape of a cache for so many positions in so many bytes; the places take half of them at most."""
    place_bytes = PLACE_BYTES + 4 * spec.players
    places = min(-(-positions // NEIGHBOURS), most_bytes // 2 // place_bytes // NEIGHBOURS) * NEIGHBOURS
    wanted, fitting = places * spec.max_legal, (most_bytes - places * place_bytes) // 4
    entries = min(wanted, fitting)
    return CacheShape(places, entries, wanted <= fitting, n_bytes=places * place_bytes + 4 * entries)


class EvaluationCache:
    """The evaluation cache of one worker.

    Lifetime: as long as its worker. Order: each ``look_up`` is completed once, others may come in between. Limit:
    the places and bytes it was made with. End: nothing to close.
    """

    def __init__(self, spec: GameSpec, positions: int, most_bytes: int = MOST_BYTES) -> None:
        """``most_bytes`` must be enough for some places."""
        shape = cache_shape(spec, positions, most_bytes)
        places, self._is_fixed = shape.places, shape.is_fixed
        room = spec.max_legal if shape.is_fixed else 0
        self._kept = CachedAnswers(
            np.zeros((places, 2), np.uint64),
            np.full(places, NOTHING, np.int64),
            np.arange(places, dtype=np.int64) * room,
            np.full(places, room, np.int32),
            np.zeros(shape.entries, np.float32),
            np.zeros((places, spec.players), np.float32),
            np.zeros(2, np.int64),
        )
        self._kept.counts[GIVEN] = places * room
        self.version = NOTHING  # of the latest answer
        for dispatcher in KERNELS:
            ready(dispatcher)

    @property
    def held_bytes(self) -> int:
        return sum(array.nbytes for array in self._kept)

    @property
    def n_refused(self) -> int:
        """Answers that were not stored for want of room."""
        return int(self._kept.counts[REFUSED])

    def forget(self) -> None:
        """Become empty, as new; only while no ``look_up`` waits to be completed."""
        self._kept.versions.fill(NOTHING)
        self._kept.keys.fill(0)  # before the first answer NOTHING is the version that is looked for
        self._empty_pool()
        self.version = NOTHING

    def _empty_pool(self) -> None:
        if not self._is_fixed:
            self._kept.rooms.fill(0)
            self._kept.counts[GIVEN] = 0

    def look_up(self, features: Array, legal: Ints, offsets: Ints) -> Split:
        """Split these rows into hits and misses; the arrays may change afterwards."""
        n_rows = len(features)
        block = Block(
            offsets.copy(),
            np.empty((n_rows, 2), np.uint64),
            np.empty(n_rows, np.int32),
            np.full(2 << n_rows.bit_length(), NOTHING, np.int32),
            np.empty(n_rows, np.int32),
            np.empty(len(legal), np.float32),
            np.empty((n_rows, self._kept.values.shape[1]), np.float32),
        )
        n_asked = find(self._kept, self.version, block, features.view(np.uint8).reshape(n_rows, -1), legal)
        recall(self._kept, self.version, block)
        ask = pick(Positions(features, legal, offsets), block.asked[:n_asked])
        return Split(ask, n_rows - n_asked, block)

    def complete(self, split: Split, priors: Floats, values: Floats, version: int) -> tuple[Floats, Floats]:
        """Return priors and values of the whole block, given the answers to ``split.ask``."""
        if n_asked := len(split.ask.features):
            if version > self.version:
                self.version = version
                self._empty_pool()  # of answers that count no more
            fill_in(split.block, split.ask.offsets, priors, values)
            keep(self._kept, version, split.block, n_asked)
        return split.block.priors, split.block.values


def pick(positions: Positions, rows: Ints) -> Positions:
    """Copies of these rows, in this order."""
    starts = positions.offsets[rows]
    counts = positions.offsets[rows + 1] - starts
    offsets = offsets_of(counts)
    entries = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1], dtype=np.int32)
    return Positions(positions.features[rows], positions.legal[entries], offsets)
