"""The searches compiled for each game: a module a game, three lines a kernel."""

from importlib import import_module
from typing import NamedTuple

from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import Kernel, Progress, ready, warm_up
from asyncplay.games.spec import GameSpec
from asyncplay.search import cache as recall
from asyncplay.search import puct


class Entry(NamedTuple):
    """What Python calls to let games of one kind think."""

    select: Kernel
    advance: Kernel
    rebuild: Kernel
    backup: Kernel  # the same for all games


def load(spec: GameSpec) -> Entry:
    """Return a game's kernels, compiled or fetched from the disk."""
    entry = declared(spec)
    for dispatcher in entry:
        ready(dispatcher)
    return entry


def warm(spec: GameSpec, progress: Progress | None = None) -> None:
    """Compile the kernels of a game into the cache, before workers start; ``progress(done, total, name)``."""
    warm_up([*spec.kernels.all(), *declared(spec), *recall.KERNELS], progress)


def declared(spec: GameSpec) -> Entry:
    """Return a game's kernels as they are; AsyncplayError if it has none."""
    if spec.entry_module is None:
        raise AsyncplayError(f"{spec.name} has no tree search: it is solved by table, see configs/leduc.toml")
    module = import_module(spec.entry_module)
    return Entry(module.select, module.advance, module.rebuild, puct.backup)
