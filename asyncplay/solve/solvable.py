"""Games that can be solved by table, by name: those of games/ that are small enough, the synthetic tree, and hold'em by
its abstraction."""

from collections.abc import Mapping
from typing import Any

from asyncplay import games
from asyncplay.config.sections import AbstractionSettings
from asyncplay.games import options as declarations
from asyncplay.games.holdem import canonical
from asyncplay.games.kernels import Progress, warm_up
from asyncplay.solve import deltas, mccfr, regret
from asyncplay.solve.abstraction import betting_tree, walk
from asyncplay.solve.abstraction.blueprint import Blueprint, compile_blueprint
from asyncplay.solve.abstraction.walk import BlueprintSampler
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import Sampler, SamplerSettings, TableSampler
from asyncplay.solve.synthetic_tree import OPTIONS, grow

SYNTHETIC_TREE = "forest"  # what users call it
ABSTRACTED = "holdem"

DEFAULT = AbstractionSettings()

TableGame = FlatGame | Blueprint


def compile_game(name: str, options: Mapping[str, object], abstraction: AbstractionSettings = DEFAULT) -> TableGame:
    """Return a game as arrays, numbered alike in every process. What cannot be solved is the user's mistake."""
    if name == ABSTRACTED:
        return compile_blueprint(games.load(name, options), abstraction)
    if name != SYNTHETIC_TREE:
        return flatten(games.load(name, options))
    chosen: dict[str, Any] = declarations.check(name, OPTIONS, options)
    return grow(**chosen)


def make_sampler(game: TableGame, settings: SamplerSettings, seed: int) -> TableSampler:
    if isinstance(game, Blueprint):
        return BlueprintSampler(game, settings, seed)
    return Sampler(game, settings, seed)


def warm(name: str, options: Mapping[str, object], progress: Progress | None = None) -> None:
    """Compile every kernel that workers will call, before they start."""
    if name == ABSTRACTED:
        own = [betting_tree.walk_tree, canonical.number_boards, *walk.KERNELS, mccfr.withdraw]
    else:
        own = [*([] if name == SYNTHETIC_TREE else games.load(name, options).kernels.all()), *mccfr.KERNELS]
    warm_up([*own, *deltas.KERNELS, regret.largest_regrets], progress)
