"""Environments by name: our games with rewards on the way, and those of PettingZoo."""

from collections.abc import Mapping
from functools import partial

from asyncplay import games
from asyncplay.games import block, zoo
from asyncplay.games.block import EnvironmentBlock
from asyncplay.games.environment import Environment
from asyncplay.games.spec import GameSpec, outcome_of


def load(name: str, options: Mapping[str, object]) -> Environment:
    """AsyncplayError if there is no such environment, or it cannot have these options."""
    return zoo.load(name, options) if name.startswith(zoo.PREFIX) else _of_game(games.load(name, options))


def _of_game(spec: GameSpec) -> Environment:
    block.declared(spec)
    return Environment(
        name=spec.name,
        players=spec.players,
        actions=spec.actions,
        features=spec.features,
        frames=spec.frames,
        feature_dtype=spec.feature_dtype,
        longest=spec.max_decisions,
        most_return=(1.0 + abs(spec.value_offset)) / spec.value_scale,
        reason=spec.reasons[0],
        outcome=partial(outcome_of, spec),
        make_block=partial(EnvironmentBlock, spec),
        warm=partial(block.warm, spec),
    )
