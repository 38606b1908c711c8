"""Games of other packages: entry points of the group ``asyncplay.games``, each a name and the module of a game.

Such a module has OPTIONS and ``spec`` as our own have; the modules that a GameSpec names, where its search or its
blocks of environments are compiled, lie in the same package. Nothing is imported before a game is asked for. A package
may do whatever it likes, so here alone any exception counts: it costs its own game, in one line that names the package.
"""

import keyword
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module, metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from asyncplay.errors import AsyncplayError
from asyncplay.games.options import GameOption

if TYPE_CHECKING:  # importing spec.py imports numba, which a list of names does not need
    from asyncplay.games.spec import GameSpec

GROUP = "asyncplay.games"
NAME_FORM = re.compile(r"[a-z][a-z0-9_]{0,39}")


class ForeignGame(NamedTuple):
    """A game of another package, as that declares it."""

    name: str
    module: str
    package: str  # with its version

    def __str__(self) -> str:
        return f"game {self.name} of package {self.package}"


class Installed(NamedTuple):
    """What the packages of this environment declare."""

    games: dict[str, list[ForeignGame]]  # by name; several under one name are a mistake
    complaints: list[str]  # a line for each package whose declaration cannot be read


class GameSource(NamedTuple):
    """Where a GameSpec comes from; a module of ours has the same two attributes."""

    OPTIONS: tuple[GameOption, ...]
    spec: "Callable[..., GameSpec]"


def installed() -> Installed:
    return _installed(tuple(sys.path))


def is_name(name: str) -> bool:
    """Whether a game may be called so: the name is a module's, an option's and a folder's."""
    return NAME_FORM.fullmatch(name) is not None and not keyword.iskeyword(name)


def source(name: str) -> GameSource | None:
    """The game of that name, imported; None if no package has one. AsyncplayError says what is wrong with it."""
    game = _only(name)
    if game is None:
        return None
    module = _import(game, game.module)
    options: Any = getattr(module, "OPTIONS", None)
    if not isinstance(options, tuple) or not all(isinstance(option, GameOption) for option in options):
        raise AsyncplayError(f"{game}: {game.module} has no OPTIONS, a tuple of GameOption")
    if not callable(getattr(module, "spec", None)):
        raise AsyncplayError(f"{game}: {game.module} has no function spec")
    return GameSource(options, lambda **chosen: _make(game, module.spec, chosen))


def import_part(name: str, module: str, wanted: tuple[str, ...]) -> ModuleType:
    """As ``games.import_part``; a game that no package has, such as one of a test, is not looked at."""
    game = _only(name)
    if game is None:
        return import_module(module)
    part = _import(game, module)
    for kernel in wanted:
        if not hasattr(part, kernel):
            raise AsyncplayError(f"{game}: {module} has no kernel {kernel}")
    return part


def package_of(name: str) -> str | None:
    """The package, with its version, that has the game of that name; None: no other than ours."""
    game = _only(name)
    return None if game is None else game.package


@cache
def _installed(path: tuple[str, ...]) -> Installed:
    """The first package of a name on the path is the one that Python imports."""
    found, seen = Installed({}, []), set[str]()
    for distribution in metadata.distributions(path=list(path)):
        package = "without a name"
        try:
            if GROUP not in (distribution.read_text("entry_points.txt") or ""):
                continue
            package = f"{distribution.name} {distribution.version}"
            points = [point for point in distribution.entry_points if point.group == GROUP]
        except Exception as error:
            found.complaints.append(f"package {package}: its entry points cannot be read: {error}")
            continue
        if distribution.name not in seen:
            seen.add(distribution.name)
            for point in points:
                found.games.setdefault(point.name, []).append(ForeignGame(point.name, point.value.strip(), package))
    return found


def _only(name: str) -> ForeignGame | None:
    games = installed().games.get(name, [])
    if len(games) > 1:
        packages = " and ".join(sorted(game.package for game in games))
        raise AsyncplayError(f"game {name} is in the packages {packages}; uninstall all but one")
    return games[0] if games else None


def _import(game: ForeignGame, module: str) -> ModuleType:
    if not all(map(str.isidentifier, module.split("."))):
        raise AsyncplayError(f"{game}: {module} is no module's name")
    try:
        return import_module(module)
    except Exception as error:
        cure = f'python -c "import {module}" says where'
        raise AsyncplayError(f"{game} cannot be imported: {type(error).__name__}: {error}; {cure}") from None


def _make(game: ForeignGame, make: "Callable[..., Any]", chosen: Mapping[str, Any]) -> "GameSpec":
    from asyncplay.games.spec import GameSpec, signature_flaw

    try:
        spec = make(**chosen)
    except AsyncplayError:
        raise  # options that do not go together
    except Exception as error:
        raise AsyncplayError(f"{game}: its spec fails: {type(error).__name__}: {error}") from None
    if not isinstance(spec, GameSpec):
        raise AsyncplayError(f"{game}: its spec returns {type(spec).__name__}, wanted is GameSpec")
    if spec.name != game.name:
        raise AsyncplayError(f"{game}: its spec is called {spec.name}, must be {game.name} as in the entry point")
    if flaw := signature_flaw(spec):
        raise AsyncplayError(f"{game}: {flaw}")
    return spec
