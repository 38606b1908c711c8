"""What a player from outside is shown of a game, and what is asked of it."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class DecisionPoint(NamedTuple):
    """A position that waits for a decision."""

    state: NDArray[np.int64]  # all of it; who decides by rules looks at its own seat's part alone
    actions: NDArray[np.int32]  # the decisions so far
    legal: NDArray[np.int32]
    seed: int  # of the game and its seats


class Agent(Protocol):
    """Decides for the seats it is given."""

    def decide(self, moment: DecisionPoint) -> int:
        """Return one of the legal actions; the same moment gives the same decision."""
