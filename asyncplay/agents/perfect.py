"""A player that never errs, for games so small that all of their positions can be looked at."""

import numpy as np
from numpy.typing import NDArray

from asyncplay import games, rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.games.spec import GAME_OVER

SOLVED_GAMES = ("tictactoe",)  # two seats, no chance, nothing hidden, a few thousand positions

State = NDArray[np.int64]


class PerfectAgent:
    """Minimax over the whole game; among equally good actions chance decides, so that no two games are alike."""

    def __init__(self, game: str) -> None:
        self._game = games.load(game)
        self._values: dict[bytes, float] = {}

    def decide(self, moment: DecisionPoint) -> int:
        state, legal = moment.state, moment.legal
        seat = int(self._game.kernels.to_move(self._game.rules, state))
        values = np.array([self._seat_value(self._after(state, int(action)), seat) for action in legal])
        best = legal[values == values.max()]
        return int(best[int(rng.stream(moment.seed, len(moment.actions))[0]) % len(best)])

    def value(self, state: State) -> float:
        """What seat 0 gets when both play perfectly from here."""
        key = state.tobytes()
        if key not in self._values:
            self._values[key] = self._search(state)
        return self._values[key]

    def _search(self, state: State) -> float:
        kernels, rules = self._game.kernels, self._game.rules
        seat = int(kernels.to_move(rules, state))
        if seat == GAME_OVER:
            returns = np.zeros(self._game.players)
            kernels.returns(rules, state, returns)
            return float(returns[0])
        actions = np.empty(self._game.max_legal, np.int32)
        n_legal = int(kernels.legal(rules, state, actions))
        values = [self.value(self._after(state, int(action))) for action in actions[:n_legal]]
        return max(values) if seat == 0 else min(values)

    def _seat_value(self, state: State, seat: int) -> float:
        return self.value(state) if seat == 0 else -self.value(state)

    def _after(self, state: State, action: int) -> State:
        following = state.copy()
        self._game.kernels.play(self._game.rules, following, action)
        return following
