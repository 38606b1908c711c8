"""Histograms that forget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.stats import Histogram

FOR_EVER = 1e12
values = st.lists(st.floats(1e-5, 1e6), min_size=1, max_size=200)


def filled(entries, memory: float = FOR_EVER) -> Histogram:
    histogram = Histogram(memory)
    for entry in entries:
        histogram.add(float(entry))
    return histogram


@given(values, st.floats(0.01, 1.0))
def test_a_quantile_is_at_most_19_percent_above_the_exact_one_and_never_below(entries, share):
    """The twin is numpy's quantile by counting; a rounding error may take a neighbour at the very edge."""
    found = filled(entries).quantile(share)
    low, high = np.quantile(entries, [max(share - 1e-9, 0.0), min(share + 1e-9, 1.0)], method="inverted_cdf")
    assert low * (1 - 1e-9) <= found <= high * 1.19


def test_quantiles_of_a_lognormal_sample_agree_with_numpy():
    sample = np.random.default_rng(3).lognormal(-6, 1.5, 20_000)
    histogram = filled(sample)
    for share in (0.01, 0.1, 0.5, 0.9, 0.99, 1.0):
        exact = np.quantile(sample, share)
        assert exact * 0.99 <= histogram.quantile(share) <= exact * 1.20


def test_an_empty_histogram_says_zero():
    assert Histogram().quantile(0.5) == 0.0
    assert Histogram().octaves() == {}


def test_powers_of_two_are_exact():
    histogram = filled([1, 2, 2, 4, 1024])
    assert [histogram.quantile(share) for share in (0.1, 0.5, 0.7, 1.0)] == [1, 2, 4, 1024]


def test_what_is_too_small_or_too_large_counts_at_the_ends():
    histogram = filled([0.0, -3.0, 1e-300, 1e300])
    assert histogram.quantile(0.5) == 2.0**-20
    assert histogram.quantile(1.0) == 2.0**23.75


def test_octaves_are_shares_that_add_up_to_one():
    shares = filled([1, 1, 3, 4, 100, 100, 100, 128]).octaves()
    assert shares == {0: pytest.approx(0.25), 2: pytest.approx(0.25), 7: pytest.approx(0.5)}


@given(values)
def test_octaves_always_add_up_to_one(entries):
    assert sum(filled(entries, memory=50).octaves().values()) == pytest.approx(1.0)


def test_memory_fades():
    """After as many new values as the memory holds, the old ones weigh 1/e; after five times that, 1 %."""
    histogram = filled([1.0] * 1000, memory=1000)
    for _ in range(1000):
        histogram.add(1024.0)
    old = histogram.octaves()[0]
    first_half = 1 - np.exp(-1)  # of the weight of everything since the beginning
    assert old == pytest.approx(first_half * np.exp(-1) / (first_half * np.exp(-1) + first_half), abs=0.002)
    for _ in range(4000):
        histogram.add(1024.0)
    assert histogram.octaves()[0] < 0.01
    assert histogram.quantile(0.02) == 1024.0


@given(values, values)
def test_what_came_since_a_copy_is_told_apart_from_what_was_before(before, after):
    histogram = filled(before)
    earlier = histogram.copy()
    for entry in after:
        histogram.add(entry)
    since, alone = histogram.since(earlier), filled(after)
    assert since.octaves() == pytest.approx(alone.octaves(), abs=1e-6)
    assert earlier.octaves() == filled(before).octaves()


def test_what_came_since_a_copy_is_right_also_after_the_weights_were_cut_down():
    """With a memory of 10 the weights are cut every 290 values."""
    histogram = filled([1.0] * 280, memory=10)
    earlier = histogram.copy()
    for _ in range(20):
        histogram.add(1024.0)
    assert histogram.since(earlier).octaves() == {10: pytest.approx(1.0)} | {0: pytest.approx(0.0, abs=1e-9)}
    assert histogram.since(histogram.copy()).octaves() == {}


def test_weights_stay_finite_however_old_the_run_is():
    """With a memory of 10 the weights pass 1e12 every 290 values; nothing of that is seen outside."""
    histogram = Histogram(memory=10)
    for turn in range(5000):
        histogram.add(2.0 if turn % 2 else 4.0)
        if turn > 100:
            assert histogram.octaves()[1] + histogram.octaves()[2] == pytest.approx(1.0)
            assert 0.4 < histogram.octaves()[1] < 0.6
