"""PUCT for Blob: the shared bodies with this game's rules compiled in."""

from asyncplay.games.blob import KERNELS
from asyncplay.games.kernels import kernel
from asyncplay.search import examples, policy, puct


@kernel(puct.SELECT_FLOATS)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_FLOATS)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)
