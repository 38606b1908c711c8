"""Arrays that travel or rest together, and the alphabet of their shapes.

``n`` rows, ``A`` actions, ``P`` players, ``F`` features of a row, ``k`` legal actions of a row,
``L`` their sum over all rows of a block.

A record is what the store keeps of a game: what the rules and its seed do not tell. With the seed, the actions and the
policies a game can be played again and its examples made anew; features and legal actions are never stored.
docs/schema.md has the layout of the packed bytes.
"""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError

Array = NDArray[Any]
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Positions(NamedTuple):
    """A block of positions to be estimated, each from the seat of its player to move."""

    features: Array  # float32[n, F], or uint8[n, F] where the encoding fits
    legal: Ints  # int32[L], the legal actions of all rows, one after another
    offsets: Ints  # int32[n + 1], row i owns legal[offsets[i]:offsets[i + 1]]

    def part(self, start: int, stop: int) -> "Positions":
        """Rows ``start`` to ``stop``; arrays are shared except ``offsets``."""
        first, last = self.offsets[start], self.offsets[stop]
        return Positions(self.features[start:stop], self.legal[first:last], self.offsets[start : stop + 1] - first)


class Estimates(NamedTuple):
    """What a network thinks of a block of positions."""

    priors: Floats  # float32[L], over the legal actions, each row's sum is 1
    values: Floats  # float32[n, P], entry k for the seat k places to the left of the player to move
    version: int  # of the weights that answered


class Examples(NamedTuple):
    """Positions with what became of them, each from the seat of its player to move."""

    features: Array  # float32[n, F], or uint8[n, F] where the encoding fits
    legal: Ints  # int32[L], the legal actions of all rows, one after another
    offsets: Ints  # int32[n + 1], row i owns legal[offsets[i]:offsets[i + 1]]
    targets: Floats  # float32[L], the policy to learn; a row of zeros teaches no policy
    values: Floats  # float32[n, P], entry k for the seat k places to the left
    seats: Ints  # int32[n], how many of the P seats the row's game has; later entries are ignored
    weight: Floats  # float32[n], how much the row counts
    versions: Ints  # int32[n], of the weights that played it
    states: NDArray[np.int64]  # int64[n, S], where turning an action depends on the position; else int64[n, 0]

    @property
    def rows(self) -> int:
        return len(self.features)

    def part(self, start: int, stop: int) -> "Examples":
        """Rows ``start`` to ``stop``; arrays are shared except ``offsets``."""
        first, last = self.offsets[start], self.offsets[stop]
        return Examples(
            features=self.features[start:stop],
            legal=self.legal[first:last],
            offsets=self.offsets[start : stop + 1] - first,
            targets=self.targets[first:last],
            values=self.values[start:stop],
            seats=self.seats[start:stop],
            weight=self.weight[start:stop],
            versions=self.versions[start:stop],
            states=self.states[start:stop],
        )

    def pick(self, rows: NDArray[np.int64]) -> "Examples":
        """Copies of these rows, in this order, each as often as it is named."""
        starts = self.offsets[rows].astype(np.int64)
        counts = self.offsets[rows + 1] - starts
        offsets = offsets_of(counts)
        entries = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])
        return Examples(
            features=self.features[rows],
            legal=self.legal[entries],
            offsets=offsets,
            targets=self.targets[entries],
            values=self.values[rows],
            seats=self.seats[rows],
            weight=self.weight[rows],
            versions=self.versions[rows],
            states=self.states[rows],
        )


def concatenate(blocks: Sequence[Examples]) -> Examples:
    """All rows of at least one block, in order."""
    columns = {name: [getattr(block, name) for block in blocks] for name in Examples._fields if name != "offsets"}
    offsets = offsets_of(np.concatenate([np.diff(block.offsets) for block in blocks]))
    return Examples(offsets=offsets, **{name: np.concatenate(arrays) for name, arrays in columns.items()})


def join_positions(blocks: Sequence[Positions]) -> Positions:
    """All rows of at least one block, in order; a single block is returned as it is."""
    if len(blocks) == 1:
        return blocks[0]
    features = np.concatenate([block.features for block in blocks])
    legal = np.concatenate([block.legal for block in blocks])
    return Positions(features, legal, offsets_of(np.concatenate([np.diff(block.offsets) for block in blocks])))


def offsets_of(counts: Array) -> Ints:
    """Where rows of these lengths begin and end: int32[n + 1]."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets


MOST_BROKEN_OFF = 0.01
"""Share of a run's games that the move limit may end; with more of them play learns little but to wait for it."""

LAYOUT = 1
"""The first byte of every packed record; a changed layout gets another number."""

_HEAD = struct.Struct("<BBHIII")  # layout, bytes of an action, 0, decisions, rows, policy entries


class RecordDamaged(AsyncplayError):
    """Bytes that are no packed record."""

    exit_code = 1


