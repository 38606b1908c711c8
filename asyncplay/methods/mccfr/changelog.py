"""Which infosets of a table changed since a worker last got them."""

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Infosets = NDArray[np.int32]


class _Entry(NamedTuple):
    version: int
    infosets: Infosets


class ChangeLog:
    """Remembers the infosets of the latest changes, and up to which change each worker knows them.

    Limit: what no worker waits for is forgotten, and never more infosets are kept than the table has; a worker that
    lags further behind is told of everything.
    """

    def __init__(self, n_infosets: int) -> None:
        self._n_infosets = n_infosets
        self._version = 0
        self._entries: deque[_Entry] = deque()
        self._n_kept = 0
        self._forgotten = 0  # the version of the latest entry that was dropped
        self._told: dict[int, int] = {}  # by worker

    def note(self, infosets: Infosets) -> None:
        """These infosets have changed."""
        self._version += 1
        self._entries.append(_Entry(self._version, infosets))
        self._n_kept += len(infosets)
        while self._entries and (self._n_kept > self._n_infosets or self._entries[0].version <= self._oldest()):
            self._forget()

    def catch_up(self, worker: int) -> list[Infosets] | None:
        """Return what changed since the last call for this worker, None for everything."""
        told, self._told[worker] = self._told.get(worker, -1), self._version
        if told < self._forgotten:
            return None
        return [entry.infosets for entry in self._entries if entry.version > told]

    def leave(self, worker: int) -> None:
        self._told.pop(worker, None)

    def _oldest(self) -> int:
        return min(self._told.values(), default=self._version)

    def _forget(self) -> None:
        entry = self._entries.popleft()
        self._n_kept -= len(entry.infosets)
        self._forgotten = entry.version
