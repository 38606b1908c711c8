"""Positions of random play: rows as a network will be asked about, before any game was searched."""

import numpy as np

from asyncplay import rng
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.payloads import Array, Positions, offsets_of


def random_rows(spec: GameSpec, n_rows: int, seed: int = 0) -> Positions:
    """The first rows with a choice of games played at random; the game's kernels must have been compiled."""
    choices, happens = rng.stream(seed, 0), rng.stream(seed, 1)
    features = np.zeros((n_rows, spec.row_features), spec.feature_dtype)
    lists: list[Array] = []
    actions, state, room = np.empty(spec.max_legal, np.int32), spec.new_state(), spec.new_room()
    kernels = spec.kernels
    while len(lists) < n_rows:
        mover = kernels.to_move(spec.rules, state)
        if mover == GAME_OVER:
            kernels.reset(spec.rules, state)
        elif mover == CHANCE_TURN:
            kernels.chance(spec.rules, state, happens)
        else:
            legal = actions[: kernels.legal(spec.rules, state, actions, room)]
            if len(legal) > 1:
                kernels.encode(spec.rules, state, mover, features[len(lists)], room)
                lists.append(legal.copy())
            kernels.play(spec.rules, state, int(legal[rng.below(choices, len(legal))]), room)
    return Positions(features, np.concatenate(lists), offsets_of(np.array([len(legal) for legal in lists])))
