"""Lets large arrays of checkpoints be hashed by a kernel where that is faster."""

from asyncplay.data import large_arrays
from asyncplay.games.kernels import ready
from asyncplay.solve import sha256


def prepare() -> None:
    """Compile it before a checkpoint is read or written; nothing where the processor does it better."""
    if sha256.is_faster():
        ready(sha256.compress)
        large_arrays.hash_by(sha256.hash_lanes)
