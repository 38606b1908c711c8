"""A load made to measure: slots that think, ask for one row each and check the answer.

A unit is one row asked, answered and found right. Rows are random bytes that begin with their unit number,
so that no two are alike and an answer to the wrong row is noticed.
"""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.sections import LoadSettings
from asyncplay.methods.synthetic.messages import SyntheticSpec
from asyncplay.wire.checksum import sim_answers
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Answer, Ask, Done, Job, Message
from asyncplay.worker.core import Step

_REPORT_UNITS = 1024
Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Indices = NDArray[np.intp]


class SyntheticPlayer:
    """Keeps ``slots`` rows under way as long as there are units."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._load: LoadSettings | None = None
        self._units: deque[tuple[int, range]] = deque()  # (job, its units not begun yet)
        self._asked: dict[int, tuple[Indices, NDArray[np.uint8]]] = {}  # by ticket: slots, their rows
        self._answers: list[Answer] = []
        self._done: list[tuple[Longs, Longs]] = []  # jobs and units that are finished, not yet reported
        self._n_done = self._n_thinking = 0
        self._last_sent_s = -np.inf

    def take(self, job: Job) -> None:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, SyntheticSpec), "a synthetic job needs a synthetic spec"
        if self._load is None:
            self._lay_out(spec, np.random.default_rng([job.seed, job.first]))
        self._units.append((job.number, range(job.first, job.first + job.count)))

    def receive(self, message: Message) -> None:
        assert isinstance(message, Answer), f"a synthetic player was sent a {type(message).__name__}"
        self._answers.append(message)

    def advance(self, now_s: float) -> Step:
        if self._load is None:
            return Step([], None)
        self._take_answers()
        self._begin(now_s)
        messages: list[Message] = []
        if now_s >= self._last_sent_s + self._grain_s:
            messages += self._ask(now_s)
        ready_s = float(self._ready_s.min())
        messages += self._report(is_idle=ready_s == np.inf and not self._asked)
        if ready_s == np.inf:
            return Step(messages, None)
        return Step(messages, max(ready_s, self._last_sent_s + self._grain_s) - now_s)

    @property
    def _known(self) -> LoadSettings:
        assert self._load is not None, "an answer came before any job"
        return self._load

    def _lay_out(self, spec: SyntheticSpec, random: np.random.Generator) -> None:
        self._load = load = LoadSettings(**json.loads(spec.load))
        self._grain_s, self._players, self._random = load.grain_ms / 1000, spec.players, random
        self._free = np.arange(load.slots)
        self._ready_s = np.full(load.slots, np.inf)  # inf: free, or waits for an answer
        self._unit = np.zeros(load.slots, np.int64)
        self._job = np.zeros(load.slots, np.int64)
        self._rows = random.integers(0, 256, (load.slots, load.row_bytes), np.uint8)
        self._legal = np.tile(np.arange(load.actions, dtype=np.int32), load.slots)
        self._offsets = np.arange(load.slots + 1, dtype=np.int32) * np.int32(load.actions)

    def _take_answers(self) -> None:
        """Check all answers that have come and free their slots."""
        if not self._answers:
            return
        answers, self._answers = self._answers, []
        asked = [self._asked.pop(answer.ticket) for answer in answers]
        slots = np.concatenate([slots for slots, _ in asked])
        if self._known.checked:
            self._check(answers, np.concatenate([rows for _, rows in asked]))
        self._done.append((self._job[slots], self._unit[slots]))
        self._n_done += len(slots)
        self._free = np.concatenate([self._free, slots])

    def _begin(self, now_s: float) -> None:
        """Give units to the free slots and let them think."""
        begun = 0
        while begun < len(self._free) and self._units:
            job, units = self._units.popleft()
            slots = self._free[begun : begun + len(units)]
            self._job[slots] = job
            self._unit[slots] = np.arange(units.start, units.start + len(slots))
            begun += len(slots)
            if len(slots) < len(units):
                self._units.appendleft((job, units[len(slots) :]))
        if begun:
            self._ready_s[self._free[:begun]] = now_s + think_times(self._known, begun, self._random)
            self._free = self._free[begun:]
            self._n_thinking += begun

    def _ask(self, now_s: float) -> list[Message]:
        ready = np.flatnonzero(self._ready_s <= now_s)
        if len(ready):
            self._last_sent_s = now_s
        size = self._known.message_rows
        return [self._ask_for(ready[first : first + size]) for first in range(0, len(ready), size)]

    def _ask_for(self, slots: Indices) -> Ask:
        self._ready_s[slots] = np.inf
        rows = self._rows[slots]
        rows[:, :8] = self._unit[slots].view(np.uint8).reshape(-1, 8)
        ticket = next(self._tickets)
        self._asked[ticket] = slots, rows
        self._n_thinking -= len(slots)
        legal, offsets = self._legal[: len(slots) * self._known.actions], self._offsets[: len(slots) + 1]
        return Ask(ticket, 0, len(slots), self._n_thinking, rows, legal, offsets)

    def _check(self, answers: list[Answer], rows: NDArray[np.uint8]) -> None:
        priors, values = sim_answers(rows, self._offsets[: len(rows) + 1], self._players)
        _check_equal("priors", np.concatenate([answer.priors for answer in answers]), priors)
        _check_equal("values", np.concatenate([answer.values for answer in answers]), values)

    def _report(self, *, is_idle: bool) -> list[Message]:
        """Tell of finished units in handfuls, and of the last ones at once."""
        if not self._n_done or not (is_idle or self._n_done >= _REPORT_UNITS):
            return []
        jobs = np.concatenate([jobs for jobs, _ in self._done])
        units = np.concatenate([units for _, units in self._done])
        self._done, self._n_done = [], 0
        return [Done(int(job), units[jobs == job]) for job in np.unique(jobs)]


def think_times(load: LoadSettings, count: int, random: np.random.Generator) -> Floats:
    """Draw float64[count] think times in seconds; stragglers take their own fixed time."""
    think_s = load.think_ms / 1000
    if load.law == "constant":
        times = np.full(count, think_s)
    elif load.law == "exponential":
        times = random.exponential(think_s, count)
    else:  # lognormal with deviation 1 of the logarithm
        times = random.lognormal(np.log(think_s) - 0.5, 1.0, count)
    if load.straggler_share:
        times[random.random(count) < load.straggler_share] = load.straggler_ms / 1000
    return times


def _check_equal(name: str, got: NDArray[Any], wanted: NDArray[Any]) -> None:
    assert np.array_equal(got, wanted), f"the {name} are not those of the rows that were asked about"
