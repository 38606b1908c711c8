"""An agent written in another language: a shared library that decides by our rules, called as C functions."""

import ctypes

import numpy as np

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.games.pointers import Pointers, pointers
from asyncplay.games.spec import GameSpec

PREFIX = "library:"
WORDS = ctypes.POINTER(ctypes.c_int64)


class Rules(ctypes.Structure):
    """A game, as the library declares it in the same struct."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("players", "actions", "state_words", "max_legal", "max_decisions")),
        ("value_scale", ctypes.c_double),
        ("value_offset", ctypes.c_double),
        ("options", WORDS),
        *((name, ctypes.c_void_p) for name in Pointers._fields),
    )


class LibraryAgent:
    """Calls ``decide(rules, state, simulations, exploration, seed)`` of a library.

    Its name says all: ``library:SIMULATIONS:EXPLORATION:PATH``.
    It gets the whole position and must read only the part that its seat sees. Unlike other agents it may decide
    differently the next time.
    """

    def __init__(self, name: str, game: GameSpec) -> None:
        simulations, exploration, path = name.removeprefix(PREFIX).split(":", 2)
        self._simulations, self._exploration = int(simulations), float(exploration)
        self._pointers = pointers(game)
        self._options = np.ascontiguousarray(game.rules)
        sizes = (game.players, game.actions, game.state_words, game.max_legal, game.max_decisions)
        addresses = [kernel.address for kernel in self._pointers]
        self._rules = Rules(
            *sizes, game.value_scale, game.value_offset, self._options.ctypes.data_as(WORDS), *addresses
        )
        self._decide = ctypes.CDLL(path).decide
        self._decide.restype = ctypes.c_int64
        self._decide.argtypes = (ctypes.POINTER(Rules), WORDS, ctypes.c_int64, ctypes.c_double, ctypes.c_int64)

    def decide(self, point: DecisionPoint) -> int:
        mix = int(rng.stream(point.seed, len(point.actions))[0]) & 0x7FFFFFFF
        state = point.state.ctypes.data_as(WORDS)
        return int(self._decide(ctypes.byref(self._rules), state, self._simulations, self._exploration, mix))
