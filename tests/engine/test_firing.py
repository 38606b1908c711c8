"""The fire rule, in numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.engine.firing import RESOLUTION_S, Arm, QueueView, Rule, rows_due, seconds_until_due

IDLE = QueueView(rows=10, oldest_wait_s=0.0, waited_row_s=0.0, thinking=30, live_left_s=5.0, free_in_s=0.0)
AUTO = Rule(max_rows=64, pinned_s=None, hard_cap_s=0.05, arm=Arm.NONE, fixed_s=0.002, lead_s=0.0)
PINNED = AUTO._replace(pinned_s=0.003)

seconds = st.floats(0.0, 10.0)
arms = st.sampled_from(Arm)
views = st.builds(
    QueueView,
    rows=st.integers(0, 100),
    oldest_wait_s=seconds,
    waited_row_s=seconds,
    thinking=st.integers(0, 100),
    live_left_s=seconds,
    free_in_s=st.just(0.0),
    rows_per_slot=st.floats(1, 256),
)


def auto(arm):
    return AUTO._replace(arm=arm)


@pytest.mark.parametrize("rule", [PINNED, *map(auto, Arm)])
def test_an_empty_queue_waits_for_an_event(rule):
    assert seconds_until_due(IDLE._replace(rows=0, thinking=0), rule) == math.inf


@pytest.mark.parametrize("rule", [PINNED, *map(auto, Arm)])
def test_a_busy_device_only_gathers(rule):
    assert seconds_until_due(IDLE._replace(rows=64, free_in_s=math.inf), rule) == math.inf


def test_a_batch_leaves_the_lead_before_the_device_falls_free():
    rule = AUTO._replace(lead_s=0.001)
    assert seconds_until_due(IDLE._replace(free_in_s=0.004), rule) == pytest.approx(0.003)
    assert seconds_until_due(IDLE._replace(free_in_s=0.001), rule) == 0.0


@pytest.mark.parametrize("rule", [PINNED, *map(auto, Arm)])
def test_a_full_batch_goes(rule):
    assert seconds_until_due(IDLE._replace(rows=64), rule) == 0.0


@given(views)
def test_a_pinned_batch_goes_when_it_is_full_or_its_time_is_over_and_never_before(view):
    wait_s = seconds_until_due(view, PINNED)
    if view.rows == 0:
        assert wait_s == math.inf
    elif view.rows >= 64:
        assert wait_s == 0.0
    else:
        assert wait_s == pytest.approx(max(0.003 - view.oldest_wait_s, 0.0), abs=RESOLUTION_S)


@given(views, arms)
def test_the_oldest_row_never_waits_beyond_the_hard_cap(view, arm):
    if view.rows:
        assert seconds_until_due(view, auto(arm)) <= max(0.05 - view.oldest_wait_s, 0.0)


@given(views, arms)
def test_nobody_waits_for_slots_that_have_asked_or_left(view, arm):
    if view.rows:
        assert seconds_until_due(view._replace(thinking=0, live_left_s=0.0), auto(arm)) == 0.0
        assert seconds_until_due(view._replace(live_left_s=0.0), auto(arm)) == 0.0
        assert seconds_until_due(view, auto(arm)) <= view.live_left_s


@given(views, arms, st.floats(0.0, 1.0))
def test_a_silent_queue_fires_exactly_when_it_said_so(view, arm, share):
    """Asking again after a part of the wait gives the rest of it, so no timer is lost or renewed."""
    wait_s = seconds_until_due(view, auto(arm))
    if wait_s in (0.0, math.inf):
        return
    passed_s = share * wait_s
    later = view._replace(
        oldest_wait_s=view.oldest_wait_s + passed_s,
        waited_row_s=view.waited_row_s + view.rows * passed_s,
        live_left_s=view.live_left_s - passed_s,
    )
    assert seconds_until_due(later, auto(arm)) == pytest.approx(wait_s - passed_s, abs=2 * RESOLUTION_S)


def test_no_linger_fires_at_once():
    assert seconds_until_due(IDLE, auto(Arm.NONE)) == 0.0


def test_the_integral_waits_until_four_launches_have_piled_up():
    """4 a is .008 row-seconds; .003 are there, so ten rows need another half millisecond."""
    assert seconds_until_due(IDLE._replace(waited_row_s=0.003), auto(Arm.INTEGRAL)) == pytest.approx(0.0005)


def test_half_waits_for_half_of_the_live_slots():
    assert seconds_until_due(IDLE._replace(rows=19, thinking=21), auto(Arm.HALF)) == pytest.approx(0.05)
    assert seconds_until_due(IDLE._replace(rows=20, thinking=20), auto(Arm.HALF)) == 0.0


def test_half_counts_rows_where_a_slot_asks_for_several():
    """Twenty slots that think will bring 60 rows."""
    view = IDLE._replace(thinking=20, rows_per_slot=3.0)
    assert seconds_until_due(view._replace(rows=59), auto(Arm.HALF)) == pytest.approx(0.05)
    assert seconds_until_due(view._replace(rows=60), auto(Arm.HALF)) == 0.0


def test_all_waits_no_longer_than_the_launches_it_can_save():
    """Two thinkers can save two launches of 2 ms; ten rows have waited 1 ms each."""
    view = IDLE._replace(thinking=2, waited_row_s=0.010)
    assert seconds_until_due(view, auto(Arm.ALL)) == pytest.approx(0.003)


@given(views, arms)
def test_a_batch_takes_what_is_queued_up_to_the_limit(view, arm):
    taken = rows_due(view, auto(arm))
    assert taken <= min(view.rows, 64)
    assert taken > 0 or view.rows == 0
    if arm is not Arm.HALF:
        assert taken == min(view.rows, 64)


def test_half_parts_a_crowd_that_asks_together():
    crowd = IDLE._replace(rows=31, thinking=0)
    assert rows_due(crowd, auto(Arm.HALF)) == 16
    assert rows_due(crowd, PINNED._replace(arm=Arm.HALF)) == 31
    assert rows_due(crowd._replace(rows=70), auto(Arm.HALF)) == 64


def test_half_of_blocks_is_counted_in_rows():
    """Two of four slots have asked for 200 rows each: that is half, and neither is cut in two."""
    blocks = IDLE._replace(rows=400, thinking=2, rows_per_slot=200.0)
    wide = auto(Arm.HALF)._replace(max_rows=1024)
    assert seconds_until_due(blocks, wide) == 0.0
    assert rows_due(blocks, wide) == 400
    assert rows_due(blocks._replace(rows=600, thinking=1), wide) == 400
