"""Environments of treasurehunt in blocks: the shared bodies with its rules compiled in."""

from asyncplay.games import block
from asyncplay.games.kernels import kernel
from asyncplay.games.treasurehunt import KERNELS


@kernel(block.BEGIN)
def begin(rules, states, streams, slots, movers):
    block.begin_body(KERNELS, rules, states, streams, slots, movers)


@kernel(block.LOOK_BYTES)
def look(rules, states, slots, movers, rows, legal, offsets, room):  # noqa: PLR0917
    return block.look_body(KERNELS, rules, states, slots, movers, rows, legal, offsets, room)


@kernel(block.STEP)
def step(rules, states, streams, slots, actions, movers, paid, rewards, room):  # noqa: PLR0917
    block.step_body(KERNELS, rules, states, streams, slots, actions, movers, paid, rewards, room)
