"""What a population needs to know of an environment."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from asyncplay.games.block import Blocked
from asyncplay.games.kernels import Progress
from asyncplay.payloads import Array, Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Environment:
    """A kind of environment with its options chosen."""

    name: str
    players: int  # P
    actions: int  # A
    features: int  # F, of the row that a network reads
    frames: int  # that it is made of, oldest first
    feature_dtype: type[np.generic]  # uint8 or float32
    longest: int  # decisions of an episode, at most
    most_return: float  # of a seat, either way
    reason: str  # for which episodes end
    outcome: Callable[[Array], Floats]  # what returns float64[P] are worth to each seat, -1 to 1
    make_block: Callable[[int], Blocked]  # of so many environments
    warm: Callable[[Progress | None], None]  # compiles what there is to compile, before workers start

    @property
    def frame_features(self) -> int:
        return self.features // self.frames
