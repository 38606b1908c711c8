"""Rows of random play."""

import numpy as np

from asyncplay import games
from asyncplay.games.sampling import random_rows


def test_sampled_rows_have_a_choice_and_are_of_different_positions():
    rows = random_rows(games.load("tictactoe"), 40)

    assert rows.features.shape == (40, 18)
    assert (np.diff(rows.offsets) > 1).all()
    assert len({row.tobytes() for row in rows.features}) > 20


def test_the_same_seed_gives_the_same_rows():
    one, other = (random_rows(games.load("tictactoe"), 20, seed=3) for _ in range(2))

    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_array_equal(one.legal, other.legal)
