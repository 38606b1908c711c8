"""From the section of a configuration to what kernels take."""

import json
from dataclasses import asdict, fields

import numpy as np
import pytest

from asyncplay import games
from asyncplay.config.sections import SearchSettings
from asyncplay.search.group import kernel_settings
from asyncplay.search.layout import KernelSettings

ELSEWHERE = {"root", "warm_decisions", "mild_decisions", "late_temperature", "games", "cache_positions", "cache_mb"}
"""Search keys with no kernel setting of the same name: root and temperatures have another form there, the last three
are the worker's."""


def test_every_search_key_reaches_the_kernels_or_is_known_not_to():
    keys = {field.name for field in fields(SearchSettings)}
    assert keys - set(KernelSettings._fields) == ELSEWHERE


@pytest.mark.parametrize("is_match", [False, True])
def test_settings_are_the_same_after_the_way_to_a_worker(is_match):
    """Numbers that no decimal fraction of few digits equals survive JSON bit by bit."""
    search = SearchSettings(c_puct=4 / 3, noise_alpha=0.1 + 0.2, full_share=1 / 7, root="gumbel", late_temperature=1e-3)
    arrived = SearchSettings(**json.loads(json.dumps(asdict(search))))
    blob = games.load("blob", {"players": 3, "cards": 2})
    here, there = (kernel_settings(blob, settings, is_match=is_match) for settings in (search, arrived))

    assert arrived == search
    assert here[:-1] == there[:-1]
    np.testing.assert_array_equal(here.temperatures, there.temperatures)


def test_temperatures_go_from_warm_to_late_and_are_zero_in_a_match():
    search = SearchSettings(warm_decisions=2, mild_decisions=1, late_temperature=0.125, noise_weight=0.5)
    own, match = (kernel_settings(games.load("connect4"), search, is_match=is_match) for is_match in (False, True))

    assert own.temperatures.tolist() == [1.0, 1.0, 0.5, 0.125]
    assert match.temperatures.tolist() == [0.0]
    assert (own.noise_weight, match.noise_weight) == (0.5, 0.0)
