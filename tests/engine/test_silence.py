"""Habits of silence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.engine.silence import SilenceLimit


def watched(intervals_s):
    silence_limit = SilenceLimit()
    for interval_s in intervals_s:
        silence_limit.observe(interval_s)
    return silence_limit


def test_the_limit_is_four_deviations_above_the_mean_logarithm():
    """Half at 1 s and half at e^2 s: mean 1, deviation 1, hence e^5 without a ceiling in the way."""
    silence_limit = SilenceLimit()
    for _ in range(100):
        silence_limit.observe(1.0)
        silence_limit.observe(math.e**2)
    assert silence_limit.limit_s(0.001, 1e9) == pytest.approx(math.e**5, rel=1e-6)


def test_a_steady_habit_makes_a_tight_limit():
    assert watched([0.5] * 20).limit_s(0.001, 60.0) == pytest.approx(0.5)


def test_nothing_is_unusual_before_there_is_a_habit():
    assert watched([0.01] * 3).limit_s(0.001, 60.0) == 60.0


def test_an_old_habit_is_forgotten():
    """2,000 intervals are eight memories: e^-8 of the old mean is left, and less than .15 deviation."""
    assert watched([0.01] * 1000 + [1.0] * 2000).limit_s(0.001, 60.0) < 2.0


@given(st.lists(st.floats(0.0, 1e6), max_size=50))
def test_the_limit_keeps_between_floor_and_ceiling(intervals_s):
    assert 0.001 <= watched(intervals_s).limit_s(0.001, 60.0) <= 60.0
