"""How well each firing policy feeds a device, in virtual time.

Every slot asks for one row, waits for the answer, thinks, asks again. The device is the simulated
accelerator: a batch of n rows takes ``DEVICE_S + n / ROWS_PER_S``. The fire rule and the tuner are the real
ones; only the clock, the device and the slots are made up. All policies of a row of the table see the same
slots with the same think times.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.engine import firing
from asyncplay.engine.firing import Arm, QueueView, Rule
from asyncplay.engine.silence import SilenceLimit
from asyncplay.engine.tuner import Tuner

DEVICE_S, ROWS_PER_S, MAX_ROWS = 0.6e-3, 300e3, 1024
MAX_RATE = MAX_ROWS / (DEVICE_S + MAX_ROWS / ROWS_PER_S)
HARD_CAP_S = 0.05
THINK_S, STRAGGLE_S, STRAGGLE_SHARE = 1e-3, 50e-3, 0.02
WATCHED_SLOTS = 16  # whose silences make the silence limit that all slots share here

SLOTS = (16, 48, 128, 512, 2048, 8192)
THINKS = ("exponential", "constant", "stragglers")
TIMEOUTS_S = {"greedy": 0.0, "1ms": 1e-3, "5ms": 5e-3, "50ms": 50e-3}
POLICIES = ("auto", *TIMEOUTS_S, "barrier")

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Row(NamedTuple):
    """One line of the table."""

    slots: int
    think: str
    policy: str
    rows_per_s: float
    share_of_max: float  # of what the device does when every batch is full


class Policy(Protocol):
    """What differs between two lines."""

    is_auto: bool

    def rule(self) -> Rule: ...

    def completed(self, now_s: float, rows: int, service_s: float) -> None: ...


class Pinned:
    """A plain timer; 0 is greedy, and inf with ``max_rows`` slots is the barrier."""

    is_auto = False

    def __init__(self, pinned_s: float, max_rows: int = MAX_ROWS) -> None:
        self._rule = Rule(max_rows, pinned_s, HARD_CAP_S, Arm.NONE, DEVICE_S, 0.0)

    def rule(self) -> Rule:
        return self._rule

    def completed(self, now_s: float, rows: int, service_s: float) -> None:
        pass


class Auto:
    """The learned linger, its trials included."""

    is_auto = True

    def __init__(self, seed: int) -> None:
        self.tuner = Tuner(seed=seed)
        self.completed = self.tuner.completed

    def rule(self) -> Rule:
        return Rule(MAX_ROWS, None, HARD_CAP_S, self.tuner.arm, self.tuner.fixed_s, 0.0)


class Slots:
    """When each slot asks next. Think times are drawn before, so that no policy changes them."""

    def __init__(self, thinks_s: Floats, first_s: Floats) -> None:
        self._thinks_s = thinks_s  # float64[slots, k], used in a circle
        self.turns = np.ones(len(first_s), np.int64)  # thinks begun
        self.next_ask_s = first_s.copy()  # inf while queued or on the device
        self.asked_s = np.zeros(len(first_s))
        self.began_s = np.zeros(len(first_s))
        self.silence_limit = SilenceLimit()

    def asking(self, now_s: float) -> Indices:
        """Return the slots whose think time has ended, in order of asking; they wait from then on."""
        slots = np.flatnonzero(self.next_ask_s <= now_s)
        slots = slots[np.argsort(self.next_ask_s[slots], kind="stable")]
        self.asked_s[slots] = self.next_ask_s[slots]
        self.next_ask_s[slots] = math.inf
        for slot in slots[slots < WATCHED_SLOTS]:
            self.silence_limit.observe(float(self.asked_s[slot] - self.began_s[slot]))
        return slots

    def answer(self, slots: Indices, now_s: float) -> None:
        """Let these slots think again."""
        turns = self.turns[slots]
        self.next_ask_s[slots] = now_s + self._thinks_s[slots, turns % self._thinks_s.shape[1]]
        self.began_s[slots] = now_s
        self.turns[slots] = turns + 1


class LiveSet:
    """The slots expected to ask while the device is idle: those that think, and not longer than the silence limit."""

    def __init__(self, slots: Slots) -> None:
        thinking = slots.next_ask_s < math.inf
        deadline_s = slots.began_s[thinking] + slots.silence_limit.limit_s(1e-3, 1.0)
        leaves_s = np.minimum(slots.next_ask_s[thinking], deadline_s)
        order = np.argsort(leaves_s, kind="stable")
        self._leaves_s: list[float] = leaves_s[order].tolist()
        self._last_s: list[float] = np.maximum.accumulate(deadline_s[order][::-1])[::-1].tolist()

    def at(self, now_s: float) -> tuple[int, float]:
        """Return how many there are, and the seconds until the last one passes its silence limit."""
        gone = bisect_right(self._leaves_s, now_s)
        thinking = len(self._leaves_s) - gone
        return thinking, self._last_s[gone] - now_s if thinking else 0.0


def run_virtual(
    *,
    seconds: float = 4.0,
    seed: int = 1,
    slots: Iterable[int] = SLOTS,
    thinks: Sequence[str] = THINKS,
    policies: Sequence[str] = POLICIES,
) -> list[Row]:
    """Return one row for every slot count, think law and policy; deterministic for a seed."""
    rows = []
    for n_slots, think in product(slots, thinks):
        thinks_s, first_s = _draw(n_slots, think, seconds=seconds, seed=seed)
        fixed = {name: Pinned(timeout_s) for name, timeout_s in TIMEOUTS_S.items()}
        fixed["barrier"] = Pinned(math.inf, min(MAX_ROWS, n_slots))
        for name in policies:
            policy: Policy = Auto(seed) if name == "auto" else fixed[name]
            rate = serve(Slots(thinks_s, first_s), policy, seconds)
            rows.append(Row(n_slots, think, name, rate, rate / MAX_RATE))
    return rows


def _draw(n_slots: int, think: str, *, seconds: float, seed: int) -> tuple[Floats, Floats]:
    """Return think times float64[slots, k], more than will be used, and staggered first ones."""
    rng = np.random.default_rng([seed, n_slots, THINKS.index(think)])
    turns = min(seconds / (THINK_S + DEVICE_S), seconds * ROWS_PER_S / n_slots)
    shape = n_slots, 64 + int(1.5 * turns)
    thinks_s = np.full(shape, THINK_S) if think == "constant" else rng.exponential(THINK_S, shape)
    if think == "stragglers":
        thinks_s[rng.random(shape) < STRAGGLE_SHARE] = STRAGGLE_S
    return thinks_s, thinks_s[:, 0] * rng.random(n_slots)


def serve(slots: Slots, policy: Policy, seconds: float) -> float:
    """Return the rows/s of so many seconds, the first sixteenth left out as warm-up."""
    queue, now_s, rows = np.empty(0, np.int64), 0.0, 0
    while True:
        rule = policy.rule()
        view, fired_s = wait_until_due(slots, queue, rule, now_s=now_s, is_auto=policy.is_auto)
        n_due = firing.rows_due(view, rule)
        queue = np.concatenate((queue, slots.asking(fired_s)))
        service_s = DEVICE_S + n_due / ROWS_PER_S
        now_s = fired_s + service_s
        if now_s > seconds:
            return rows / (seconds * 15 / 16)
        batch, queue = queue[:n_due], np.concatenate((queue[n_due:], slots.asking(now_s)))
        slots.answer(batch, now_s)
        policy.completed(now_s, n_due, service_s)
        rows += n_due if now_s > seconds / 16 else 0


def wait_until_due(slots: Slots, queue: Indices, rule: Rule, *, now_s: float, is_auto: bool) -> tuple[QueueView, float]:
    """While the device is idle, asks come one at a time, those of one instant together; return what the rule sees when
    it fires, and that time."""
    asks_s: list[float] = np.sort(slots.next_ask_s[slots.next_ask_s < math.inf]).tolist()
    come, rows, waited_row_s = 0, len(queue), 0.0
    oldest_s = float(slots.asked_s[queue[0]]) if rows else math.inf
    live = LiveSet(slots) if is_auto else None
    while True:
        thinking, left_s = live.at(now_s) if live else (0, 0.0)
        view = QueueView(rows, now_s - oldest_s, waited_row_s, thinking, left_s, 0.0)
        wait_s = firing.seconds_until_due(view, rule)
        if wait_s <= 0:
            return view, now_s
        ask_s = asks_s[come] if come < len(asks_s) else math.inf
        to_s = min(now_s + wait_s, ask_s)
        assert to_s < math.inf, "every slot waits and the rule does not fire"
        waited_row_s += rows * (to_s - now_s)
        now_s = to_s
        if to_s == ask_s:
            oldest_s = min(oldest_s, ask_s)
            come, before = bisect_right(asks_s, ask_s, come), come
            rows += come - before
