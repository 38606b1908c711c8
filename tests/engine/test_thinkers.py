"""Who is waited for, against a plain loop over all workers."""

import math

from hypothesis import given
from hypothesis import strategies as st

from asyncplay.engine.thinkers import SPARE, Thinkers, ThinkingWorkers

changes = st.tuples(st.integers(0, 5), st.integers(0, 4), st.floats(0.0, 3.0))
asks = st.floats(0.0, 1.0)


@given(st.lists(changes | asks, max_size=120))
def test_any_mix_of_changes_and_questions_counts_as_a_loop_over_all_workers_does(events):
    """A deadline is some time after the last question; the loop is the function as it was."""
    live, known, now_s = ThinkingWorkers(), {}, 0.0
    for event in events:
        if isinstance(event, float):
            now_s += event
            left = [(slots, until_s - now_s) for slots, until_s in known.values() if slots and until_s - now_s > 0]
            expected = Thinkers(sum(slots for slots, _ in left), max((still_s for _, still_s in left), default=0.0))
            assert live.at(now_s) == expected
        else:
            worker, slots, after_s = event
            known[worker] = slots, now_s + after_s
            live.change(worker, slots, now_s + after_s)


def test_before_all_time_nobody_is_late():
    live = ThinkingWorkers()
    live.change("a", 2, 1.0)
    live.change("b", 3, 5.0)
    assert live.at(-math.inf) == Thinkers(5, math.inf)


def test_what_is_out_of_date_is_thrown_away():
    """However often workers change, there are never more than a few entries for each."""
    live = ThinkingWorkers()
    for event in range(100_000):
        live.change(event % 10, 1, 1000.0 - event % 7)
        assert len(live._latest) <= 2 * 10 + SPARE + 1
    assert live.at(0.0) == Thinkers(10, 1000.0)
