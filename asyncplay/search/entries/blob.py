"""PUCT for Blob: the shared bodies with this game's rules compiled in."""

from asyncplay.games.blob import KERNELS
from asyncplay.games.kernels import kernel
from asyncplay.search import examples, policy, puct, symmetry, uct


@kernel(puct.SELECT_FLOATS)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_FLOATS)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)


@kernel(symmetry.TURN_ROWS)
def turn_rows(rules, states, turns, offsets, legal, room):  # noqa: PLR0917
    return symmetry.turn_rows(KERNELS, rules, states, turns, offsets, legal, room)


@kernel(symmetry.CHECK_TURNS)
def check_turns(rules, states, n_turns, offsets, legal, seen, room):  # noqa: PLR0917
    return symmetry.check_turns(KERNELS, rules, states, n_turns, offsets, legal, seen, room)


@kernel(uct.ROLL_OUT)
def roll_out(memory, state, stream):
    return uct.roll_out(KERNELS, memory, state, stream)
