"""Plain MCTS with random rollouts through the game's own kernels."""

from functools import partial
from typing import Any

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.games.spec import GameSpec
from asyncplay.search.entries import load_rollouts
from asyncplay.search.slow_uct import SlowRollouts
from asyncplay.search.uct import make_rollouts

PREFIX = "mcts-"
EXPLORATION = 1.4


class MctsAgent:
    """UCT with so many rollouts a decision; it reads only what its seat sees."""

    def __init__(self, game: GameSpec, rollouts: int) -> None:
        if game.slow is None:
            self._roll_out: Any = partial(load_rollouts(game), make_rollouts(game, rollouts, EXPLORATION))
        else:
            self._roll_out = SlowRollouts(game, rollouts, EXPLORATION).decide

    def decide(self, point: DecisionPoint) -> int:
        return int(self._roll_out(point.state, rng.stream(point.seed, len(point.actions))))
