"""Training rows from a stored record, the same to the bit as those that came with the game."""

import numpy as np

from asyncplay.games.kernels import Kernel
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array, Record, RecordDamaged, dense
from asyncplay.search.examples import GameRows, PlayedGame, rebuild_examples


def notes_of(spec: GameSpec, seed: int, record: Record, returns: Array) -> PlayedGame:
    """A stored record as the search knows it, but for the visits: each row has a single one, of no action.

    RecordDamaged if no game could have been like this; that its actions are legal is not checked.
    """
    if len(record.actions) > spec.max_decisions or record.actions.max(initial=0) >= spec.actions:
        raise RecordDamaged(f"a record of {len(record.actions)} decisions that no game of {spec.name} can have")
    n_actions, n_rows = len(record.actions), len(record.decisions)
    versions, is_row = np.zeros(n_actions, np.int32), np.zeros(n_actions, np.int32)
    versions[record.decisions], is_row[record.decisions] = record.versions, 1
    return PlayedGame(
        seed=seed,
        actions=record.actions,
        policy_ends=np.cumsum(is_row, dtype=np.int32),
        policy_actions=np.full(n_rows, -1, np.int32),
        policy_visits=np.ones(n_rows, np.int32),
        versions=versions,
        values=np.zeros(n_actions, np.float32),
        returns=returns,
    )


def rebuild_rows(spec: GameSpec, rebuild: Kernel, notes: PlayedGame, record: Record) -> GameRows:
    """Play a record again and return its rows; the kernel as in ``rebuild_examples``.

    The kernel shares out visits, which a record does not have: the policies are put in afterwards.
    """
    rows = rebuild_examples(spec, rebuild, notes)
    return rows._replace(policy=dense(record, rows.legal, rows.offsets))
