"""Who has which network: agents that share one, that do not learn, that act as they were."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from asyncplay.config.sections import PopulationSettings
from asyncplay.errors import ConfigError
from asyncplay.payloads import Array

MOST_OLDER = 1_000  # versions that are kept


class Members(NamedTuple):
    """The agents of a population and its networks, which are numbered by their first agents."""

    network_of: tuple[int, ...]  # by agent
    learning: tuple[int, ...]  # networks that learn
    older: tuple[int, ...]  # by agent: as of how many versions ago it acts

    @property
    def n_networks(self) -> int:
        return max(self.network_of) + 1

    def agents_of(self, network: int) -> tuple[int, ...]:
        return tuple(agent for agent, own in enumerate(self.network_of) if own == network)

    def acting(self, history: list[Mapping[str, Array]]) -> Mapping[str, Array]:
        """The weights that each agent acts by, float32[P, rows, columns] by name; ``history``: published ones, the
        newest last."""
        if self.network_of == tuple(range(self.n_networks)) and not any(self.older):
            return history[-1]
        ages = [min(older, len(history) - 1) for older in self.older]
        return {
            name: np.stack([history[-1 - age][name][own] for age, own in zip(ages, self.network_of, strict=True)])
            for name in history[-1]
        }


def read_members(settings: PopulationSettings, agents: int) -> Members:
    """ConfigError names the key that is wrong."""
    groups = [_numbers("share", group, agents) for group in settings.share.split(",") if group.strip()]
    named = [agent for group in groups for agent in group]
    if len(set(named)) < len(named):
        raise ConfigError(f"population.share is {settings.share!r}: an agent is in it twice")
    owners = list(range(agents))
    for group in groups:
        for agent in group:
            owners[agent] = min(group)
    firsts = sorted(set(owners))
    network_of = tuple(firsts.index(owner) for owner in owners)
    frozen = {network_of[agent] for agent in _numbers("frozen", settings.frozen, agents)}
    learning = tuple(network for network in range(len(firsts)) if network not in frozen)
    if not learning:
        raise ConfigError(f"population.frozen is {settings.frozen!r}: no agent learns; leave one out")
    return Members(network_of, learning, _older(settings.older, agents))


def _older(text: str, agents: int) -> tuple[int, ...]:
    older = [0] * agents
    for word in text.replace(",", " ").split():
        found = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,4})", word)
        if found is None or int(found[1]) >= agents or not 1 <= int(found[2]) <= MOST_OLDER:
            wanted = f'AGENT:VERSIONS such as "0:10", agents 0 to {agents - 1}, versions 1 to {MOST_OLDER}'
            raise ConfigError(f"population.older is {text!r}, must be {wanted}")
        older[int(found[1])] = int(found[2])
    return tuple(older)


def _numbers(key: str, text: str, agents: int) -> list[int]:
    words = text.replace(",", " ").split()
    if not all(re.fullmatch("[0-9]{1,4}", word) and int(word) < agents for word in words):
        raise ConfigError(f"population.{key} has {text.strip()!r}, must be agents from 0 to {agents - 1}")
    return [int(word) for word in words]
