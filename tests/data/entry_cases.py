"""Games to store, each known by its unit."""

import numpy as np
from finished import entry_of

from asyncplay.data.entries import GameEntry
from asyncplay.payloads import Record


def make_game(unit: int, *, rows: int = 3, time_s: float = 1000.0) -> GameEntry:
    """A game of ``rows`` searched decisions, all of it a function of its unit."""
    random = np.random.default_rng(unit)
    record = Record(
        actions=random.integers(0, 7, rows).astype(np.int32),
        decisions=np.arange(rows, dtype=np.int32),
        seats=(np.arange(rows) % 2).astype(np.int8),
        versions=np.full(rows, unit // 10, np.int32),
        counts=np.full(rows, 2, np.int32),
        policy_actions=np.tile(np.array([1, 4], np.int32), rows),
        policies=np.tile(np.array([0.25, 0.75], np.float32), rows),
    )
    returns = np.array([1.0, -1.0]) if unit % 2 else np.array([-1.0, 1.0])
    return entry_of(
        record,
        worker=unit % 3,
        time_s=time_s + unit,
        unit=unit,
        seed=unit * 7,
        reason="rules",
        returns=returns,
        outcome=returns.astype(np.float32),
    )
