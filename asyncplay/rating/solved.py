"""How far a solving run's average policy is from equilibrium, exactly."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Found
from asyncplay.errors import AsyncplayError
from asyncplay.methods.mccfr.checkpoint import array_of, read
from asyncplay.rundir.layout import CHECKPOINTS, CONFIG, read_config
from asyncplay.solve import solvable
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.regret import average_policy, new_table


def config_of(run: Path) -> Config | None:
    """The configuration of a run that solves by table; None for any other folder."""
    config = read_config(run) if (run / CONFIG).exists() else None
    return config if config is not None and config.solve.method != "off" else None


class SolvedTable(NamedTuple):
    """The average policy of a checkpoint."""

    game: FlatGame
    policy: NDArray[np.float64]  # float64[E], of the entries of the game
    number: int  # of the checkpoint
    iterations: int


def read_table(run: Path, config: Config, number: int | None = None) -> SolvedTable:
    """Of the newest checkpoint that is whole, or of the one with this number."""
    place, complaints = run / CHECKPOINTS, list[str]()
    found: Found | None
    if number is None:
        found, complaints = checkpoint.newest(place)
    else:
        known = checkpoint.numbers(place)
        if number not in known:
            raise AsyncplayError(f"{run} has no checkpoint {number}; it has {', '.join(map(str, known)) or 'none'}")
        found = Found(number, checkpoint.load(place / f"{number:06d}"))
    if found is None:
        reason = "; ".join(complaints) or "it has no checkpoint yet"
        raise AsyncplayError(f"{run} has no table to look into: {reason}")
    game = solvable.compile_game(config.game.name, config.game.options)
    assert isinstance(game, FlatGame), "a blueprint has policies of its own"
    table = array_of(found.snapshot, "table", np.float64, new_table(game).shape)
    return SolvedTable(game, average_policy(game, table), found.number, read(found.snapshot).stats.iterations)


def measure(run: Path, config: Config) -> dict[str, Any]:
    """What ``asyncplay eval --json`` prints of the newest checkpoint that is whole."""
    game, policy, number, iterations = read_table(run, config)
    if game.n_histories > config.solve.exact_nodes:
        size = f"{game.n_histories:,} histories, solve.exact_nodes is {config.solve.exact_nodes:,}"
        raise AsyncplayError(f"{run} cannot be evaluated: the game has {size}")
    measured = exploitability(game, policy)
    return {
        "run": str(run),
        "game": config.game.name,
        "checkpoint": number,
        "iterations": iterations,
        "nash_conv": measured.nash_conv,
        "exploitability": measured.exploitability,
        "values": measured.values.tolist(),
        "best_responses": measured.best.tolist(),
    }
