"""Games that can be solved by table, by name: those of games/ that are small enough, and the synthetic tree."""

from collections.abc import Mapping
from typing import Any

from asyncplay import games
from asyncplay.games import options as declarations
from asyncplay.games.kernels import Progress, warm_up
from asyncplay.solve import deltas, mccfr
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.synthetic_tree import OPTIONS, grow

SYNTHETIC_TREE = "forest"  # what users call it


def compile_game(name: str, options: Mapping[str, object]) -> FlatGame:
    """Return a game as flat arrays, numbered alike in every process. What cannot be solved is the user's mistake."""
    if name != SYNTHETIC_TREE:
        return flatten(games.load(name, options))
    chosen: dict[str, Any] = declarations.check(name, OPTIONS, options)
    return grow(**chosen)


def warm(name: str, options: Mapping[str, object], progress: Progress | None = None) -> None:
    """Compile every kernel that workers will call, before they start."""
    rules = [] if name == SYNTHETIC_TREE else games.load(name, options).kernels.all()
    warm_up([*rules, *deltas.KERNELS, *mccfr.KERNELS], progress)
