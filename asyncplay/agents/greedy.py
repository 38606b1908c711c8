"""Agents of a population: each seat takes what its own network holds to be worth most."""

import numpy as np

from asyncplay.agents.agent import DecisionPoint
from asyncplay.agents.search import Estimator
from asyncplay.games.block import best_actions
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Floats, Positions


class GreedyAgent:
    """Decides for all seats by the worths that ``estimate`` tells of rows with the seat before the features."""

    def __init__(self, spec: GameSpec, estimate: Estimator) -> None:
        self._spec, self._estimate, self._room = spec, estimate, spec.new_room()

    def worths(self, point: DecisionPoint) -> Floats:
        """float32[k]: the rewards that the seat to decide expects after each legal action."""
        seat = int(self._spec.kernels.to_move(self._spec.rules, point.state))
        row = np.zeros((1, 1 + self._spec.features), self._spec.feature_dtype)
        row[0, 0] = seat
        self._spec.kernels.encode(self._spec.rules, point.state, seat, row[0, 1:], self._room)
        offsets = np.array([0, len(point.legal)], np.int32)
        return self._estimate(Positions(row, point.legal, offsets)).priors

    def decide(self, point: DecisionPoint) -> int:
        offsets = np.array([0, len(point.legal)], np.int32)
        return int(best_actions(self.worths(point), point.legal, offsets)[0])