class Record(NamedTuple):
    """A game of T decisions, n of which are training rows, with E policy entries."""

    actions: Ints  # int32[T], forced ones included
    decisions: Ints  # int32[n], ascending, which decision each row is
    seats: NDArray[np.int8]  # int8[n], who decided
    versions: Ints  # int32[n], of the weights that answered last
    counts: Ints  # int32[n], how many policy entries each row has
    policy_actions: Ints  # int32[E], ascending within a row, only those with a share
    policies: Floats  # float32[E], the shares, as the network learns them


class Policies(NamedTuple):
    """The entries of dense policies that are not zero."""

    counts: Ints  # int32[n]
    actions: Ints  # int32[E]
    shares: Floats  # float32[E]


def sparse(legal: Ints, offsets: Ints, targets: Floats) -> Policies:
    """Leave the zeros out; row i owns ``targets[offsets[i]:offsets[i + 1]]``."""
    places = np.flatnonzero(targets)
    counts = np.diff(np.searchsorted(places, offsets)).astype(np.int32)
    return Policies(counts, legal[places], targets[places])


def dense(record: Record, legal: Ints, offsets: Ints) -> Floats:
    """The policies over rows' legal actions, which ascend: the other way round than ``sparse``."""
    span = int(max(legal.max(initial=0), record.policy_actions.max(initial=0))) + 1
    rows = np.arange(len(offsets) - 1, dtype=np.int64)
    owners = np.repeat(rows, np.diff(offsets)) * span + legal
    wanted = np.repeat(rows, record.counts) * span + record.policy_actions
    places = np.searchsorted(owners, wanted)
    if len(wanted) and (places[-1] >= len(owners) or (owners[places] != wanted).any()):
        raise RecordDamaged("a policy names an action that is not legal there")
    targets = np.zeros(len(legal), np.float32)
    targets[places] = record.policies
    return targets


def pack(record: Record) -> bytes:
    """Bytes that ``unpack`` turns into an equal record; the actions in as few as the largest one needs."""
    largest = max(int(record.actions.max(initial=0)), int(record.policy_actions.max(initial=0)))
    width = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
    head = _HEAD.pack(LAYOUT, width, 0, len(record.actions), len(record.decisions), len(record.policies))
    columns: tuple[Array, ...] = record
    return head + b"".join(
        [column.astype(dtype, copy=False).tobytes() for column, dtype in zip(columns, _PACKED[width], strict=True)]
    )


def most_packed_bytes(n_actions: int, n_rows: int, n_entries: int) -> int:
    """Of a record with these lengths, whatever its actions are."""
    lengths = (n_actions, n_rows, n_rows, n_rows, n_rows, n_entries, n_entries)
    return _HEAD.size + sum(length * dtype.itemsize for length, dtype in zip(lengths, _PACKED[4], strict=True))


def unpack(data: bytes) -> Record:
    """The record; RecordDamaged says what is wrong with the bytes."""
    if len(data) < _HEAD.size:
        raise RecordDamaged(f"a record of {len(data)} bytes has no head")
    layout, width, _, n_actions, n_rows, n_entries = _HEAD.unpack_from(data)
    if layout != LAYOUT or width not in (1, 2, 4):
        raise RecordDamaged(f"a record of layout {layout} with actions of {width} bytes, known is {LAYOUT}")
    lengths = (n_actions, n_rows, n_rows, n_rows, n_rows, n_entries, n_entries)
    record = _cut(data, lengths, _PACKED[width])
    if int(record.counts.sum()) != n_entries or (record.counts < 0).any():
        raise RecordDamaged("a record whose rows do not share out its policy entries")
    if n_rows and not (record.decisions[0] >= 0 and (np.diff(record.decisions) > 0).all()):
        raise RecordDamaged("a record whose rows are not in order")
    if n_rows and record.decisions[-1] >= n_actions:
        raise RecordDamaged("a record with a row beyond its last decision")
    return record


def _cut(data: bytes, lengths: tuple[int, ...], dtypes: tuple[np.dtype[Any], ...]) -> Record:
    wanted = _HEAD.size + sum(length * dtype.itemsize for length, dtype in zip(lengths, dtypes, strict=True))
    if len(data) != wanted:
        raise RecordDamaged(f"a record of {len(data)} bytes, its head says {wanted}")
    columns, start = [], _HEAD.size
    for length, dtype, final in zip(lengths, dtypes, _FINAL, strict=True):
        columns.append(np.frombuffer(data, dtype, length, start).astype(final))
        start += length * dtype.itemsize
    return Record(*columns)


_FINAL = tuple(np.dtype(name) for name in ("int32", "int32", "int8", "int32", "int32", "int32", "float32"))


_PACKED = {
    width: tuple(np.dtype(name) for name in (f"<u{width}", "<i4", "i1", "<i4", "<i4", f"<u{width}", "<f4"))
    for width in (1, 2, 4)
}
"""The dtypes of the packed columns, in the order of Record, by the bytes of an action."""
