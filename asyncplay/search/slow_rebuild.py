"""Records of the slow lane played again: what ``examples.rebuild`` does, called in the same way."""

from collections.abc import Callable

import numpy as np

from asyncplay import rng
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.search.examples import Rerun, Rows
from asyncplay.search.layout import CHANCE_STREAM, Array


def rebuilder(spec: GameSpec) -> Callable[[Rerun, Rows, Array], int]:
    """Writes a row for each decision with a policy and returns how many; it stops early where the legal actions of
    another row might not fit."""
    kernels, rules = spec.kernels, spec.rules

    def rebuild(replay: Rerun, rows: Rows, features: Array) -> int:
        state, row, start = replay.state, 0, 0
        stream = rng.stream(int(replay.seed[0]), CHANCE_STREAM)
        kernels.reset(rules, state)
        for decision, (action, end) in enumerate(
            zip(replay.actions.tolist(), replay.policy_ends.tolist(), strict=True)
        ):
            while (player := kernels.to_move(rules, state)) == CHANCE_TURN:
                kernels.chance(rules, state, stream)
            if end > start:
                offset = int(rows.offsets[row])
                if len(rows.legal) - offset < replay.max_legal:
                    return row
                kernels.encode(rules, state, player, features[row], replay.room)
                n_legal = kernels.legal(rules, state, rows.legal[offset:], replay.room)
                rows.players[row], rows.decisions[row], rows.offsets[row + 1] = player, decision, offset + n_legal
                legal, visits = rows.legal[offset : offset + n_legal], replay.policy_visits[start:end]
                is_visited = np.isin(legal, replay.policy_actions[start:end])
                policy = rows.policy[offset : offset + n_legal]
                policy.fill(0.0)
                policy[is_visited] = (visits / visits.sum())[: is_visited.sum()]
                row, start = row + 1, end
            kernels.play(rules, state, action, replay.room)
        while kernels.to_move(rules, state) == CHANCE_TURN:
            kernels.chance(rules, state, stream)
        kernels.returns(rules, state, replay.returns)
        rows.gains[:row] = replay.returns
        return row

    return rebuild
