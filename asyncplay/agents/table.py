"""Agents that look their decisions up in a policy table."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint, draw_action
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec
from asyncplay.solve.abstraction.bucket_file import BucketFile
from asyncplay.solve.abstraction.lookup import odds_at
from asyncplay.solve.abstraction.match import MatchSide
from asyncplay.solve.flat import FlatGame

TRANSLATION_STREAM = 9


class PolicyTable(Protocol):
    """What a table says."""

    def odds(self, point: DecisionPoint) -> dict[int, float]:
        """Actions with their odds, which add up to 1."""


class FlatTable:
    """The policy of a small game, an infoset for all that a seat knows."""

    def __init__(self, spec: GameSpec, game: FlatGame, policy: NDArray[np.float64]) -> None:
        """``policy`` float64[E], of the entries of ``game``."""
        self._spec, self._game, self._policy = spec, game, policy
        pairs = zip(game.flat.movers.tolist(), game.keys.tolist(), strict=True)
        self._infosets = {pair: infoset for infoset, pair in enumerate(pairs)}

    def infoset(self, state: NDArray[np.int64]) -> int:
        """The number of what the seat to move knows."""
        kernels, rules = self._spec.kernels, self._spec.rules
        mover = int(kernels.to_move(rules, state))
        found = self._infosets.get((mover, int(kernels.key(rules, state, mover))))
        if found is None:
            raise AsyncplayError(f"the table of {self._spec.name} does not have this position: no game comes to it")
        return found

    def odds(self, point: DecisionPoint) -> dict[int, float]:
        infoset, offsets = self.infoset(point.state), self._game.offsets
        entries = slice(offsets[infoset], offsets[infoset + 1])
        return dict(zip(self._game.actions[entries].tolist(), self._policy[entries].tolist(), strict=True))


class BlueprintTable:
    """The policy of a blueprint in the real game, whose hands it follows in its own betting tree."""

    def __init__(self, spec: GameSpec, side: MatchSide, file: BucketFile) -> None:
        self._spec, self._side, self._file = spec, side, file

    def odds(self, point: DecisionPoint) -> dict[int, float]:
        return odds_at(self._spec, self._side, self._file, point.state, rng.stream(point.seed, TRANSLATION_STREAM))


class TableAgent:
    """Draws what the table says."""

    def __init__(self, table: PolicyTable) -> None:
        self._table = table

    def decide(self, point: DecisionPoint) -> int:
        return draw_action(self._table.odds(point), point)
