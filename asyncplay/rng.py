"""Random numbers that are the same everywhere: xoshiro256++, its state in an array the caller owns.

A stream is uint64[4]. It is made from a seed and a path of whole numbers (game, seat, purpose ...);
streams of different paths have nothing to do with each other. Nothing here keeps a state of its own,
so whoever owns the array can replay what was drawn.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

STREAM_WORDS = 4
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
ONE, WORD_BITS = np.uint64(1), np.uint64(64)
OUTPUT_TURN, STATE_TURN = np.uint64(23), np.uint64(45)
WORD = (1 << 64) - 1

# Nothing here allocates: without _nrt there is no counting of references, which costs more than the work.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
draw: Any = njit(**_OPTIONS)


def stream(seed: int, *path: int) -> NDArray[np.uint64]:
    """Return a fresh uint64[4] for this seed and path; ``plant`` does the same inside kernels."""
    key = seed & WORD
    for part in path:
        key = _mixed(key ^ _mixed(part + int(GOLDEN)))
    return np.array([_mixed(key + step * int(GOLDEN)) for step in range(1, 5)], np.uint64)


def derive(seed: int, *path: int) -> int:
    """Return another seed, of 63 bits, that belongs to this path."""
    return int(stream(seed, *path)[0] >> ONE)


def _mixed(word: int) -> int:
    """The output function of splitmix64 on a Python number."""
    word &= WORD
    word = ((word ^ (word >> 30)) * int(FIRST_FACTOR)) & WORD
    word = ((word ^ (word >> 27)) * int(SECOND_FACTOR)) & WORD
    return word ^ (word >> 31)


@draw
def mix(word):
    """The output function of splitmix64: uint64 to uint64, a bijection that spreads every bit."""
    word = (word ^ (word >> np.uint64(30))) * FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * SECOND_FACTOR
    return word ^ (word >> np.uint64(31))


@draw
def plant(state, seed, part):
    """Fill ``state`` uint64[4] as ``stream(seed, part)`` does."""
    key = mix(np.uint64(seed) ^ mix(np.uint64(part) + GOLDEN))
    for step in range(STREAM_WORDS):
        key += GOLDEN
        state[step] = mix(key)


@draw
def rotate(word, bits):
    """Rotate a uint64 to the left."""
    return (word << bits) | (word >> (WORD_BITS - bits))


@draw
def next_word(state):
    """One uint64 of xoshiro256++."""
    result = rotate(state[0] + state[3], OUTPUT_TURN) + state[0]
    carried = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= carried
    state[3] = rotate(state[3], STATE_TURN)
    return result


@draw
def uniform(state):
    """A float64 in [0, 1), a multiple of 2**-53."""
    return float(next_word(state) >> np.uint64(11)) * 2.0**-53


@draw
def below(state, limit):
    """A whole number in 0 .. limit - 1, each equally likely: bits beyond the limit are thrown away."""
    mask = np.uint64(limit - 1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    drawn = next_word(state) & mask
    while drawn >= np.uint64(limit):
        drawn = next_word(state) & mask
    return np.int64(drawn)


@draw
def gumbel(state):
    """A standard Gumbel number: added to logarithms of weights, it makes the largest sum a draw by weight."""
    drawn = uniform(state)
    while drawn == 0.0:
        drawn = uniform(state)
    return -math.log(-math.log(drawn))


@draw
def normal(state):
    """A standard normal number, by the polar method; the second of the pair is not kept."""
    while True:
        x = 2.0 * uniform(state) - 1.0
        y = 2.0 * uniform(state) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@draw
def gamma(state, shape):
    """A gamma number of scale 1 (Marsaglia and Tsang; below shape 1 by the power of a uniform)."""
    if shape < 1.0:
        return gamma_from_one(state, shape + 1.0) * (1.0 - uniform(state)) ** (1.0 / shape)
    return gamma_from_one(state, shape)


@draw
def gamma_from_one(state, shape):
    """A gamma number of scale 1 for shapes of at least 1."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = (1.0 + c * x) ** 3
        u = 1.0 - uniform(state)
        if v > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@draw
def dirichlet(state, alpha, shares):
    """Fill ``shares`` float64[k] with a draw from the symmetric Dirichlet distribution."""
    total = 0.0
    for i in range(len(shares)):
        shares[i] = gamma(state, alpha)
        total += shares[i]
    for i in range(len(shares)):  # a tiny alpha can underflow everywhere; then all are equal
        shares[i] = shares[i] / total if total > 0.0 else 1.0 / len(shares)
