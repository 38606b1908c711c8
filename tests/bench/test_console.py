"""The interval that `bench console` gives: of a median, by ranks."""

import numpy as np

from asyncplay.bench.console import interval


def test_the_interval_of_a_median_is_made_of_ranks():
    """Of 100 values the 40th and the 61st or so: 50 -+ 1.96 * 5 ranks."""
    assert interval([float(value) for value in range(100)]) == (40.0, 60.0)
    assert interval([3.0]) == (3.0, 3.0)


def test_nineteen_intervals_in_twenty_hold_the_median():
    random = np.random.default_rng(0)
    held = [low <= 0 <= high for low, high in (interval(random.standard_cauchy(121)) for _ in range(2000))]
    assert 0.94 < np.mean(held) < 0.98
