"""Games that can be solved by table, by name: those of games/ that are small enough, the synthetic tree, and hold'em by
its abstraction."""

from collections.abc import Mapping
from typing import Any

from asyncplay import games
from asyncplay.config.menus import parse_buckets
from asyncplay.config.tables import AbstractionSettings
from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.holdem import canonical
from asyncplay.games.kernels import Progress, warm_up
from asyncplay.solve import deltas, mccfr, regret
from asyncplay.solve.abstraction import betting_tree, shared_table, sizing, walk
from asyncplay.solve.abstraction.blueprint import Blueprint, compile_blueprint
from asyncplay.solve.abstraction.menus import menu_table
from asyncplay.solve.abstraction.walk import BlueprintSampler, SharedSampler
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import PieceWalker, Sampler, SamplerSettings, TableSampler
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


def is_table_shared(name: str, options: Mapping[str, object], abstraction: AbstractionSettings, table: str) -> bool:
    """Whether all workers change one table; ``table`` is ``solve.table``."""
    if name != ABSTRACTED:
        return False
    spec = games.load(name, options)
    sizes = betting_tree.measure_tree(spec, menu_table(abstraction), parse_buckets(abstraction.buckets))
    assert sizes is not None, "nothing limits the count"
    return sizing.is_shared(table, sizes)


def make_sampler(game: TableGame, settings: SamplerSettings, seed: int) -> TableSampler:
    if isinstance(game, Blueprint):
        return BlueprintSampler(game, settings, seed)
    return Sampler(game, settings, seed)


def share_table(  # noqa: PLR0917
    game: TableGame, settings: SamplerSettings, seed: int, path: str, n_bytes: int, digest: str
) -> PieceWalker:
    """Walk on the shared table at a path; AsyncplayError if it is not that of the game, or the game is another than the
    coordinator's."""
    if not isinstance(game, Blueprint) or game.digest != digest:
        raise AsyncplayError(f"the shared table {path} is of an abstraction {digest[:16]}, which this worker has not")
    return SharedSampler(game, settings, seed, shared_table.map_table(path, n_bytes, game))


def warm(
    name: str, options: Mapping[str, object], progress: Progress | None = None, *, is_shared: bool = False
) -> None:
    """Compile every kernel that workers will call, before they start."""
    if name == ABSTRACTED:
        walks = [walk.walk_shared, *shared_table.KERNELS] if is_shared else [walk.walk_blueprint, mccfr.withdraw]
        own = [betting_tree.walk_tree, canonical.number_boards, *walks]
    else:
        own = [*([] if name == SYNTHETIC_TREE else games.load(name, options).kernels.all()), *mccfr.KERNELS]
    warm_up([*own, *deltas.KERNELS, regret.largest_regrets], progress)
