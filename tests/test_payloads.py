import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import assert_same, make_row, make_rows

from asyncplay.payloads import concatenate


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_parts_put_together_are_the_whole(cut):
    whole = make_rows(10)
    assert_same(concatenate([whole.part(0, cut), whole.part(cut, 10)]), whole)


def test_a_part_owns_its_rows_legal_actions():
    whole = make_rows(10)
    part = whole.part(3, 5)
    assert part.rows == 2
    assert part.offsets[0] == 0
    np.testing.assert_array_equal(
        part.legal[part.offsets[1] : part.offsets[2]], whole.legal[whole.offsets[4] : whole.offsets[5]]
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_picked_rows_are_the_named_rows_in_the_named_order(rows):
    picked = make_rows(10).pick(np.array(rows, np.int64))
    assert_same(picked, concatenate([make_row(row) for row in rows]))
