import math

import numpy as np
import pytest
from model_cases import BOARD, SHAPES, shaken

from asyncplay.errors import AsyncplayError
from asyncplay.model.nets import build, distance, from_bytes, snapshot, to_bytes


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_weights_survive_a_file(shape):
    weights = shaken(snapshot(build(shape, 0)))
    back = from_bytes(to_bytes(weights))
    assert set(back) == set(weights)
    for name, value in weights.items():
        np.testing.assert_array_equal(back[name], value)
        assert back[name].dtype == np.float32


def test_a_snapshot_is_a_row_major_copy():
    net = build(BOARD, 0)
    weights = snapshot(net)
    kept = weights["stem.0.weight"].copy()
    net.stem[0].weight.data.zero_()
    np.testing.assert_array_equal(weights["stem.0.weight"], kept)
    assert all(value.flags.c_contiguous for value in weights.values())


def test_the_distance_is_relative_to_the_length_of_the_old_weights():
    """The old length is 5, the difference has length 1."""
    old = {"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}
    new = {"a": np.array([3.0, 0.6]), "b": np.array([[4.8]])}
    assert distance(new, old) == pytest.approx(0.2)
    assert distance(old, old) == 0


def test_everything_is_infinitely_far_from_nothing():
    assert distance({"a": np.ones(2)}, {"a": np.zeros(2)}) == math.inf


def test_other_bytes_are_refused_in_one_line():
    with pytest.raises(AsyncplayError, match="these 8 bytes are no safetensors file"):
        from_bytes(b"nonsense")
