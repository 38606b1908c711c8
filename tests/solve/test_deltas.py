"""Rows between processes: the kernels against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.solve import deltas
from asyncplay.solve.deltas import MergedTable

OFFSETS = np.array([0, 3, 4, 9, 11], np.int32)
ROWS = st.lists(st.integers(0, 3), max_size=12)


def entries(rows) -> list[int]:
    return [entry for row in rows for entry in range(OFFSETS[row], OFFSETS[row + 1])]


@given(ROWS, st.integers(1, 9))
def test_merging_is_addition_with_divided_regrets(rows, workers):
    table = MergedTable(OFFSETS, np.arange(22.0).reshape(11, 2))
    twin = table.values.copy()
    regrets, sums = np.sin(np.arange(len(entries(rows)))), np.cos(np.arange(len(entries(rows))))
    table.merge(np.array(rows, np.int32), regrets, sums, workers)
    for place, entry in enumerate(entries(rows)):
        twin[entry] += regrets[place] / workers, sums[place]

    np.testing.assert_array_equal(table.values, twin)
    assert table.n_known == len(set(rows))
    assert table.known().tolist() == sorted(set(rows))


@given(ROWS)
def test_what_is_gathered_can_be_put_into_another_table(rows):
    here, there = np.random.default_rng(1).random((11, 2)), np.zeros((11, 2))
    regrets = MergedTable(OFFSETS, here).regrets(np.array(rows, np.int32))
    regrets.flags.writeable = False  # as it comes off the wire
    deltas.put_regrets(OFFSETS, there, np.array(rows, np.int32), regrets)

    np.testing.assert_array_equal(regrets, here[entries(rows), deltas.REGRET])
    np.testing.assert_array_equal(there[entries(rows)], here[entries(rows)] * [1, 0])


@given(st.lists(ROWS, max_size=5))
def test_a_union_has_every_row_once_in_order_of_appearance(blocks):
    table = MergedTable(OFFSETS, np.zeros((11, 2)))
    for _ in range(2):  # nothing of the first stays behind
        union = table.union([np.array(rows, np.int32) for rows in blocks])
        assert union.tolist() == list(dict.fromkeys(row for rows in blocks for row in rows))


@given(ROWS, st.integers(1, 12))
def test_stretches_cover_all_rows_and_none_is_too_long_unless_it_is_one_row(rows, most):
    cuts = deltas.stretches(OFFSETS, np.array(rows, np.int32), most)
    assert [row for start, stop in cuts for row in rows[start:stop]] == rows
    assert all(len(entries(rows[start:stop])) <= most or stop == start + 1 for start, stop in cuts)
