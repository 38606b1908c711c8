"""Gathers the workers' queries into batches, has them estimated and gives everybody the answer."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from asyncplay.config.live import LiveSettings
from asyncplay.engine import firing
from asyncplay.engine.bounds import MOST_FEATURE, is_sound
from asyncplay.engine.figures import BatchFigures
from asyncplay.engine.lane import Lane, Task
from asyncplay.engine.thinkers import Thinkers
from asyncplay.engine.tuner import Lockstep, Tuner
from asyncplay.errors import WireError
from asyncplay.payloads import Estimates, Positions, join_positions
from asyncplay.stats import Histogram
from asyncplay.wire.messages import MOST_MESSAGE_BYTES, Answer, Ask, Computed

MB = 1 << 20
NOBODY = Thinkers(0, 0.0)
LEAD = 2.0  # times the host's own share of a launch: late costs the device, early only a few rows

Reply = Callable[[Answer], None]
Launch = Callable[[Positions], Callable[[], Estimates]]


@dataclass(slots=True, frozen=True)
class Endpoint:
    """A model that answers: what its rows look like, and how a batch is put on the device."""

    features: int
    actions: int
    launch: Launch  # called on the lane's thread
    is_timed: bool = False  # see lane.Task
    dtype: type[np.generic] = np.uint8  # of features


@dataclass(slots=True, eq=False)
class _Request:
    owner: int
    ask: Ask
    arrived_s: float
    reply: Reply
    taken: int = 0  # rows that are in a batch
    parts: list[Estimates] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.ask.features)

    @property
    def n_bytes(self) -> int:
        """That are held until its last row is in a batch."""
        return self.ask.features.nbytes + self.ask.legal.nbytes + self.ask.offsets.nbytes


class _Part(NamedTuple):
    """Rows first .. last - 1 of a request, in a batch."""

    request: _Request
    first: int
    last: int


class Evaluator:
    """Answers position queries in batches; a source of the lane.

    Lifetime: as long as the lane runs. Order: rows go out in order of arrival, a batch asks one model. Limit:
    with more than ``max_queued_rows`` or ``max_queued_bytes`` inside, ``on_full(True)`` asks that nobody is read from
    until half of them are gone; meanwhile nobody is waited for. End: a worker that is still waiting when the run ends
    is told to stop by other means.
    """

    def __init__(
        self,
        settings: LiveSettings,
        tuner: Tuner | Lockstep,
        lane: Lane,
        *,
        hard_cap_s: float,
        max_queued_rows: int,
        max_queued_bytes: int = MOST_MESSAGE_BYTES,
        depth: int = 1,
        thinkers: Callable[[float], Thinkers] = lambda now_s: Thinkers(0, 0.0),
        on_full: Callable[[bool], None] = lambda is_full: None,
    ) -> None:
        self._settings, self._tuner, self._lane = settings, tuner, lane
        self._hard_cap_s, self._depth = hard_cap_s, depth
        self._max_queued_rows, self._max_queued_bytes = max_queued_rows, max_queued_bytes
        self._thinkers, self._on_full = thinkers, on_full
        self._endpoints: dict[int, Endpoint] = {}
        self._queues: dict[int, deque[_Request]] = {}
        self._rows = self._bytes = 0
        self._rows_per_slot = 1.0
        self._is_full = False
        self._unsent_slots = 0  # answered, but the answer is not on its way yet
        self._since_s = self._waited_row_s = 0.0
        self._free_at_s = 0.0
        self._in_flight: deque[float] = deque()  # how long each batch under way is expected to take
        self._done_rows = self._done_batches = 0
        self._asked_rows = self._extra_rows = self._spared_rows = self._uncached_rows = 0
        self._computed_rows, self._computed_s = 0, 0.0  # in workers; of the time their mean
        self._batch_rows, self._wait_s = Histogram(), Histogram()
        settings.listen(self._settings_changed)
        lane.attach(self, share=1.0)

    def serve(self, model: int, endpoint: Endpoint) -> None:
        """Answer asks for ``model`` from now on; an endpoint may be replaced between two batches."""
        self._endpoints[model] = endpoint

    def submit(self, owner: int, ask: Ask, reply: Reply, now_s: float) -> None:
        """Queue an ask; ``reply`` is called on the loop. WireError if no model takes such rows."""
        self._check(ask)
        self._count_waiting(now_s)
        is_busy = bool(self._in_flight) and now_s < self._free_at_s - self._lead_s()
        is_foreseen = is_busy and self._rows > 0  # then the lane has its alarm set for the next batch
        request = _Request(owner, ask, now_s, reply)
        self._queues.setdefault(ask.model, deque()).append(request)
        self._count(request.rows, request.n_bytes)
        self._asked_rows += len(ask.features)
        self._extra_rows += ask.extra
        self._spared_rows += ask.spared
        self._uncached_rows += ask.uncached
        self._rows_per_slot += 0.1 * (len(ask.features) / ask.slots - self._rows_per_slot)
        if not is_foreseen:
            self.wake()

    @property
    def lane_rows(self) -> int:
        """Rows that were answered here."""
        return self._done_rows - self._computed_rows

    def count_computed(self, report: Computed, workers: int) -> int:
        """Count what a worker of so many has answered itself; return the rows. Its time is one part of theirs."""
        n_rows = int(report.sizes.sum(dtype=np.int64))
        self._computed_rows += n_rows
        self._done_rows += n_rows
        self._asked_rows += n_rows
        self._done_batches += len(report.sizes)
        self._computed_s += report.seconds / max(workers, 1)
        self._extra_rows += report.extra
        self._spared_rows += report.spared
        self._uncached_rows += report.uncached
        for size in report.sizes.tolist():
            self._batch_rows.add(size)
        return n_rows

    def wake(self) -> None:
        """Who is waited for may have changed."""
        self._lane.wake()

    def forget(self, owner: int) -> None:
        """Drop what ``owner`` has queued: it is gone and waits no more."""
        for model, requests in self._queues.items():
            gone = [request for request in requests if request.owner == owner]
            self._queues[model] = deque(request for request in requests if request.owner != owner)
            self._count(sum(r.taken - r.rows for r in gone), -sum(r.n_bytes for r in gone))
        self.wake()

    def reset(self) -> None:
        """Workers or model changed: what was learned about lingering may no longer hold."""
        self._tuner.reset()

    def stats(self) -> BatchFigures:
        return BatchFigures(
            rows=self._done_rows,
            asked_rows=self._asked_rows,
            extra_rows=self._extra_rows,
            spared_rows=self._spared_rows,
            uncached_rows=self._uncached_rows,
            batches=self._done_batches,
            device_s=self._lane.busy_s(self) + self._computed_s,
            queued_rows=self._rows,
            queued_mb=self._bytes / MB,
            batch_rows=self._batch_rows,
            wait_s=self._wait_s,
            fixed_s=self._tuner.fixed_s,
            per_row_s=self._tuner.per_row_s,
            linger="pinned" if self._settings.pinned_s is not None else self._tuner.arm.name.lower(),
        )

    def due_in_s(self, now_s: float, running: int) -> float:
        if self._rows == 0:
            return math.inf
        return firing.seconds_until_due(self._view(self._oldest(), now_s, running), self._rule())

    def start(self, now_s: float) -> Task:
        requests = self._oldest()
        endpoint = self._endpoints[requests[0].ask.model]
        wanted = firing.rows_due(self._view(requests, now_s, 0), self._rule())
        parts = _take(requests, wanted)
        n_rows = sum(part.last - part.first for part in parts)
        for part in parts:
            self._wait_s.add(now_s - part.request.arrived_s)
        self._count(-n_rows, -sum(part.request.n_bytes for part in parts if part.last == part.request.rows))
        self._restart_waiting(now_s)
        expected_s = self._tuner.fixed_s + self._tuner.per_row_s * n_rows
        self._free_at_s = (self._free_at_s if self._in_flight else now_s) + expected_s
        self._in_flight.append(expected_s)
        return Task(
            launch=partial(endpoint.launch, assemble(parts)),
            landed=lambda estimates, seconds: self._landed(parts, n_rows, seconds),
            deliver=lambda estimates: self._deliver(parts, estimates),
            is_timed=endpoint.is_timed,
        )

    def _check(self, ask: Ask) -> None:
        endpoint = self._endpoints.get(ask.model)
        if endpoint is None:
            raise WireError(f"an ask for model {ask.model}, which nobody serves")
        if ask.features.shape[1] != endpoint.features or len(ask.features) == 0:
            raise WireError(f"an ask of shape {ask.features.shape}, wanted rows of {endpoint.features} features")
        if ask.features.dtype != endpoint.dtype:
            raise WireError(f"an ask with features of {ask.features.dtype}, wanted {np.dtype(endpoint.dtype)}")
        if endpoint.dtype is np.float32 and not is_sound(ask.features):
            raise WireError(f"an ask with a feature that is no number from -{MOST_FEATURE:g} to {MOST_FEATURE:g}")
        if len(ask.legal) > len(ask.features) * endpoint.actions:
            raise WireError(
                f"an ask for {len(ask.legal)} actions, {endpoint.actions} for each row are all that there are"
            )
        if np.count_nonzero(ask.legal.view(np.uint32) >= endpoint.actions):  # a negative one becomes huge
            raise WireError(f"an ask for an action outside the {endpoint.actions} that there are")

    def _oldest(self) -> deque[_Request]:
        """The queue whose first request has waited longest."""
        if len(self._queues) == 1:
            return next(iter(self._queues.values()))
        waiting = (requests for requests in self._queues.values() if requests)
        return min(waiting, key=lambda requests: requests[0].arrived_s)

    def _view(self, requests: deque[_Request], now_s: float, running: int) -> firing.QueueView:
        self._count_waiting(now_s)
        thinkers, free_in_s = NOBODY if self._is_full else self._thinkers(now_s), 0.0
        if running:
            free_in_s = max(self._free_at_s - now_s, 0.0) if running < self._depth else math.inf
        return firing.QueueView(
            rows=self._rows,
            oldest_wait_s=now_s - requests[0].arrived_s,
            waited_row_s=self._waited_row_s,
            thinking=thinkers.slots + self._unsent_slots,
            live_left_s=max(thinkers.left_s, self._hard_cap_s if self._unsent_slots else 0.0),
            free_in_s=free_in_s,
            rows_per_slot=self._rows_per_slot,
        )

    def _rule(self) -> firing.Rule:
        return firing.Rule(
            max_rows=self._settings.max_rows,
            pinned_s=self._settings.pinned_s,
            hard_cap_s=self._hard_cap_s,
            arm=self._tuner.arm,
            fixed_s=self._tuner.fixed_s,
            lead_s=self._lead_s(),
        )

    def _lead_s(self) -> float:
        """Where a second batch may be in flight it is launched just in time to find the device free."""
        if self._depth == 1:
            return 0.0
        return min(LEAD * self._lane.host_s, self._tuner.fixed_s)

    def _landed(self, parts: list[_Part], n_rows: int, seconds: float) -> None:
        self._in_flight.popleft()
        self._done_rows += n_rows
        self._done_batches += 1
        self._batch_rows.add(n_rows)
        complete = [part.request for part in parts if part.last == part.request.rows]
        self._unsent_slots += sum(request.ask.slots for request in complete)
        now_s = self._lane.now_s()
        self._free_at_s = self._lane.last_finish_s + sum(self._in_flight)  # whatever was expected of this batch
        self._restart_waiting(now_s)
        foreign_s = self._lane.all_busy_s - self._lane.busy_s(self)
        if self._settings.pinned_s is None:
            self._tuner.completed(now_s - foreign_s, n_rows, seconds)
        else:
            self._tuner.measured(n_rows, seconds)

    def _deliver(self, parts: list[_Part], estimates: Estimates) -> None:
        row = action = 0
        for part in parts:
            offsets = part.request.ask.offsets
            n_rows = part.last - part.first
            n_actions = int(offsets[part.last] - offsets[part.first])
            priors = estimates.priors[action : action + n_actions]
            part.request.parts.append(Estimates(priors, estimates.values[row : row + n_rows], estimates.version))
            row, action = row + n_rows, action + n_actions
            if part.last == part.request.rows:
                self._unsent_slots -= part.request.ask.slots
                part.request.reply(_answer(part.request))

    def _count(self, n_rows: int, n_bytes: int) -> None:
        self._rows += n_rows
        self._bytes += n_bytes
        share = 2 if self._is_full else 1
        is_over = self._rows > self._max_queued_rows // share or self._bytes > self._max_queued_bytes // share
        if is_over != self._is_full:
            self._is_full = is_over
            self._on_full(is_over)

    def _count_waiting(self, now_s: float) -> None:
        self._waited_row_s += self._rows * (now_s - self._since_s)
        self._since_s = now_s

    def _restart_waiting(self, now_s: float) -> None:
        self._waited_row_s, self._since_s = 0.0, now_s

    def _settings_changed(self) -> None:
        """A trial goes back and forth every second: what is learned in its blocks is kept until its end."""
        if not self._settings.is_tried:
            self._tuner.reset()
        self.wake()


def _take(requests: deque[_Request], wanted: int) -> list[_Part]:
    """Cut ``wanted`` rows off the front of the queue; a request may be cut in two."""
    parts = []
    while wanted > 0 and requests:
        request = requests[0]
        last = min(request.rows, request.taken + wanted)
        parts.append(_Part(request, request.taken, last))
        wanted -= last - request.taken
        request.taken = last
        if last == request.rows:
            requests.popleft()
    return parts


def assemble(parts: list[_Part]) -> Positions:
    """Lay the parts of a batch one after another."""
    return join_positions([_positions(part) for part in parts])


def _positions(part: _Part) -> Positions:
    ask = part.request.ask
    asked = Positions(ask.features, ask.legal, ask.offsets)
    return asked if part.last - part.first == len(ask.features) else asked.part(part.first, part.last)


def _answer(request: _Request) -> Answer:
    parts = request.parts
    if len(parts) == 1:
        return Answer(request.ask.ticket, parts[0].version, parts[0].priors, parts[0].values)
    priors = np.concatenate([part.priors for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Answer(request.ask.ticket, min(part.version for part in parts), priors, values)
