"""The rules: a module or folder for each game, all behind the contract of spec.py.

A game's module has ``OPTIONS``, which declares its options, and a function ``spec`` that takes them all by name and
returns a GameSpec; ``load`` imports it. Names with a prefix are games of others, in plain Python: a module of FOREIGN
has ``OPTIONS`` and a function ``load`` that takes the whole name and the options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.options import GameOption, Value

if TYPE_CHECKING:  # importing spec.py imports numba, which a list of names does not need
    from asyncplay.games.spec import GameSpec

NAMES = ("blob", "connect4", "holdem", "kuhn", "leduc", "liarsdice", "ringrift", "tictactoe", "treasurehunt")

FOREIGN = {"openspiel:": "spiel", "pettingzoo:": "zoo_rules", "python:": "plain"}
"""Prefixes of names, and the modules that know what follows."""


def load(name: str, options: Mapping[str, object] | None = None) -> GameSpec:
    """Return a game by name; nothing is compiled yet. An unknown name or option is the user's mistake."""
    chosen = declarations.check(name, declared(name), options or {})
    module = _module(name)
    spec: GameSpec = module.load(name, chosen) if is_foreign(name) else module.spec(**chosen)
    return spec


def is_foreign(name: str) -> bool:
    """Whether a name is that of somebody else's game."""
    return name.startswith(tuple(FOREIGN))


def declared(name: str) -> tuple[GameOption, ...]:
    """The options of a game."""
    options: tuple[GameOption, ...] = _module(name).OPTIONS
    return options


def parse_options(name: str, words: Sequence[str]) -> dict[str, Value]:
    """Options of a game that were typed as KEY=VALUE; ``load`` says whether it can have these values."""
    return declarations.parse(name, declared(name), words)


def _module(name: str) -> Any:
    for prefix, module in FOREIGN.items():
        if name.startswith(prefix):
            return import_module(f"asyncplay.games.{module}")
    if name not in NAMES:
        raise AsyncplayError(declarations.unknown("game", name, (*NAMES, *(f"{prefix}..." for prefix in FOREIGN))))
    return import_module(f"asyncplay.games.{name}")
