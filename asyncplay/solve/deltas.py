"""What changes in a table between processes: merging, gathering and putting in rows, never all of them.

A table is float64[E, 2]: an entry for each action of each row, its regret and its strategy sum side by side. Row r
owns the entries ``offsets[r] .. offsets[r + 1] - 1``. Where entries of several rows travel together they lie one row
after another, in the order of the rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import float64, int32, int64, types, uint8
from numpy.typing import NDArray

from asyncplay.games.kernels import kernel, ready, warm_up

REGRET, SUM = 0, 1
PART_ENTRIES = 1 << 19  # of a stretch of rows that travels in one frame: 8 MB with regrets and sums

Rows = NDArray[np.int32]
Doubles = NDArray[np.float64]

_TABLE = float64[:, ::1]
_OFFSETS = types.Array(int32, 1, "C", readonly=True)  # to a kernel, what comes off the wire is another type
_ROWS = types.Array(int32, 1, "C", readonly=True)
_VALUES = types.Array(float64, 1, "C", readonly=True)


@kernel(int64(_OFFSETS, _TABLE, _ROWS, _VALUES, _VALUES, float64, uint8[::1]))
def add_rows(offsets, table, rows, regrets, sums, workers, known):  # noqa: PLR0917  # kernels take no keywords
    """Add changes to their rows; return how many rows had never been changed before."""
    entry, fresh = 0, 0
    for row in rows:
        fresh += known[row] == 0
        known[row] = 1
        for place in range(offsets[row], offsets[row + 1]):
            table[place, REGRET] += regrets[entry] / workers
            table[place, SUM] += sums[entry]
            entry += 1
    return fresh


@kernel(types.void(_OFFSETS, _TABLE, _ROWS, float64[::1]))
def gather_regrets(offsets, table, rows, regrets):
    """Read the regrets of rows."""
    entry = 0
    for row in rows:
        for place in range(offsets[row], offsets[row + 1]):
            regrets[entry] = table[place, REGRET]
            entry += 1


@kernel(types.void(_OFFSETS, _TABLE, _ROWS, _VALUES))
def put_regrets(offsets, table, rows, regrets):
    """Overwrite the regrets of rows."""
    entry = 0
    for row in rows:
        for place in range(offsets[row], offsets[row + 1]):
            table[place, REGRET] = regrets[entry]
            entry += 1


@kernel(int64(_OFFSETS, _ROWS))
def count_entries(offsets, rows):
    """The entries of these rows; -1 if one of them does not exist."""
    entries = 0
    for row in rows:
        if row < 0 or row >= len(offsets) - 1:
            return -1
        entries += offsets[row + 1] - offsets[row]
    return entries


@kernel(int64(_ROWS, uint8[::1], int32[::1], int64))
def add_unmarked(rows, marks, out, count):
    """Append the rows that bear no mark yet, and mark them; return the new count."""
    for row in rows:
        if marks[row] == 0:
            marks[row] = 1
            out[count] = row
            count += 1
    return count


@kernel(int64(_OFFSETS, _ROWS, int64, int64))
def stretch_end(offsets, rows, start, most):
    """Where a stretch of rows ends that begins at ``start`` and has at most ``most`` entries, or one row."""
    entries, stop = 0, start
    while stop < len(rows):
        entries += offsets[rows[stop] + 1] - offsets[rows[stop]]
        if entries > most and stop > start:
            break
        stop += 1
    return stop


KERNELS = (add_rows, gather_regrets, put_regrets, count_entries, add_unmarked, stretch_end)


def warm() -> None:
    """Compile, or fetch from the disk, before workers start."""
    warm_up(KERNELS)


def stretches(offsets: Any, rows: Rows, most: int = PART_ENTRIES) -> list[tuple[int, int]]:
    """Cut rows into (start, stop) stretches that fit into a frame."""
    cuts: list[tuple[int, int]] = []
    start = 0
    while start < len(rows):
        stop = ready(stretch_end)(offsets, rows, start, most)
        cuts.append((start, stop))
        start = stop
    return cuts


class MergedTable:
    """The coordinator's table: the only one that has strategy sums over a whole run."""

    def __init__(self, offsets: NDArray[np.int32], table: NDArray[np.float64]) -> None:
        warm()
        self.offsets, self.values = offsets, table
        self.n_rows = len(offsets) - 1
        self._known = np.zeros(self.n_rows, np.uint8)
        self._marks = np.zeros(self.n_rows, np.uint8)
        self.n_known = 0

    def flaw(self, rows: Rows, regrets: Doubles, sums: Doubles) -> str | None:
        """Say why these changes cannot be of this table."""
        entries = count_entries(self.offsets, rows)
        if entries < 0:
            return f"a row outside 0 to {self.n_rows - 1}"
        if not entries == len(regrets) == len(sums):
            return f"{len(regrets)} regrets and {len(sums)} sums for {entries} entries"
        return None

    def merge(self, rows: Rows, regrets: Doubles, sums: Doubles, workers: int) -> None:
        """Add the sums, and the regrets divided by the workers that started from the same table."""
        self.n_known += add_rows(self.offsets, self.values, rows, regrets, sums, float(workers), self._known)

    def union(self, blocks: Sequence[Rows]) -> Rows:
        """Each row that is in some block, once, in the order of its first appearance."""
        out = np.empty(sum(map(len, blocks)), np.int32)
        count = 0
        for rows in blocks:
            count = add_unmarked(rows, self._marks, out, count)
        self._marks[out[:count]] = 0
        return out[:count].copy()

    def known(self) -> Rows:
        """The rows that were ever changed; looks at all of them, for a worker that begins."""
        return np.flatnonzero(self._known).astype(np.int32)

    def regrets(self, rows: Rows) -> Doubles:
        regrets = np.empty(count_entries(self.offsets, rows))
        gather_regrets(self.offsets, self.values, rows, regrets)
        return regrets

    def parts(self, rows: Rows) -> list[tuple[int, int]]:
        """Cut rows into stretches that fit into a frame."""
        return stretches(self.offsets, rows)

    def restore(self, table: NDArray[np.float64], known: NDArray[np.uint8]) -> None:
        """Take over what a checkpoint has."""
        self.values[:], self._known[:] = table, known
        self.n_known = int(np.count_nonzero(known))

    def capture(self) -> dict[str, NDArray[Any]]:
        """Copies of all that a checkpoint needs."""
        return {"table": self.values.copy(), "known": self._known.copy()}
