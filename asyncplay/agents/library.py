"""An opponent written in another language: a shared library that decides by our rules, called as C functions."""

import ctypes
from pathlib import Path

import numpy as np

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.games.pointers import Pointers, pointers
from asyncplay.games.spec import GameSpec

PREFIX = "library:"
WORDS = ctypes.POINTER(ctypes.c_int64)


class Rules(ctypes.Structure):
    """What the library is told of a game; it has the same struct."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("players", "actions", "state_words", "max_legal", "max_decisions")),
        ("value_scale", ctypes.c_double),
        ("value_offset", ctypes.c_double),
        ("options", WORDS),
        *((name, ctypes.c_void_p) for name in Pointers._fields),
    )


class LibraryAgent:
    """Calls ``decide(rules, state, simulations, exploration, seed)`` of a library.

    It gets the whole position and must look at no more of it than its seat sees. Unlike other opponents it may
    decide differently the next time.
    """

    def __init__(self, game: GameSpec, library: Path, simulations: int, exploration: float) -> None:
        self._pointers = pointers(game)
        self._options = np.ascontiguousarray(game.rules)
        sizes = (game.players, game.actions, game.state_words, game.max_legal, game.max_decisions)
        addresses = [kernel.address for kernel in self._pointers]
        self._rules = Rules(
            *sizes, game.value_scale, game.value_offset, self._options.ctypes.data_as(WORDS), *addresses
        )
        self._decide = ctypes.CDLL(str(library)).decide
        self._decide.restype = ctypes.c_int64
        self._decide.argtypes = (ctypes.POINTER(Rules), WORDS, ctypes.c_int64, ctypes.c_double, ctypes.c_int64)
        self._simulations, self._exploration = simulations, exploration

    def decide(self, moment: DecisionPoint) -> int:
        mix = int(rng.stream(moment.seed, len(moment.actions))[0]) & 0x7FFFFFFF
        state = moment.state.ctypes.data_as(WORDS)
        return int(self._decide(ctypes.byref(self._rules), state, self._simulations, self._exploration, mix))


def library_name(library: Path, simulations: int, exploration: float) -> str:
    """What a match calls such an opponent."""
    return f"{PREFIX}{simulations}:{exploration}:{library}"


def foreign(name: str, game: GameSpec) -> LibraryAgent:
    """The opponent of that name."""
    simulations, exploration, library = name.removeprefix(PREFIX).split(":", 2)
    return LibraryAgent(game, Path(library), int(simulations), float(exploration))
