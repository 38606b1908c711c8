"""Who has which network."""

import numpy as np
import pytest

from asyncplay.config.sections import PopulationSettings
from asyncplay.errors import ConfigError
from asyncplay.methods.population.members import read_members


def test_each_agent_has_its_own_network_unless_told_otherwise():
    members = read_members(PopulationSettings(), 3)

    assert members.network_of == members.learning == (0, 1, 2)
    assert members.older == (0, 0, 0)


def test_agents_share_networks_which_are_frozen_together():
    members = read_members(PopulationSettings(share="0 3, 1 4", frozen="4"), 5)

    assert members.network_of == (0, 1, 2, 0, 1)
    assert members.learning == (0, 2)
    assert members.agents_of(0) == (0, 3)


def test_an_older_agent_acts_by_what_its_network_was_versions_ago():
    members = read_members(PopulationSettings(share="0 1", older="1:2"), 3)
    history = [{"a": np.array([[version], [10 + version]])} for version in range(4)]

    assert members.acting(history)["a"].ravel().tolist() == [3, 1, 13]
    assert members.acting(history[:1])["a"].ravel().tolist() == [0, 0, 10]


def test_without_older_or_shared_networks_nothing_is_copied():
    newest = {"a": np.zeros((2, 1))}
    assert read_members(PopulationSettings(), 2).acting([newest]) is newest


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share": "0 5"}, "population.share has '0 5', must be agents from 0 to 4"),
        ({"share": "0 1, 1 2"}, "population.share is '0 1, 1 2': an agent is in it twice"),
        ({"frozen": "x"}, "population.frozen has 'x', must be agents from 0 to 4"),
        ({"frozen": "0 1 2 3 4"}, "population.frozen is '0 1 2 3 4': no agent learns; leave one out"),
        ({"older": "3"}, "population.older is '3', must be AGENT:VERSIONS"),
        ({"older": "9:1"}, "population.older is '9:1', must be AGENT:VERSIONS"),
    ],
)
def test_a_mistake_names_its_key(settings, words):
    with pytest.raises(ConfigError) as found:
        read_members(PopulationSettings(**settings), 5)
    assert str(found.value).startswith(words)
