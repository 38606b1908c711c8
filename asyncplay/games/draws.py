"""Random numbers for Python callers: kernels around rng.py, kept on disk, so that no worker compiles them again."""

from numba import float64, int64, void

from asyncplay import rng
from asyncplay.games.kernels import Kernel, kernel
from asyncplay.games.spec import STREAM


@kernel(float64(STREAM))
def uniform(stream):
    return rng.uniform(stream)


@kernel(float64(STREAM))
def gumbel(stream):
    return rng.gumbel(stream)


@kernel(void(STREAM, float64, float64[::1]))
def dirichlet(stream, alpha, shares):
    rng.dirichlet(stream, alpha, shares)


@kernel(int64(STREAM, int64))
def below(stream, limit):
    return rng.below(stream, limit)


KERNELS: tuple[Kernel, ...] = (uniform, gumbel, dirichlet, below)
