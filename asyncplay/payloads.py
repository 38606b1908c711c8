"""Arrays that travel together, and the alphabet of their shapes.

``n`` rows, ``A`` actions, ``P`` players, ``F`` features of a row, ``k`` legal actions of a row,
``L`` their sum over all rows of a block.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Positions(NamedTuple):
    """A block of positions to be estimated, each from the seat of its player to move."""

    features: Array  # float32[n, F], or uint8[n, F] where the encoding fits
    legal: Ints  # int32[L], the legal actions of all rows, one after another
    offsets: Ints  # int32[n + 1], row i owns legal[offsets[i]:offsets[i + 1]]


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
        )


def concatenate(blocks: Sequence[Examples]) -> Examples:
    """All rows of at least one block, in order."""
    columns = {name: [getattr(block, name) for block in blocks] for name in Examples._fields if name != "offsets"}
    offsets = offsets_of(np.concatenate([np.diff(block.offsets) for block in blocks]))
    return Examples(offsets=offsets, **{name: np.concatenate(arrays) for name, arrays in columns.items()})


def offsets_of(counts: Array) -> Ints:
    """Where rows of these lengths begin and end: int32[n + 1]."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets
