import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_cases import MLP, random_positions

from asyncplay.priors import flat_index, legal_priors, segment_softmax


def slow_priors(logits, legal, offsets):
    """Plain Python, close to the formula."""
    priors = []
    for row, (start, stop) in enumerate(pairwise(offsets)):
        chosen = [float(logits[row][action]) for action in legal[start:stop]]
        raised = [math.exp(logit - max(chosen)) for logit in chosen]
        priors += [value / sum(raised) for value in raised]
    return priors


def test_a_softmax_by_hand():
    """Logits log 1, log 3 and log 6 of the legal actions; illegal ones do not count however large."""
    logits = np.log(np.array([[1, 99, 3, 6], [5, 5, 99, 99]], np.float32))
    priors = legal_priors(logits, np.array([0, 2, 3, 1, 0], np.int32), np.array([0, 3, 5], np.int32))
    np.testing.assert_allclose(priors, [0.1, 0.3, 0.6, 0.5, 0.5], rtol=1e-6)


@given(st.integers(1, 20), st.integers(0, 1000), st.floats(0.01, 1e6))
def test_priors_are_those_of_the_slow_twin_and_add_up_to_one(rows, seed, scale):
    positions = random_positions(MLP, rows, seed)
    logits = np.random.default_rng(seed).normal(0, scale, (rows, MLP.actions)).astype(np.float32)
    priors = legal_priors(logits, positions.legal, positions.offsets)
    assert priors.dtype == np.float32
    np.testing.assert_allclose(priors, slow_priors(logits, positions.legal, positions.offsets), atol=1e-6)
    np.testing.assert_allclose(np.add.reduceat(priors, positions.offsets[:-1]), 1, rtol=1e-5)


def test_huge_logits_give_no_nan():
    logits = np.array([[3e38, -3e38, 3e38]], np.float32)
    with np.errstate(over="ignore"):
        priors = legal_priors(logits, np.arange(3, dtype=np.int32), np.array([0, 3], np.int32))
    assert priors.tolist() == [0.5, 0, 0.5]


def test_no_rows_give_no_priors():
    nothing = np.empty(0, np.int32)
    assert legal_priors(np.empty((0, 4), np.float32), nothing, np.zeros(1, np.int32)).shape == (0,)


@pytest.mark.parametrize("offsets", [[0, 2, 2, 3], [0, 0, 3], [0, 3, 3]])
def test_a_row_without_legal_actions_is_refused(offsets):
    with pytest.raises(AssertionError, match="no legal action"):
        segment_softmax(np.zeros(3, np.float32), np.array(offsets, np.int32))


def test_the_flat_index_points_at_each_rows_own_logits():
    positions = random_positions(MLP, 9)
    grid = np.arange(9 * MLP.actions).reshape(9, MLP.actions)
    expected = [
        grid[row, action]
        for row in range(9)
        for action in positions.legal[positions.offsets[row] : positions.offsets[row + 1]]
    ]
    assert grid.flatten()[flat_index(positions.legal, positions.offsets, MLP.actions)].tolist() == expected
