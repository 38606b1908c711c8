"""Infosets between processes: the kernels against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.solve import deltas
from asyncplay.solve.deltas import MergedTable
from asyncplay.solve.regret import REGRET

OFFSETS = np.array([0, 3, 4, 9, 11], np.int32)
INFOSETS = st.lists(st.integers(0, 3), max_size=12)


def entries(infosets) -> list[int]:
    return [entry for infoset in infosets for entry in range(OFFSETS[infoset], OFFSETS[infoset + 1])]


@given(INFOSETS, st.integers(1, 9))
def test_merging_is_addition_with_divided_regrets(infosets, workers):
    table = MergedTable(OFFSETS, np.arange(22.0).reshape(11, 2))
    twin = table.values.copy()
    regrets, sums = np.sin(np.arange(len(entries(infosets)))), np.cos(np.arange(len(entries(infosets))))
    table.merge(np.array(infosets, np.int32), regrets, sums, workers)
    for place, entry in enumerate(entries(infosets)):
        twin[entry] += regrets[place] / workers, sums[place]

    np.testing.assert_array_equal(table.values, twin)
    assert table.n_known == len(set(infosets))
    assert table.known().tolist() == sorted(set(infosets))


@given(INFOSETS)
def test_what_is_gathered_can_be_put_into_another_table(infosets):
    here, there = np.random.default_rng(1).random((11, 2)), np.zeros((11, 2))
    regrets = MergedTable(OFFSETS, here).regrets(np.array(infosets, np.int32))
    regrets.flags.writeable = False  # as it comes off the wire
    deltas.put_regrets(OFFSETS, there, np.array(infosets, np.int32), regrets)

    np.testing.assert_array_equal(regrets, here[entries(infosets), REGRET])
    np.testing.assert_array_equal(there[entries(infosets)], here[entries(infosets)] * [1, 0])


@given(st.lists(INFOSETS, max_size=5))
def test_a_union_has_every_infoset_once_in_order_of_appearance(blocks):
    table = MergedTable(OFFSETS, np.zeros((11, 2)))
    for _ in range(2):  # nothing of the first stays behind
        union = table.union([np.array(infosets, np.int32) for infosets in blocks])
        assert union.tolist() == list(dict.fromkeys(infoset for infosets in blocks for infoset in infosets))


@given(INFOSETS, st.integers(1, 12))
def test_stretches_cover_all_infosets_and_none_is_too_long_unless_it_is_one_infoset(infosets, most):
    cuts = deltas.stretches(OFFSETS, np.array(infosets, np.int32), most)
    assert [infoset for start, stop in cuts for infoset in infosets[start:stop]] == infosets
    assert all(len(entries(infosets[start:stop])) <= most or stop == start + 1 for start, stop in cuts)
