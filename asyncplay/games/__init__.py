"""The rules: a module or folder for each game, all behind the contract of spec.py.

A game's module has a function ``spec(**options) -> GameSpec``; ``load`` imports it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from asyncplay.errors import AsyncplayError

if TYPE_CHECKING:  # importing spec.py imports numba, which a list of names does not need
    from asyncplay.games.spec import GameSpec

NAMES = ("blob", "connect4", "holdem", "kuhn", "leduc", "liarsdice", "tictactoe")


def load(name: str, options: Mapping[str, object] | None = None) -> GameSpec:
    """Return a game by name; nothing is compiled yet. An unknown name or option is the user's mistake."""
    if name not in NAMES:
        raise AsyncplayError(_unknown("game", name, NAMES))
    build = import_module(f"asyncplay.games.{name}").spec
    known = tuple(inspect.signature(build).parameters)
    for option in options or {}:
        if option not in known:
            raise AsyncplayError(_unknown(f"option of {name}", option, known))
    return build(**(options or {}))


def _unknown(what: str, value: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(value, known, 1, cutoff=0.0)
    listed = f"known are {', '.join(known)}" if known else "it has none"
    return f"{value!r} is no {what}" + (f", did you mean {near[0]!r}? {listed}" if near else f": {listed}")
