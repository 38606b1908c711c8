"""The options of a configuration's game: those typed as flags laid over it, and all of them checked."""

from collections.abc import Sequence
from dataclasses import replace

from asyncplay import games
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.games import options
from asyncplay.games.options import GameOption, Value, as_typed

SYNTHETIC_LOAD, SYNTHETIC_TREE = "synthetic", "forest"
"""Made to measure; they are no games. solve/solvable.py, which loads numba, has the second name too."""
ABSTRACTED = "holdem"
"""The game that is solved by its abstraction; solve/solvable.py has this name too."""


def lay_over(config: Config, words: Sequence[str]) -> Config:
    """The configuration with options that were typed as KEY=VALUE; AsyncplayError if its game cannot have them."""
    if not words:
        return config
    typed = options.parse(config.game.name, _declared(config.game.name), words)
    chosen = replace(config, game=replace(config.game, options=config.game.options | typed))
    settled(chosen)
    return chosen


def settled(config: Config) -> dict[str, Value]:
    """Every option of the game with its value; AsyncplayError about one that cannot be."""
    return options.check(config.game.name, _declared(config.game.name), config.game.options)


def difference(before: Config, now: Config) -> tuple[str, str]:
    """The options in which two configurations of a game differ, as they are typed; empty where they play the same."""
    old, new = settled(before), settled(now)
    names = [name for name in new if old[name] != new[name]]
    return as_typed(names, old), as_typed(names, new)


def require_same(config: Config, words: Sequence[str], whose: str) -> None:
    """AsyncplayError if options that were typed would make another game of what has been played so far."""
    before, now = difference(config, lay_over(config, words))
    if now:
        told = f"--option {now}: {whose} is of {config.game.name} with {before}"
        raise AsyncplayError(f"{told}; leave it out or train a new run")


def _declared(name: str) -> tuple[GameOption, ...]:
    if name == SYNTHETIC_LOAD:
        return ()
    if name == SYNTHETIC_TREE:
        from asyncplay.solve.synthetic_tree import OPTIONS  # numba loads here, not on --help

        return OPTIONS
    return games.declared(name)
