"""Games that can be solved by table, by name: those of games/ that are small enough, and the synthetic tree."""

from collections.abc import Mapping
from inspect import signature

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import Progress, warm_up
from asyncplay.solve import deltas, mccfr
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.synthetic_tree import grow

SYNTHETIC_TREE = "forest"  # what users call it


def compile_game(name: str, options: Mapping[str, object]) -> FlatGame:
    """Return a game as flat arrays, numbered alike in every process. What cannot be solved is the user's mistake."""
    if name != SYNTHETIC_TREE:
        return flatten(games.load(name, options))
    known = tuple(signature(grow).parameters)
    for option, value in options.items():
        if option not in known or type(value) is not int:
            raise AsyncplayError(f"{option} = {value!r} is no option of {name}: whole numbers {', '.join(known)}")
    return grow(**options)  # type: ignore[arg-type]  # checked just above


def warm(name: str, options: Mapping[str, object], progress: Progress | None = None) -> None:
    """Compile every kernel that workers will call, before they start."""
    rules = [] if name == SYNTHETIC_TREE else games.load(name, options).kernels.all()
    warm_up([*rules, *deltas.KERNELS, *mccfr.KERNELS], progress)
