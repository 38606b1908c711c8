"""Training rows from a stored record, the same to the bit as those that came with the game."""

import numpy as np

from asyncplay.games.kernels import Kernel
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array
from asyncplay.records import Record, RecordDamaged, dense
from asyncplay.search.examples import Examples, GameRecord, rebuild_examples


def rebuild_rows(spec: GameSpec, rebuild: Kernel, seed: int, record: Record, returns: Array) -> Examples:
    """Play a record again and return its rows; ``rebuild`` is the game's kernel of that name.

    The kernel shares out visits, which a record does not have; it is given one for each row, and the row's policy is
    put in afterwards.
    """
    if len(record.actions) > spec.max_decisions or record.actions.max(initial=0) >= spec.actions:
        raise RecordDamaged(f"a record of {len(record.actions)} decisions that no game of {spec.name} can have")
    is_row = np.zeros(len(record.actions), np.int32)
    is_row[record.decisions] = 1
    n_rows = len(record.decisions)
    notes = GameRecord(
        seed=seed,
        actions=np.ascontiguousarray(record.actions),
        policy_ends=np.cumsum(is_row, dtype=np.int32),
        policy_actions=np.zeros(n_rows, np.int32),
        policy_visits=np.ones(n_rows, np.int32),
        versions=np.zeros(len(record.actions), np.int32),
        values=np.zeros(len(record.actions), np.float32),
        returns=returns,
    )
    rows = rebuild_examples(spec, rebuild, notes)
    return rows._replace(policy=dense(record, rows.legal, rows.offsets))
