"""When the gathered queries go to the device, and how many of them: pure functions of a snapshot."""

import enum
import math
from typing import NamedTuple

RESOLUTION_S = 1e-9  # clocks are no finer; a rest below it counts as waited
PILE = 4.0  # INTEGRAL waits for this many launches' worth of queueing


class Arm(enum.Enum):
    """What an idle device waits for while some live slots are still thinking.

    Which one pays depends on how long thinking takes against a, the fixed part of a batch, and on how
    much it varies. Simulated with 16 to 512 slots, a = .6 ms and thinking from .1 to 3 ms:

    NONE      Fire. Best where thinking varies and takes longer than a.
    INTEGRAL  Until the queued rows have together waited 4 a since the device fell idle. Best where
              thinking varies and takes less than a: 1.01 to 1.3 of NONE. (Waiting 1 a gets between a
              quarter and two thirds of that gain.)
    HALF      Until half of what will be asked is there, and never more than half at once, both in rows: a slot
              may ask for hundreds, and cutting its rows in two would let it wait for both batches. Slots that think
              equally long move in lock-step, and two cohorts keep device and thinkers busy together: 1.0
              to 1.2 of NONE and 1.02 to 1.14 of ALL where thinking takes longer than a. It also parts a
              crowd that ALL has driven together and that no other arm would part again.
    ALL       Until all have asked. Best in lock-step where thinking takes less than a: 1.1 to 1.6 of NONE.
    """

    NONE = 0
    INTEGRAL = 1
    HALF = 2
    ALL = 3


class QueueView(NamedTuple):
    """Snapshot of the queue; all times in seconds."""

    rows: int
    oldest_wait_s: float  # since the oldest queued request came
    waited_row_s: float  # integral of queued rows over time since the device fell idle
    thinking: int  # live slots that have not asked yet
    live_left_s: float  # until the last of them leaves the live set if it stays silent; 0 without any
    free_in_s: float  # 0 when the device can take a batch now, inf while its end is unknown
    rows_per_slot: float = 1.0  # that a thinking slot will ask for


class Rule(NamedTuple):
    """What decides, besides the queue."""

    max_rows: int
    pinned_s: float | None  # the user's timeout; None leaves it to the arm
    hard_cap_s: float  # without a pinned timeout, the longest the oldest request waits for company
    arm: Arm
    fixed_s: float  # a of the service time a + b n
    lead_s: float  # launch this long before the device falls free


def seconds_until_due(view: QueueView, rule: Rule) -> float:
    """Return 0 to fire now, otherwise after how long to ask again unless something happens before.

    It is inf when only an event can change the answer: nothing is queued, or the device is busy.
    """
    if view.rows == 0:
        return math.inf
    if view.free_in_s - rule.lead_s > RESOLUTION_S:
        return view.free_in_s - rule.lead_s
    if view.rows >= rule.max_rows:
        return 0.0
    left_s = _linger_s(view, rule) if rule.pinned_s is None else rule.pinned_s - view.oldest_wait_s
    return left_s if left_s > RESOLUTION_S else 0.0


def rows_due(view: QueueView, rule: Rule) -> int:
    """Return how many of the queued rows a batch takes that is due, the oldest first."""
    rows = min(view.rows, rule.max_rows)
    if rows == rule.max_rows or rule.pinned_s is not None or rule.arm is not Arm.HALF:
        return rows
    return min(rows, math.ceil((rows + view.thinking * view.rows_per_slot) / 2))


def _linger_s(view: QueueView, rule: Rule) -> float:
    """Return how much longer an idle device waits in auto mode, if no row comes meanwhile."""
    if view.thinking == 0 or rule.arm is Arm.NONE:
        return 0.0
    if rule.arm is Arm.INTEGRAL:
        wanted_s = (PILE * rule.fixed_s - view.waited_row_s) / view.rows
    elif rule.arm is Arm.HALF:
        wanted_s = math.inf if view.rows < view.thinking * view.rows_per_slot else 0.0
    else:
        # Waiting for k slots saves k launches at most, so it is never worth more than k a. This
        # is what a straggler costs, instead of its whole absence.
        wanted_s = view.thinking * rule.fixed_s - view.waited_row_s / view.rows
    return min(rule.hard_cap_s - view.oldest_wait_s, view.live_left_s, wanted_s)
