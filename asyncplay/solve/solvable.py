"""Games that can be solved by table, by name: those of games/ that are small enough, and a forest made to measure."""

from collections.abc import Mapping
from inspect import signature

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import Progress, warm_up
from asyncplay.solve import deltas, mccfr
from asyncplay.solve import synthetic_tree as forest
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten

FOREST = "forest"


def compile_game(name: str, options: Mapping[str, object]) -> FlatGame:
    """Return a game as flat arrays, numbered alike in every process. What cannot be solved is the user's mistake."""
    if name != FOREST:
        return flatten(games.load(name, options))
    known = tuple(signature(forest.grow).parameters)
    for option, value in options.items():
        if option not in known or type(value) is not int:
            raise AsyncplayError(f"{option} = {value!r} is no option of {FOREST}: whole numbers {', '.join(known)}")
    return forest.grow(**options)  # type: ignore[arg-type]  # checked just above


def warm(name: str, options: Mapping[str, object], progress: Progress | None = None) -> None:
    """Compile all that workers will call, before they start."""
    rules = [] if name == FOREST else games.load(name, options).kernels.all()
    warm_up([*rules, *deltas.KERNELS, *mccfr.KERNELS], progress)
