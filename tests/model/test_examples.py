import numpy as np
import pytest
from model_cases import MLP, random_examples

from asyncplay.model.examples import Examples, concatenate


def assert_same(left: Examples, right: Examples) -> None:
    for name in Examples._fields:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_parts_put_together_are_the_whole(cut):
    whole = random_examples(MLP, 10)
    assert_same(concatenate([whole.part(0, cut), whole.part(cut, 10)]), whole)


def test_a_part_owns_its_rows_legal_actions():
    whole = random_examples(MLP, 10)
    part = whole.part(3, 5)
    assert part.rows == 2
    assert part.offsets[0] == 0
    np.testing.assert_array_equal(
        part.legal[part.offsets[1] : part.offsets[2]], whole.legal[whole.offsets[4] : whole.offsets[5]]
    )
