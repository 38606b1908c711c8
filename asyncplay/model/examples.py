"""Rows to learn from."""

from typing import NamedTuple

import numpy as np

from asyncplay.payloads import Array, Floats, Ints


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


def concatenate(blocks: list[Examples]) -> Examples:
    """All rows of at least one block, in order."""
    columns = {
        name: [getattr(block, name) for block in blocks] for name in Examples._fields if name != "offsets"
    }
    counts = np.concatenate([np.diff(block.offsets) for block in blocks])
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return Examples(offsets=offsets, **{name: np.concatenate(arrays) for name, arrays in columns.items()})
