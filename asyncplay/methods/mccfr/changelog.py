"""Which rows of a table changed since a worker was last told."""

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]


class _Entry(NamedTuple):
    version: int
    rows: Rows


class ChangeLog:
    """Remembers the rows of the latest changes, and up to which change each worker knows them.

    Limit: what no worker waits for is forgotten, and never more rows are kept than the table has; a worker that
    lags further behind is told of everything.
    """

    def __init__(self, table_rows: int) -> None:
        self._table_rows = table_rows
        self._version = 0
        self._entries: deque[_Entry] = deque()
        self._kept_rows = 0
        self._forgotten = 0  # the version of the latest entry that was dropped
        self._told: dict[int, int] = {}  # by worker

    def note(self, rows: Rows) -> None:
        """These rows have changed."""
        self._version += 1
        self._entries.append(_Entry(self._version, rows))
        self._kept_rows += len(rows)
        while self._entries and (self._kept_rows > self._table_rows or self._entries[0].version <= self._oldest()):
            self._forget()

    def catch_up(self, worker: int) -> list[Rows] | None:
        """Return what changed since the last call for this worker, None for everything."""
        told, self._told[worker] = self._told.get(worker, -1), self._version
        if told < self._forgotten:
            return None
        return [entry.rows for entry in self._entries if entry.version > told]

    def leave(self, worker: int) -> None:
        self._told.pop(worker, None)

    def _oldest(self) -> int:
        return min(self._told.values(), default=self._version)

    def _forget(self) -> None:
        entry = self._entries.popleft()
        self._kept_rows -= len(entry.rows)
        self._forgotten = entry.version
