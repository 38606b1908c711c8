"""The answers of the simulated accelerator: a hash of the row, which the worker that asked can recompute.

A row's answer depends on that row alone, so the worker notices an answer that went astray, was mixed up or came back
twice, whatever batch the row travelled in.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Floats = NDArray[np.float32]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SPREAD = np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)
TOP_23_BITS, ONE = np.uint64(41), np.uint64(1 << 23)  # exact in float32, and so is their sum
SIGNED_TOP_24_BITS, UNIT = np.int64(40), np.float32(2.0**-23)


def sim_answers(features: NDArray[np.generic], offsets: NDArray[np.int32], players: int) -> tuple[Floats, Floats]:
    """Priors float32[L], each row's sum is 1, and values float32[n, P] in [-1, 1).

    Weight j of a row is 1 + the fraction of (hash + j * golden ratio); priors are weights, normalised.
    """
    hashes = row_hashes(features)
    spread = hashes[:, None] * _multipliers(players)
    values = (spread.view(np.int64) >> SIGNED_TOP_24_BITS).astype(np.float32) * UNIT
    if len(hashes) == 0:
        return np.empty(0, np.float32), values
    counts, starts = offsets[1:] - offsets[:-1], offsets[:-1]
    steps = _steps(int(offsets[-1]).bit_length())
    sequence = (hashes - steps[starts]).repeat(counts)
    sequence += steps[: len(sequence)]
    sequence >>= TOP_23_BITS
    sequence |= ONE
    priors = sequence.astype(np.float32)
    priors /= np.add.reduceat(priors, starts).repeat(counts)
    return priors, values


def row_hashes(features: NDArray[np.generic]) -> Words:
    """uint64[n]: multilinear hashing of the 32-bit words of each row, filled up with zero bytes, then mixed again."""
    row_bytes = features.shape[1] * features.itemsize
    data = np.ascontiguousarray(features).view(np.uint8).reshape(len(features), row_bytes)
    if row_bytes % 4:
        data = np.pad(data, ((0, 0), (0, -row_bytes % 4)))
    words = data.view(np.uint32)
    mixed: Words = words.astype(np.uint64) @ _multipliers(words.shape[1])
    mixed ^= mixed >> HALF
    mixed *= SPREAD
    return mixed


@cache
def _multipliers(count: int) -> Words:
    """Odd random numbers (splitmix64), so that the place of a word counts as well as its bits."""
    random = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    random = (random ^ (random >> np.uint64(30))) * SPREAD
    random = (random ^ (random >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (random ^ (random >> np.uint64(31))) | np.uint64(1)


@cache
def _steps(bits: int) -> Words:
    """Multiples of the golden ratio, enough for numbers of that many bits."""
    return np.arange(1 << bits, dtype=np.uint64) * GOLDEN
