"""Walks one of our games and open_spiel's side by side, history by history."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec


class Pair(NamedTuple):
    """The same history in both games."""

    ours: np.ndarray
    theirs: Any
    mover: int  # ours


def histories(spec: GameSpec, name: str) -> Iterator[Pair]:
    """Every history, parents first; whatever may happen must be the same, with the same odds."""
    todo = [(spec.new_state(), pyspiel.load_game(name).new_initial_state())]
    while todo:
        ours, theirs = todo.pop()
        mover = spec.kernels.to_move(spec.rules, ours)
        yield Pair(ours, theirs, mover)
        if mover == GAME_OVER:
            assert theirs.is_terminal()
            continue
        choices = outcomes(spec, ours) if mover == CHANCE_TURN else [(a, None) for a in legal(spec, ours)]
        assert theirs.is_chance_node() == (mover == CHANCE_TURN)
        if mover == CHANCE_TURN:
            assert choices == theirs.chance_outcomes()
        else:
            assert mover == theirs.current_player()
            assert [choice for choice, _ in choices] == theirs.legal_actions()
        for choice, _ in choices:
            after = ours.copy()
            apply(spec, after, choice, is_chance=mover == CHANCE_TURN)
            todo.append((after, theirs.child(choice)))


def apply(spec: GameSpec, state: np.ndarray, choice: int, *, is_chance: bool) -> None:
    """An outcome of chance or a decision."""
    if is_chance:
        spec.kernels.happen(spec.rules, state, choice)
    else:
        spec.kernels.play(spec.rules, state, choice, spec.new_room())


def outcomes(spec: GameSpec, state: np.ndarray) -> list[tuple[int, float]]:
    """As open_spiel lists them: numbers and odds."""
    numbers, odds = np.empty(spec.max_outcomes, np.int32), np.empty(spec.max_outcomes)
    count = spec.kernels.outcomes(spec.rules, state, numbers, odds)
    return list(zip(numbers[:count].tolist(), odds[:count].tolist(), strict=True))


def legal(spec: GameSpec, state: np.ndarray) -> list[int]:
    actions = np.empty(spec.max_legal, np.int32)
    return actions[: spec.kernels.legal(spec.rules, state, actions, spec.new_room())].tolist()


def returns(spec: GameSpec, state: np.ndarray) -> list[float]:
    gains = np.empty(spec.players)
    spec.kernels.returns(spec.rules, state, gains)
    return gains.tolist()
