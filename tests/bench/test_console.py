"""`bench console`: the interval it gives is of a median, by ranks; and it can be run."""

import numpy as np
import pytest

from asyncplay.bench.console import interval, measure


def test_the_interval_of_a_median_is_made_of_ranks():
    """Of 100 values the 40th and the 61st or so: 50 -+ 1.96 * 5 ranks."""
    assert interval([float(value) for value in range(100)]) == (40.0, 60.0)
    assert interval([3.0]) == (3.0, 3.0)


def test_nineteen_intervals_in_twenty_hold_the_median():
    random = np.random.default_rng(0)
    held = [low <= 0 <= high for low, high in (interval(random.standard_cauchy(121)) for _ in range(2000))]
    assert 0.94 < np.mean(held) < 0.98


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_run_is_measured_with_and_without_the_console():
    """What it costs is not asked here: two pairs of windows say nothing about that."""
    result = measure(2)
    assert result["rows_per_s_shown"] > 0
    assert result["rows_per_s_alone"] > 0
    assert result["cost_low"] <= result["cost"] <= result["cost_high"]
