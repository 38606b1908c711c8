"""A run's folder as an agent that decides."""

from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from asyncplay import games
from asyncplay.agents.greedy import GreedyAgent
from asyncplay.agents.search import SearchAgent
from asyncplay.agents.table import BlueprintTable, FlatTable
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.games import block
from asyncplay.games.kernels import ready
from asyncplay.games.position import Position
from asyncplay.games.zoo import PREFIX as PETTINGZOO
from asyncplay.machine import usable_cores
from asyncplay.methods.game_options import ABSTRACTED
from asyncplay.methods.population.members import read_members
from asyncplay.methods.selfplay.network import load_game, open_model
from asyncplay.model.backends.quantile_backend import QuantileBackend
from asyncplay.model.device import Candidate
from asyncplay.payloads import Estimates, Positions
from asyncplay.rating.evaluate import Brain, read_brain
from asyncplay.rating.hands import read_contender
from asyncplay.rating.rewards import load_stack
from asyncplay.rating.solved import SolvedTable, read_table
from asyncplay.rundir.layout import read_config
from asyncplay.rundir.weights import versions
from asyncplay.solve.exact import infoset_values
from asyncplay.solve.solvable import SYNTHETIC_TREE
from asyncplay.trained.agent import GreedyMind, SearchMind, TableMind, TrainedAgent

BACKEND = "onnx-fp32"  # of the few rows of one decision; any machine has it


def load(run: str | PathLike[str], version: int | None = None) -> TrainedAgent:
    """The agent in a run's folder, with the latest weights unless ``version`` names others.

    Of a table a version is the number of a checkpoint, of a blueprint the iterations of a saved policy. Kernels that
    were never compiled on this machine are compiled now. AsyncplayError says what is wrong with a folder.
    """
    folder = Path(run)
    config = read_config(folder)
    if config.population.method != "off":
        return _population(folder, config, version)
    if config.solve.method == "off":
        return _network(folder, read_brain(folder, version))
    if config.game.name == ABSTRACTED:
        return _blueprint(folder, config, version)
    return _table(folder, config, version)


def _network(run: Path, brain: Brain) -> TrainedAgent:
    config, shape, version, weights = brain
    game = load_game(config)
    backend = open_model(config, shape, weights, version, Candidate(BACKEND, usable_cores()))

    def estimate(positions: Positions) -> Estimates:
        return backend.launch(positions)()

    for kernel in game.kernels.all():
        ready(kernel)
    return TrainedAgent(run, game, version, SearchMind(SearchAgent(game, config.search, estimate)))


def _table(run: Path, config: Config, version: int | None) -> TrainedAgent:
    if config.game.name == SYNTHETIC_TREE:
        raise AsyncplayError(f"{run} solves a synthetic tree, which has no positions to decide in")
    found, game = read_table(run, config, version), games.load(config.game.name, config.game.options)
    for kernel in game.kernels.all():
        ready(kernel)
    table = FlatTable(game, found.game, found.policy)
    return TrainedAgent(run, game, found.number, TableMind(table, TableValues(table, found)))


class TableValues:
    """What each seat may expect at the infosets of a table; computed when first asked for."""

    def __init__(self, table: FlatTable, solved: SolvedTable) -> None:
        self._table, self._solved = table, solved

    @cached_property
    def _all(self) -> NDArray[np.float64]:
        return infoset_values(self._solved.game, self._solved.policy)

    def of(self, position: Position) -> list[float | None]:
        spec, means = position.spec, self._all[self._table.infoset(position.state)]
        return [None if np.isnan(mean) else float(mean) * spec.value_scale + spec.value_offset for mean in means]


def _blueprint(run: Path, config: Config, version: int | None) -> TrainedAgent:
    found = read_contender(run, config, version)
    table = BlueprintTable(found.spec, found.side(), found.file)
    return TrainedAgent(run, found.spec, found.policy.iterations, TableMind(table))


def _population(run: Path, config: Config, version: int | None) -> TrainedAgent:
    if config.game.name.startswith(PETTINGZOO):
        raise AsyncplayError(f"{run} plays {config.game.name}, whose positions are PettingZoo's own and not ours")
    if not (known := versions(run)):
        raise AsyncplayError(f"{run} has no trained weights yet; train on: asyncplay train --resume {run}")
    chosen, game = known[-1] if version is None else version, games.load(config.game.name, config.game.options)
    block.warm(game)
    members = read_members(config.population, game.players)
    weights = members.acting([load_stack(run, chosen, config)])
    backend = QuantileBackend(weights, chosen, quantiles=config.population.quantiles, threads=1)
    agent = GreedyAgent(game, lambda positions: backend.launch(positions)())
    return TrainedAgent(run, game, chosen, GreedyMind(agent))
