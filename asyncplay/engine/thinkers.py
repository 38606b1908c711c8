"""Who is still waited for: slots that think, each worker's until a deadline of its own."""

import heapq
from collections.abc import Hashable
from itertools import count
from typing import NamedTuple

SPARE = 64  # entries of a heap that may be out of date beside as many as there are workers


class Thinkers(NamedTuple):
    """Who may still ask before anybody is answered."""

    slots: int  # live ones that think
    left_s: float  # until the last of them leaves the live set if it stays silent


class ThinkingWorkers:
    """Adds up the slots of all workers whose deadline has not passed.

    A change and a question cost the same however many workers there are, but for the depth of a heap. The time asked
    for never goes back; whoever's deadline has passed is out until its next change.
    """

    def __init__(self) -> None:
        self._live: dict[Hashable, tuple[float, int]] = {}  # by worker: its deadline and its slots
        self._slots = 0
        self._soonest: list[tuple[float, int, Hashable]] = []  # heaps; an entry counts while its deadline is the
        self._latest: list[tuple[float, int, Hashable]] = []  # worker's, and the times of the second are negative
        self._order = count()  # among equal times; workers themselves have none

    def change(self, worker: Hashable, slots: int, until_s: float) -> None:
        """From now on ``worker`` counts for so many slots, until then."""
        self._slots -= self._live.pop(worker, (0.0, 0))[1]
        if slots:
            self._slots += slots
            self._live[worker] = until_s, slots
            order = next(self._order)
            heapq.heappush(self._soonest, (until_s, order, worker))
            heapq.heappush(self._latest, (-until_s, order, worker))
            if len(self._latest) > 2 * len(self._live) + SPARE:
                self._rebuild()

    def at(self, now_s: float) -> Thinkers:
        """Count those whose deadline is after ``now_s``."""
        while self._soonest and self._soonest[0][0] <= now_s:
            until_s, _, worker = heapq.heappop(self._soonest)
            if self._is_current(worker, until_s):
                self._slots -= self._live.pop(worker)[1]
        while self._latest and not self._is_current(self._latest[0][2], -self._latest[0][0]):
            heapq.heappop(self._latest)
        return Thinkers(self._slots, -self._latest[0][0] - now_s) if self._latest else Thinkers(0, 0.0)

    def _is_current(self, worker: Hashable, until_s: float) -> bool:
        found = self._live.get(worker)
        return found is not None and found[0] == until_s

    def _rebuild(self) -> None:
        """Leave out what is out of date: after as many changes as there are entries, so once for each on average."""
        current = [(until_s, next(self._order), worker) for worker, (until_s, _) in self._live.items()]
        self._soonest, self._latest = current, [(-until_s, order, worker) for until_s, order, worker in current]
        heapq.heapify(self._soonest)
        heapq.heapify(self._latest)
