"""A game's kernels as C functions, for opponents that are written in another language.

The arguments are those of spec.py, arrays as pointers to their first entry; ``determinize`` makes one world.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, float64, int32, int64, types, uint64
from numba.np.numpy_support import carray

from asyncplay.games.kernels import ready
from asyncplay.games.spec import GameSpec

WORDS, STREAM = types.CPointer(int64), types.CPointer(uint64)


class Pointers(NamedTuple):
    """Keep it as long as the addresses are used: ``kernel.address``."""

    to_move: Any
    legal: Any
    play: Any
    returns: Any
    key: Any
    determinize: Any


def pointers(game: GameSpec) -> Pointers:
    """Compile the kernels of a game for callers from C; takes a second or two, and nothing is kept on disk."""
    n_rules, n_words, n_legal, players = len(game.rules), game.state_words, game.max_legal, game.players
    kernels, n_room = game.kernels, len(game.new_room())
    kernel_to_move, kernel_legal, kernel_play = ready(kernels.to_move), ready(kernels.legal), ready(kernels.play)
    kernel_returns, kernel_key = ready(kernels.returns), ready(kernels.key)
    kernel_determinize = ready(kernels.determinize)

    @cfunc(int64(WORDS, WORDS))
    def to_move(rules, state):
        return kernel_to_move(carray(rules, n_rules), carray(state, n_words))

    @cfunc(int64(WORDS, WORDS, types.CPointer(int32)))
    def legal(rules, state, actions):
        room = np.empty(n_room, np.int64)
        return kernel_legal(carray(rules, n_rules), carray(state, n_words), carray(actions, n_legal), room)

    @cfunc(types.void(WORDS, WORDS, int64))
    def play(rules, state, action):
        kernel_play(carray(rules, n_rules), carray(state, n_words), action, np.empty(n_room, np.int64))

    @cfunc(types.void(WORDS, WORDS, types.CPointer(float64)))
    def returns(rules, state, gains):
        kernel_returns(carray(rules, n_rules), carray(state, n_words), carray(gains, players))

    @cfunc(uint64(WORDS, WORDS, int64))
    def key(rules, state, viewer):
        return kernel_key(carray(rules, n_rules), carray(state, n_words), viewer)

    @cfunc(types.void(WORDS, WORDS, int64, STREAM, WORDS))
    def determinize(rules, state, viewer, stream, world):
        worlds = carray(world, (1, n_words))
        kernel_determinize(carray(rules, n_rules), carray(state, n_words), viewer, carray(stream, 4), worlds)

    return Pointers(to_move, legal, play, returns, key, determinize)
