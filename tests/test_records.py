"""The compact record of a game."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.payloads import Record, RecordDamaged, dense, offsets_of, pack, sparse, unpack


@st.composite
def games(draw, largest: int = 300) -> tuple[Record, np.ndarray, np.ndarray, np.ndarray]:
    """A record and the legal actions, offsets and policies it was made of."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_actions = draw(st.integers(1, largest))
    n_rows = draw(st.integers(0, 12))
    rows = [np.sort(random.choice(n_actions, random.integers(1, min(n_actions, 9) + 1), False)) for _ in range(n_rows)]
    offsets = offsets_of(np.array([len(row) for row in rows], np.int64))
    legal = np.concatenate([*rows, []]).astype(np.int32)
    targets = (random.random(len(legal)) * random.integers(0, 2, len(legal))).astype(np.float32)
    record = Record(
        random.integers(0, n_actions, n_rows + 3).astype(np.int32),
        np.sort(random.choice(n_rows + 3, n_rows, False)).astype(np.int32),
        random.integers(0, 8, n_rows).astype(np.int8),
        random.integers(0, 10**6, n_rows).astype(np.int32),
        *sparse(legal, offsets, targets),
    )
    return record, legal, offsets, targets


@given(games())
def test_a_record_survives_packing_to_the_last_bit(game):
    record = game[0]
    for column, back in zip(record, unpack(pack(record)), strict=True):
        assert column.dtype == back.dtype
        np.testing.assert_array_equal(column, back)


@given(games())
def test_policies_come_back_over_the_same_legal_actions(game):
    record, legal, offsets, targets = game
    np.testing.assert_array_equal(dense(record, legal, offsets), targets)


def test_an_action_takes_the_bytes_that_the_largest_one_needs():
    """A head of 16 bytes, and 10 actions of 1, 2 or 4."""
    none = np.empty(0, np.int32)
    rest = (none, none.astype(np.int8), none, none, none, none.astype(np.float32))
    sizes = [len(pack(Record(np.full(10, action, np.int32), *rest))) for action in (255, 256, 65_536)]
    assert sizes == [16 + 10, 16 + 20, 16 + 40]


@given(games(largest=20), st.data())
def test_a_record_cut_short_or_lengthened_is_refused(game, data):
    whole = pack(game[0])
    kept = data.draw(st.integers(0, len(whole) - 1))
    for damaged in (whole[:kept], whole + b"x"):
        with pytest.raises(RecordDamaged):
            unpack(damaged)


def test_a_policy_for_an_action_that_is_not_legal_is_refused():
    record = Record(*(np.array(column, np.int32) for column in ([1], [0], [0], [0], [1], [4])), np.ones(1, np.float32))
    with pytest.raises(RecordDamaged, match="not legal"):
        dense(record, np.array([1, 3], np.int32), np.array([0, 2], np.int32))
