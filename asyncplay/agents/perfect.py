"""An agent that never errs, for games so small that all of their positions can be looked at."""

import numpy as np
from numpy.typing import NDArray

from asyncplay import games, rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GAME_OVER

SOLVED_GAMES = ("tictactoe",)  # two seats, no chance, nothing hidden, a few thousand positions

State = NDArray[np.int64]


class PerfectAgent:
    """Minimax over the whole game; chance decides among equally good actions, so that no two games are alike."""

    def __init__(self, game: str) -> None:
        if game not in SOLVED_GAMES:
            raise AsyncplayError(f"nobody plays {game} perfectly here; known are {', '.join(SOLVED_GAMES)}")
        self._game = games.load(game)
        self._room = self._game.new_room()
        self._values: dict[bytes, float] = {}

    def decide(self, point: DecisionPoint) -> int:
        seat = int(self._game.kernels.to_move(self._game.rules, point.state))
        sign = 1 if seat == 0 else -1
        values = np.array([sign * self._value_after(point.state, action) for action in point.legal])
        best = point.legal[values == values.max()]
        return int(best[int(rng.stream(point.seed, len(point.actions))[0]) % len(best)])

    def value(self, state: State) -> float:
        """What seat 0 gets when both play perfectly from here."""
        key = state.tobytes()
        if key in self._values:
            return self._values[key]
        kernels, rules = self._game.kernels, self._game.rules
        seat = int(kernels.to_move(rules, state))
        if seat == GAME_OVER:
            returns = np.zeros(self._game.players)
            kernels.returns(rules, state, returns)
            self._values[key] = float(returns[0])
        else:
            actions = np.empty(self._game.max_legal, np.int32)
            legal = actions[: int(kernels.legal(rules, state, actions, self._room))]
            self._values[key] = (min if seat else max)(self._value_after(state, action) for action in legal)
        return self._values[key]

    def _value_after(self, state: State, action: np.int32) -> float:
        following = state.copy()
        self._game.kernels.play(self._game.rules, following, int(action), self._room)
        return self.value(following)
