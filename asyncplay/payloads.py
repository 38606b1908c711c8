"""Arrays that travel together, and the alphabet of their shapes.

``n`` rows, ``A`` actions, ``P`` players, ``F`` features of a row, ``k`` legal actions of a row,
``L`` their sum over all rows of a block.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Positions(NamedTuple):
    """A block of positions to be estimated, each from the seat of its player to move."""

    features: Array  # float32[n, F], or uint8[n, F] where the encoding fits
    legal: Ints  # int32[L], the legal actions of all rows, one after another
    offsets: Ints  # int32[n + 1], row i owns legal[offsets[i]:offsets[i + 1]]


class Estimates(NamedTuple):
    """What a network thinks of a block of positions."""

    priors: Floats  # float32[L], over the legal actions, each row's sum is 1
    values: Floats  # float32[n, P], entry k for the seat k places to the left of the player to move
    version: int  # of the weights that answered
