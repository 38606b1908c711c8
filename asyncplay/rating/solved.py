"""How far a solving run's average policy is from equilibrium, exactly."""

from pathlib import Path
from typing import Any

import numpy as np

from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
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


def measure(run: Path, config: Config) -> dict[str, Any]:
    """What ``asyncplay eval --json`` prints of the newest checkpoint that is whole."""
    found, complaints = checkpoint.newest(run / CHECKPOINTS)
    if found is None:
        reason = "; ".join(complaints) or "it has no checkpoint yet"
        raise AsyncplayError(f"{run} cannot be evaluated: {reason}")
    game = solvable.compile_game(config.game.name, config.game.options)
    assert isinstance(game, FlatGame), "a blueprint plays matches"
    if game.n_histories > config.solve.exact_nodes:
        size = f"{game.n_histories:,} histories, solve.exact_nodes is {config.solve.exact_nodes:,}"
        raise AsyncplayError(f"{run} cannot be evaluated: the game has {size}")
    table = array_of(found.snapshot, "table", np.float64, new_table(game).shape)
    measured = exploitability(game, average_policy(game, table))
    return {
        "run": str(run),
        "game": config.game.name,
        "checkpoint": found.number,
        "iterations": read(found.snapshot).stats.iterations,
        "nash_conv": measured.nash_conv,
        "exploitability": measured.exploitability,
        "values": measured.values.tolist(),
        "best_responses": measured.best.tolist(),
    }
