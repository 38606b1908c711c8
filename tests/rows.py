"""Training rows, each known by its number, for tests of what stores, mixes and learns from them."""

from functools import cache

import numpy as np

from asyncplay.payloads import Examples, concatenate, offsets_of

FEATURES, ACTIONS, PLAYERS, WORDS = 5, 9, 3, 2


def make_rows(n: int, *, first: int = 0, actions: int = ACTIONS) -> Examples:
    """Rows ``first`` to ``first + n``; a row's version is its number."""
    return concatenate([make_row(first + place, actions) for place in range(max(n, 1))]).part(0, n)


@cache
def make_row(number: int, actions: int = ACTIONS) -> Examples:
    """One row, all of it a function of its number; nobody changes it."""
    random = np.random.default_rng(number)
    legal = random.permutation(actions)[: random.integers(1, actions + 1)].astype(np.int32)
    return Examples(
        features=random.integers(0, 256, (1, FEATURES)).astype(np.uint8),
        legal=legal,
        offsets=offsets_of(np.array([len(legal)])),
        targets=random.random(len(legal), np.float32),
        values=random.uniform(-1, 1, (1, PLAYERS)).astype(np.float32),
        seats=random.integers(1, PLAYERS + 1, 1).astype(np.int32),
        weight=random.uniform(0.5, 2, 1).astype(np.float32),
        versions=np.array([number], np.int32),
        states=random.integers(-(2**63), 2**63, (1, WORDS)),
    )


def assert_same(left: Examples, right: Examples) -> None:
    """Both hold the same rows in the same order, in the same types."""
    for name in Examples._fields:
        ours, theirs = getattr(left, name), getattr(right, name)
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
