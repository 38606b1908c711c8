"""What an agent is shown of a game, and what it decides."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class DecisionPoint(NamedTuple):
    """A position that waits for a decision."""

    state: NDArray[np.int64]  # all of it; an agent must read only the part that its seat sees
    actions: NDArray[np.int32]  # the decisions so far
    legal: NDArray[np.int32]
    seed: int  # of the game and its seats


class Agent(Protocol):
    """Decides for the seats it is given."""

    def decide(self, point: DecisionPoint) -> int:
        """Return one of the legal actions; the same decision point gives the same decision."""
