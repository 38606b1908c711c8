"""What a table does in a position of real hold'em: the hand is followed in its betting tree, as in matches."""

import numpy as np
from numba import float64, int32, int64
from numpy.typing import NDArray

from asyncplay.games.holdem.betting import bet, reset
from asyncplay.games.holdem.layout import CALL, DECISIONS, HANDS, HISTORY, MOVER, board_of
from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.games.spec import RULES, STATE, STREAM, GameSpec
from asyncplay.solve.abstraction.bucket_file import BucketFile
from asyncplay.solve.abstraction.match import (
    CHOSEN,
    NODE,
    NOTHING,
    SIDE,
    VIEW,
    MatchSide,
    follow,
    is_in_step,
    lead_on,
    new_view,
    odds_of,
    realise,
    start_view,
)
from asyncplay.solve.abstraction.menus import MOST_ACTIONS

Odds = dict[int, float]


def odds_at(
    spec: GameSpec, side: MatchSide, file: BucketFile, state: NDArray[np.int64], stream: NDArray[np.uint64]
) -> Odds:
    """What the seat to move does, as actions of the real game with their odds, which add up to 1.

    ``stream`` decides which of two neighbours a raise of others stands for; the same one must come to every decision
    of a hand. It is used up.
    """
    bucket = file.bucket(int(state[HANDS + state[MOVER]]), int(board_of.py_func(state)))
    actions, odds = np.zeros(MOST_ACTIONS, np.int32), np.zeros(MOST_ACTIONS)
    view, real = new_view(spec.players), np.zeros(HISTORY, np.int64)
    count = ready(look)(spec.rules, state, side, view, real, stream, bucket, actions, odds)
    found: Odds = {}
    for action, share in zip(actions[:count].tolist(), odds[:count].tolist(), strict=True):
        found[action] = found.get(action, 0.0) + share  # two bets of the tree may be one of the real game
    return found


@kernel(int64(RULES, STATE, SIDE, VIEW, STATE, STREAM, int64, int32[::1], float64[::1]))
def look(rules, state, side, view, real, stream, bucket, actions, odds):  # noqa: PLR0917  # kernels take no keywords
    """Follow the hand of ``state``, then write what the table does there; return how many actions that are.

    Out of step there is one: it checks or calls.
    """
    reset(rules, real)
    lead_on(rules, real)
    start_view(rules, view)
    for decision in range(state[DECISIONS]):
        action = state[HISTORY + decision]
        if real[MOVER] == state[MOVER] and is_in_step(view, real):
            view.place[CHOSEN] = own_child(rules, side, view, real, action)
        follow(rules, side, view, real, action, stream)
        bet(rules, real, action)
        lead_on(rules, real)
    if not is_in_step(view, real):
        actions[0], odds[0] = CALL, 1.0
        return 1
    at, total = side.nodes[view.place[NODE]], 0.0
    n, entry = np.int64(at.n), at.base + bucket * at.n
    for k in range(n):
        total += odds_of(side.policy[entry + k])
    for k in range(n):
        actions[k] = realise(rules, view.state, real, np.int64(side.actions[np.int64(at.first) + k]))
        odds[k] = odds_of(side.policy[entry + k]) / total if total > 0.0 else 1.0 / n
    return n


@helper
def own_child(rules, side, view, real, action):
    """The child by which the table took an action, or NOTHING where it would not have: then it is translated."""
    at = side.nodes[view.place[NODE]]
    for k in range(np.int64(at.n)):
        if realise(rules, view.state, real, np.int64(side.actions[np.int64(at.first) + k])) == action:
            return np.int64(k)
    return np.int64(NOTHING)
