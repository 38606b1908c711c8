"""What changes in a table between processes: merging, reading and writing some infosets, never all of them.

A table is that of regret.py. Infoset i owns the entries ``offsets[i] .. offsets[i + 1] - 1``. Where entries of several
infosets travel together they lie one infoset after another, in the order of the infosets.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import float64, int32, int64, types, uint8
from numpy.typing import NDArray

from asyncplay.games.kernels import kernel, ready, warm_up
from asyncplay.solve.regret import REGRET, SUM, TABLE

PART_ENTRIES = 1 << 19  # of a stretch of infosets that travels in one frame: 8 MB with regrets and sums

Infosets = NDArray[np.int32]
Doubles = NDArray[np.float64]

_OFFSETS = types.Array(int32, 1, "C", readonly=True)  # to a kernel, what comes off the wire is another type
_INFOSETS = types.Array(int32, 1, "C", readonly=True)
_VALUES = types.Array(float64, 1, "C", readonly=True)


@kernel(int64(_OFFSETS, TABLE, _INFOSETS, _VALUES, _VALUES, float64, uint8[::1]))
def add_changes(offsets, table, infosets, regrets, sums, workers, known):  # noqa: PLR0917  # kernels take no keywords
    """Add changes to their infosets; return how many infosets had never been changed before."""
    place, fresh = 0, 0
    for infoset in infosets:
        fresh += known[infoset] == 0
        known[infoset] = 1
        for entry in range(offsets[infoset], offsets[infoset + 1]):
            table[entry, REGRET] += regrets[place] / workers
            table[entry, SUM] += sums[place]
            place += 1
    return fresh


@kernel(types.void(_OFFSETS, TABLE, _INFOSETS, float64[::1]))
def gather_regrets(offsets, table, infosets, regrets):
    """Read the regrets of infosets."""
    place = 0
    for infoset in infosets:
        for entry in range(offsets[infoset], offsets[infoset + 1]):
            regrets[place] = table[entry, REGRET]
            place += 1


@kernel(types.void(_OFFSETS, TABLE, _INFOSETS, _VALUES))
def put_regrets(offsets, table, infosets, regrets):
    """Overwrite the regrets of infosets."""
    place = 0
    for infoset in infosets:
        for entry in range(offsets[infoset], offsets[infoset + 1]):
            table[entry, REGRET] = regrets[place]
            place += 1


@kernel(int64(_OFFSETS, _INFOSETS))
def count_entries(offsets, infosets):
    """The entries of these infosets; -1 if one of them does not exist."""
    entries = 0
    for infoset in infosets:
        if infoset < 0 or infoset >= len(offsets) - 1:
            return -1
        entries += offsets[infoset + 1] - offsets[infoset]
    return entries


@kernel(int64(_INFOSETS, uint8[::1], int32[::1], int64))
def add_unmarked(infosets, marks, out, count):
    """Append the infosets that bear no mark yet, and mark them; return the new count."""
    for infoset in infosets:
        if marks[infoset] == 0:
            marks[infoset] = 1
            out[count] = infoset
            count += 1
    return count


@kernel(int64(_OFFSETS, _INFOSETS, int64, int64))
def stretch_end(offsets, infosets, start, most):
    """Where a stretch of infosets ends that begins at ``start`` and has at most ``most`` entries, or one infoset."""
    entries, stop = 0, start
    while stop < len(infosets):
        entries += offsets[infosets[stop] + 1] - offsets[infosets[stop]]
        if entries > most and stop > start:
            break
        stop += 1
    return stop


KERNELS = (add_changes, gather_regrets, put_regrets, count_entries, add_unmarked, stretch_end)


def warm() -> None:
    """Compile, or fetch from the disk, before workers start."""
    warm_up(KERNELS)


def stretches(offsets: Any, infosets: Infosets, most: int = PART_ENTRIES) -> list[tuple[int, int]]:
    """Cut infosets into (start, stop) stretches that fit into a frame."""
    cuts: list[tuple[int, int]] = []
    start = 0
    while start < len(infosets):
        stop = ready(stretch_end)(offsets, infosets, start, most)
        cuts.append((start, stop))
        start = stop
    return cuts


class MergedTable:
    """The coordinator's table: the only one that has strategy sums over a whole run."""

    def __init__(self, offsets: NDArray[np.int32], table: NDArray[np.float64]) -> None:
        warm()
        self.offsets, self.values = offsets, table
        self.n_infosets = len(offsets) - 1
        self._known = np.zeros(self.n_infosets, np.uint8)
        self._marks = np.zeros(self.n_infosets, np.uint8)
        self.n_known = 0

    @property
    def n_bytes(self) -> int:
        return self.values.nbytes

    def flaw(self, infosets: Infosets, regrets: Doubles, sums: Doubles) -> str | None:
        """Say why these changes cannot be of this table."""
        entries = count_entries(self.offsets, infosets)
        if entries < 0:
            return f"a row outside 0 to {self.n_infosets - 1}"
        if not entries == len(regrets) == len(sums):
            return f"{len(regrets)} regrets and {len(sums)} sums for {entries} entries"
        return None

    def merge(self, infosets: Infosets, regrets: Doubles, sums: Doubles, workers: int) -> None:
        """Add the sums, and the regrets divided by the workers that started from the same table."""
        self.n_known += add_changes(self.offsets, self.values, infosets, regrets, sums, float(workers), self._known)

    def union(self, blocks: Sequence[Infosets]) -> Infosets:
        """Each infoset that is in some block, once, in the order of its first appearance."""
        out = np.empty(sum(map(len, blocks)), np.int32)
        count = 0
        for infosets in blocks:
            count = add_unmarked(infosets, self._marks, out, count)
        self._marks[out[:count]] = 0
        return out[:count].copy()

    def known(self) -> Infosets:
        """The infosets that were ever changed; a pass over the whole table, for a worker that begins."""
        return np.flatnonzero(self._known).astype(np.int32)

    def regrets(self, infosets: Infosets) -> Doubles:
        regrets = np.empty(count_entries(self.offsets, infosets))
        gather_regrets(self.offsets, self.values, infosets, regrets)
        return regrets

    def parts(self, infosets: Infosets) -> list[tuple[int, int]]:
        """Cut infosets into stretches that fit into a frame."""
        return stretches(self.offsets, infosets)

    def restore(self, table: NDArray[np.float64], known: NDArray[np.uint8]) -> None:
        """Take over what a checkpoint has."""
        self.values[:], self._known[:] = table, known
        self.n_known = int(np.count_nonzero(known))

    def capture(self) -> dict[str, NDArray[Any]]:
        """Copies of all that a checkpoint needs."""
        return {"table": self.values.copy(), "known": self._known.copy()}
