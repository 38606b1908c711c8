"""What an agent is shown of a game, and what it decides."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.position import Position

DECISION_STREAM = 6  # of a seed: what agents draw from


class DecisionPoint(NamedTuple):
    """A position that waits for a decision."""

    state: NDArray[np.int64]  # all of it; an agent must read only the part that its seat sees
    actions: NDArray[np.int32]  # the decisions so far
    legal: NDArray[np.int32]
    seed: int  # of the game and its seats

    @classmethod
    def of(cls, position: Position, seed: int | None = None) -> Self:
        """``seed``: another one than the position's own. What is drawn from it has nothing to do with the deal."""
        actions, legal = np.array(position.actions, np.int32), np.array(position.legal, np.int32)
        own = rng.derive(position.seed if seed is None else seed, DECISION_STREAM)
        return cls(position.state, actions, legal, own)


class Agent(Protocol):
    """Decides for the seats it is given."""

    def decide(self, point: DecisionPoint) -> int:
        """Return one of the legal actions; the same decision point gives the same decision."""


def draw_action(odds: Mapping[int, float], point: DecisionPoint) -> int:
    """One of the actions by their odds, which add up to 1; the decision point says which."""
    spot, action = rng.stream(point.seed, len(point.actions))[0] / 2.0**64, 0
    for action, share in odds.items():  # noqa: B007  # rounding may leave something: the last one takes it
        spot -= share
        if spot < 0.0:
            break
    return action
