"""The search for starter: the shared bodies with this game's rules compiled in.

For features that are float32 take SELECT_FLOATS and REBUILD_FLOATS.
"""

from asyncplay.games.kernels import kernel
from asyncplay.search import examples, policy, puct, uct
from asyncplay.starter.package.rules import KERNELS


@kernel(puct.SELECT_BYTES)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_BYTES)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)


@kernel(uct.ROLL_OUT)
def roll_out(memory, state, stream):
    return uct.roll_out(KERNELS, memory, state, stream)
