"""PUCT for tic-tac-toe: the shared bodies with this game's rules compiled in."""

from asyncplay.games.tictactoe import KERNELS
from asyncplay.games.kernels import kernel
from asyncplay.search import examples, policy, puct


@kernel(puct.SELECT_BYTES)
def select(rules, memory, settings, features):
    return puct.select(KERNELS, rules, memory, settings, features)


@kernel(policy.ADVANCE)
def advance(rules, memory, records, settings, finished):
    return policy.advance(KERNELS, rules, memory, records, settings, finished)


@kernel(examples.REBUILD_BYTES)
def rebuild(rules, seed, replay, rows, features):
    return examples.rebuild(KERNELS, rules, seed, replay, rows, features)
