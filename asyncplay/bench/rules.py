"""How fast a game's rules are by themselves: random play, with the legal actions and the features of every decision."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from asyncplay import games, rng
from asyncplay.games.kernels import warm_up
from asyncplay.games.spec import BY_LIMIT, CHANCE_TURN, GAME_OVER, GameSpec, end_reason


class RulesSpeed(TypedDict):
    """One line of the table."""

    game: str
    decisions_per_s: float
    games: int
    mean_decisions: float
    most_decisions: int
    limit: int
    limit_share: float  # of the games that their limit cut off


def measure(game: str = "connect4", *, option: Sequence[str] | None = None, seconds: float = 10.0) -> RulesSpeed:
    """Play whole games on one core for so many seconds of processor time, which is what decisions are counted by."""
    spec = games.load(game, games.parse_options(game, option or ()))
    kernels = spec.kernels
    warm_up([kernels.reset, kernels.to_move, kernels.chance, kernels.legal, kernels.encode, kernels.play])
    choices, happens = rng.stream(0, 0), rng.stream(0, 1)
    play_randomly(spec, choices, happens)  # numba binds a kernel at its first call
    lengths, reasons, begin_s = list[int](), Counter[str](), time.thread_time()
    while (spent_s := time.thread_time() - begin_s) < seconds or not lengths:
        length, reason = play_randomly(spec, choices, happens)
        lengths.append(length)
        reasons[reason] += 1
    return {
        "game": game,
        "decisions_per_s": sum(lengths) / spent_s,
        "games": len(lengths),
        "mean_decisions": sum(lengths) / len(lengths),
        "most_decisions": max(lengths),
        "limit": spec.max_decisions,
        "limit_share": reasons[BY_LIMIT] / len(lengths),
    }


def play_randomly(spec: GameSpec, choices: np.ndarray, happens: np.ndarray) -> tuple[int, str]:
    """Play a game; return how many decisions it had and why it ended."""
    kernels, rules, state, room = spec.kernels, spec.rules, spec.new_state(), spec.new_room()
    actions, features = np.empty(spec.max_legal, np.int32), np.zeros(spec.row_features, spec.feature_dtype)
    n_decisions = 0
    while (mover := kernels.to_move(rules, state)) != GAME_OVER:
        if mover == CHANCE_TURN:
            kernels.chance(rules, state, happens)
            continue
        n_legal = kernels.legal(rules, state, actions, room)
        kernels.encode(rules, state, mover, features, room)
        kernels.play(rules, state, int(actions[rng.below(choices, n_legal)]), room)
        n_decisions += 1
    return n_decisions, end_reason(spec, state)
