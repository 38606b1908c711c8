"""Greedy episodes: what the agents get when nothing they do is random."""

import json
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from asyncplay.config.sections import Config
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger, shares
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.games.environment import Environment
from asyncplay.methods import parts
from asyncplay.methods.population.episodes import episode_flaw
from asyncplay.methods.population.messages import ActSpec, Episode
from asyncplay.payloads import Array
from asyncplay.rng import derive
from asyncplay.wire.codec import encode

SURE = 1.96  # deviations on either side that make 95 %
MOST_VERSION = 1 << 62


class Reward(NamedTuple):
    """A mean over episodes with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ({self.low:.1f} to {self.high:.1f})"


class Rewards(NamedTuple):
    """Of episodes, all agents together and each of them."""

    episodes: int
    total: Reward
    agents: tuple[Reward, ...]


class Tryout:
    """Some episodes with epsilon ``epsilon``, as a work for the workers."""

    def __init__(
        self, config: Config, environment: Environment, *, model: int, episodes: int, seed: int, epsilon: float = 0.0
    ) -> None:
        self._environment, self._seed = environment, seed
        self._returns: dict[int, Array] = {}
        n_workers = parts.n_workers(config)
        at_once = max(shares(min(config.population.environments, episodes), n_workers)[0], 1)
        options = json.dumps(config.game.options)
        spec = ActSpec(config.game.name, options, at_once, model, float(epsilon), 1.0, float(epsilon))
        assignment = Assignment("greedy", encode(spec), seed, chunk=at_once, low_water=at_once)
        self.work = UnitWork(assignment, Ledger(episodes), finished=self._take, check=self._check)

    async def play(self, dispatcher: Dispatcher) -> Rewards:
        """Play beside whatever else the workers do."""
        dispatcher.add(self.work)
        try:
            await self.work.settled.wait()
        finally:
            dispatcher.remove(self.work)
        return self.rewards()

    def rewards(self) -> Rewards:
        return reckon([self._returns[unit] for unit in sorted(self._returns)])

    def _check(self, episode: Episode) -> None:
        seed = derive(self._seed, episode.unit)
        if flaw := episode_flaw(episode, self._environment, seed=seed, version=MOST_VERSION):
            raise WireError(f"episode {episode.unit} has {flaw}")

    def _take(self, episode: Episode) -> None:
        self._returns[episode.unit] = episode.returns


def reckon(returns: list[Array]) -> Rewards:
    """Means and intervals of the returns float64[P] of at least one episode."""
    table = np.array(returns)
    agents = tuple(_reward(table[:, agent]) for agent in range(table.shape[1]))
    return Rewards(len(table), _reward(table.sum(axis=1)), agents)


def _reward(values: Array) -> Reward:
    mean = float(values.mean())
    doubt = SURE * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Reward(mean, mean - doubt, mean + doubt)


OnRewards = Callable[[int, Rewards], None]
"""Is told a version and what its agents got."""
