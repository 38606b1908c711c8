"""Plain MCTS with random rollouts through the game's own kernels."""

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.games.spec import GameSpec
from asyncplay.search.entries import load_rollouts
from asyncplay.search.uct import make_rollouts

PREFIX = "mcts-"
EXPLORATION = 1.4


class MctsAgent:
    """UCT with so many rollouts a decision; it reads only what its seat sees."""

    def __init__(self, game: GameSpec, rollouts: int) -> None:
        self._roll_out, self._memory = load_rollouts(game), make_rollouts(game, rollouts, EXPLORATION)

    def decide(self, point: DecisionPoint) -> int:
        return int(self._roll_out(self._memory, point.state, rng.stream(point.seed, len(point.actions))))
