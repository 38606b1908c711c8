"""Environments of PettingZoo as games to search: ``pettingzoo:MODULE`` for agents that take turns.

A position is a copy of the environment. That is a game only where nothing but the actions decides what happens and
nothing is hidden; whether it is, is tried out with two seeds before a run begins.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.errors import AsyncplayError
from asyncplay.games import zoo
from asyncplay.games.slow import SlowSizes, make_spec
from asyncplay.games.spec import GameSpec

OPTIONS = zoo.OPTIONS
MOST_PLAYERS = 8
TRIED_GAMES, TRIED_DECISIONS = 2, 40


def load(name: str, chosen: Mapping[str, Any]) -> GameSpec:
    """AsyncplayError if there is no such environment, or a search cannot play it."""
    inner = zoo.make(name, chosen["arguments"])
    cure = "train a population instead, --population.method quantile"
    if hasattr(import_module(name.removeprefix(zoo.PREFIX)), "parallel_env"):
        raise AsyncplayError(f"{name}: its agents move at the same time, which is not searched here; {cure}")
    if chosen["frames"] != 1:
        raise AsyncplayError(f"option frames of {name} is {chosen['frames']}; a search sees one, leave it out")
    world = zoo.World(inner, name)
    if not 2 <= len(world.agents) <= MOST_PLAYERS:
        raise AsyncplayError(f"{name} has {len(world.agents)} agent(s), wanted are games of 2 to {MOST_PLAYERS}")
    rules = ZooRules(world)
    for seed in range(TRIED_GAMES):
        if not _is_settled_by_actions(name, chosen["arguments"], seed):
            raise AsyncplayError(f"{name} has chance or hides something, which its interface does not tell; {cure}")
    sizes = SlowSizes(
        players=len(world.agents),
        actions=world.actions,
        features=world.features,
        longest=chosen["longest"],
        least_return=-chosen["most_return"],
        most_return=chosen["most_return"],
        is_cut=True,
    )
    return make_spec(name, rules, sizes)


def _is_settled_by_actions(name: str, arguments: str, seed: int) -> bool:
    """Whether two environments with different seeds show the same along a random game."""
    worlds, numbers = [zoo.World(zoo.make(name, arguments), name) for _ in range(2)], rng.stream(seed, 0)
    for number, world in enumerate(worlds):
        world.begin(1 + number + 2 * seed)
    for _ in range(TRIED_DECISIONS):
        first, second = worlds
        if first.mover != second.mover or (first.gains != second.gains).any():
            return False
        if first.mover < 0:
            return True
        (row, legal), (other_row, other_legal) = first.look(), second.look()
        if not (np.array_equal(row, other_row) and np.array_equal(legal, other_legal)):
            return False
        action = int(legal[rng.below(numbers, len(legal))])
        for world in worlds:
            world.play(action)
    return True


class ZooRules:
    """Positions are worlds of zoo.py."""

    def __init__(self, world: zoo.World) -> None:
        self._first = world
        world.begin(0)

    def start(self) -> zoo.World:
        return self._first

    def player(self, position: zoo.World) -> int:
        return position.mover

    def legal(self, position: zoo.World) -> list[int]:
        return position.look()[1].tolist()

    def chances(self, position: zoo.World) -> list[tuple[int, float]]:
        raise AssertionError("an environment has no chance turns")

    def play(self, position: zoo.World, action: int) -> zoo.World:
        after = position.copy()
        after.play(action)
        return after

    def returns(self, position: zoo.World) -> list[float]:
        return position.gains.tolist()

    def encode(self, position: zoo.World, viewer: int, row: NDArray[np.float32]) -> None:
        assert viewer == position.mover, "an environment shows what the agent to decide sees"
        row[:] = position.look()[0]

    def look(self, position: zoo.World, viewer: int) -> str:
        raise AsyncplayError("an environment of PettingZoo does not say what its agents know: it has no table")

    def imagine(self, position: zoo.World, viewer: int, draw: Callable[[], float]) -> list[int]:
        raise AssertionError("nothing is hidden")
