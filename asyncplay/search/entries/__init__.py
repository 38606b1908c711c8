"""The searches compiled for each game: a module a game, three lines a kernel.

That of a game of another package lies in that package, where the game's ``entry_module`` says.
"""

from typing import NamedTuple

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games import draws
from asyncplay.games.kernels import Kernel, Progress, ready, warm_up
from asyncplay.games.spec import GameSpec
from asyncplay.search import cache as recall
from asyncplay.search import puct
from asyncplay.search.slow_rebuild import rebuilder


class Entry(NamedTuple):
    """What Python calls to let games of one kind think."""

    select: Kernel
    advance: Kernel
    rebuild: Kernel
    backup: Kernel  # the same for all games
    turn_rows: Kernel | None  # of games whose symmetries depend on the position: see search/symmetry.py
    check_turns: Kernel | None  # likewise

    def kernels(self) -> list[Kernel]:
        """Those that there are."""
        return [dispatcher for dispatcher in self if dispatcher is not None]


def load(spec: GameSpec) -> Entry:
    """Return a game's kernels, compiled or fetched from the disk."""
    entry = declared(spec)
    for dispatcher in entry.kernels():
        ready(dispatcher)
    return entry


def load_rebuild(spec: GameSpec) -> Kernel:
    """Return what plays a game's records again."""
    return load(spec).rebuild if spec.slow is None else rebuilder(spec)


def warm(spec: GameSpec, progress: Progress | None = None) -> None:
    """Compile the kernels of a game into the cache, before workers start; ``progress(done, total, name)``."""
    if spec.slow is not None:
        require(spec)
        warm_up([*draws.KERNELS, *recall.KERNELS], progress)
        return
    others = [dispatcher for dispatcher in (spec.advise, spec.why) if dispatcher is not None]
    warm_up([*spec.kernels.all(), *others, *declared(spec).kernels(), *recall.KERNELS], progress)


def require(spec: GameSpec) -> None:
    """AsyncplayError if a game is not searched."""
    if spec.unsearchable:
        raise AsyncplayError(f"{spec.name} has no tree search: {spec.unsearchable}")
    if spec.slow is None:
        declared(spec)


def declared(spec: GameSpec) -> Entry:
    """Return a game's kernels as they are; AsyncplayError if it has none."""
    if spec.entry_module is None:
        if spec.block_module is not None:
            cure = "its agents learn from rewards: set population.method, see configs/treasurehunt.toml"
        else:
            cure = "it is solved by table, by --solve.method external"
        raise AsyncplayError(f"{spec.name} has no tree search: {cure}")
    module = games.import_part(spec.name, spec.entry_module, ("select", "advance", "rebuild"))
    turns = (getattr(module, name, None) for name in ("turn_rows", "check_turns"))
    return Entry(module.select, module.advance, module.rebuild, puct.backup, *turns)


def load_rollouts(spec: GameSpec) -> Kernel:
    """Return a game's plain MCTS, compiled or fetched from the disk; searches with a network do not need it."""
    if spec.entry_module is None:
        raise AsyncplayError(f"{spec.name} has no tree search, and so no plain MCTS")
    return ready(games.import_part(spec.name, spec.entry_module, ("roll_out",)).roll_out)
