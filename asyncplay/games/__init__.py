"""The rules: a module or folder for each game, all behind the contract of spec.py.

A game's module has ``OPTIONS``, which declares its options, and a function ``spec`` that takes them all by name and
returns a GameSpec; ``load`` imports it. Games of other packages are found by their entry points, see packages.py. Names
with a prefix are games of others, in plain Python: a module of FOREIGN has ``OPTIONS`` and a function ``load`` that
takes the whole name and the options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games import packages
from asyncplay.games.options import GameOption, Value

if TYPE_CHECKING:  # importing spec.py imports numba, which a list of names does not need
    from asyncplay.games.spec import GameSpec

NAMES = ("blob", "connect4", "holdem", "kuhn", "leduc", "liarsdice", "ringrift", "tictactoe", "treasurehunt")
RESERVED = ("forest", "new", "synthetic")
"""Names that no game of another package may have either: loads made to measure, and a command."""

FOREIGN = {"openspiel:": "spiel", "pettingzoo:": "zoo_rules", "python:": "plain"}
"""Prefixes of names, and the modules that know what follows."""


def load(name: str, options: Mapping[str, object] | None = None) -> GameSpec:
    """Return a game by name; nothing is compiled yet. An unknown name or option is the user's mistake."""
    source = _source(name)
    chosen = declarations.check(name, source.OPTIONS, options or {})
    spec: GameSpec = source.load(name, chosen) if is_foreign(name) else source.spec(**chosen)
    return spec


def is_foreign(name: str) -> bool:
    """Whether a name is that of somebody else's game."""
    return name.startswith(tuple(FOREIGN))


def declared(name: str) -> tuple[GameOption, ...]:
    """The options of a game."""
    options: tuple[GameOption, ...] = _source(name).OPTIONS
    return options


def parse_options(name: str, words: Sequence[str]) -> dict[str, Value]:
    """Options of a game that were typed as KEY=VALUE; ``load`` says whether it can have these values."""
    return declarations.parse(name, declared(name), words)


def name_flaw(name: str) -> str | None:
    """Why no game of another package can have this name, or None."""
    if not packages.is_name(name):
        return "must be a lower-case Python identifier of at most 40 letters, and no keyword"
    return "is taken by asyncplay" if name in (*NAMES, *RESERVED) else None


def packaged_names() -> tuple[list[str], list[str]]:
    """The games of other packages, and a line for each that cannot be asked for; none of them is imported."""
    found = packages.installed()
    flaws = {name: name_flaw(name) for name in found.games}
    complaints = [f"{game}: the name {flaws[name]}" for name in flaws if flaws[name] for game in found.games[name]]
    return sorted(name for name in flaws if flaws[name] is None), found.complaints + complaints


def package_of(name: str) -> str:
    """Which package has a game, with its version where it is another than ours."""
    return "asyncplay" if name in NAMES else packages.package_of(name) or "asyncplay"


def import_part(name: str, module: str, wanted: tuple[str, ...]) -> ModuleType:
    """A module that the spec of the game ``name`` names; AsyncplayError if it is another package's and lacks one of
    the kernels ``wanted``."""
    return import_module(module) if name in NAMES else packages.import_part(name, module, wanted)


def _source(name: str) -> Any:
    for prefix, module in FOREIGN.items():
        if name.startswith(prefix):
            return import_module(f"asyncplay.games.{module}")
    if name in NAMES:
        return import_module(f"asyncplay.games.{name}")
    found = None if name_flaw(name) else packages.source(name)
    if found is None:
        known = [*NAMES, *packaged_names()[0], *(f"{prefix}..." for prefix in FOREIGN)]
        raise AsyncplayError(declarations.unknown("game", name, known))
    return found
