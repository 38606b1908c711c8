"""A population trained without any machinery: one environment, one decision at a time, one network after another.

The honest baseline of ``bench population``: no processes, no queue, no store; torch uses the threads that were
measured fastest for each of its two uses, weights are never copied, and rows that explore ask nothing.
"""

import time
from typing import NamedTuple

import numpy as np

from asyncplay import rng
from asyncplay.config.sections import Config
from asyncplay.games import environments
from asyncplay.games.block import ASKS, best_actions, explore
from asyncplay.games.spec import GAME_OVER
from asyncplay.machine import usable_cores
from asyncplay.methods.population import parts
from asyncplay.methods.population.episodes import passages
from asyncplay.methods.population.members import read_members
from asyncplay.methods.population.trainer import lessons_of
from asyncplay.methods.population.worker import Recording
from asyncplay.model.live_quantile import LiveNetworks
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array
from asyncplay.search.layout import CHANCE_STREAM, THOUGHT_STREAM


class Trained(NamedTuple):
    """What came of a training."""

    seconds: float
    weights: dict[str, Array]
    steps: int  # of each network


class SequentialPopulation:
    """One environment and the networks of its agents."""

    def __init__(self, config: Config, steps_per_episode: int) -> None:
        self._config, self._steps = config, steps_per_episode
        self._environment = environments.load(config.game.name, config.game.options)
        self._environment.warm(None)
        self._members = read_members(config.population, self._environment.players)
        shape = parts.quantile_shape(config, self._environment, self._members)
        self._learner = parts.make_learner(config, shape, "cpu", threads=0)
        self._ring = parts.make_ring(config, self._environment)
        self._block, self._recording = self._environment.make_block(1), Recording(self._environment, 1)
        self._slots, self._live = np.zeros(1, np.int64), LiveNetworks(self._learner, self._members.network_of)

    def train(self) -> Trained:
        """All episodes of the configuration, with so many steps of every network after each."""
        started_s = time.perf_counter()
        for unit in range(self._config.train.units):
            self._play(unit)
            use_threads(usable_cores())
            for _ in range(self._steps):
                for network in self._members.learning:
                    self._train(network)
        return Trained(time.perf_counter() - started_s, self._learner.weights(), self._learner.most_steps)

    def _play(self, unit: int) -> None:
        """One episode; embeddings of the midpoints are computed once for it."""
        use_threads(self._live.threads)
        self._live.refresh()
        population, seed, slots = self._config.population, rng.derive(self._config.train.seed, unit), self._slots
        epsilons = np.array([max(population.epsilon * population.epsilon_factor**unit, population.epsilon_least)])
        thoughts = rng.stream(seed, THOUGHT_STREAM)[None]
        self._block.begin(slots, [seed], rng.stream(seed, CHANCE_STREAM)[None])
        self._recording.begin(slots)
        while self._block.movers[0] != GAME_OVER:
            sights = self._block.look(slots)
            actions = explore(thoughts, epsilons, sights)
            if actions[0] == ASKS:
                worths = self._live.worths(int(sights.seats[0]), sights.rows[0, 1:])
                actions = best_actions(worths[sights.legal], sights.legal, sights.offsets)
            self._recording.note(sights, actions, unit)
            self._recording.reward(slots, self._block.step(slots, actions))
        episode = self._recording.episode(0, self._block.paid[0], job=0, unit=unit, seed=seed)
        for agent, passage in passages(episode, self._environment.players):
            self._ring.add(agent, passage)

    def _train(self, network: int) -> None:
        random = np.random.default_rng((self._config.train.seed, network, self._learner.steps[network]))
        drawn = self._ring.draw(self._members.agents_of(network), self._config.learn.batch_rows, random)
        (report,) = self._learner.train([network], [lessons_of(drawn)])
        self._ring.prioritise(drawn, report.errors)
