"""Episodes are held against what can be before they are stored."""

from dataclasses import replace

import numpy as np
import pytest
from methods.population.test_worker import OPTIONS, act, spec

from asyncplay.games import environments
from asyncplay.methods.population.episodes import episode_flaw, passages

ENVIRONMENT = environments.load("treasurehunt", OPTIONS)


@pytest.fixture(scope="module")
def episode():
    return act(1, spec(2))[0][0]


def flaw(episode, **changes) -> str | None:
    return episode_flaw(replace(episode, **changes), ENVIRONMENT, seed=episode.seed, version=3)


def changed(array: np.ndarray, at: int, value: float) -> np.ndarray:
    copy = array.copy()
    copy.flat[at] = value
    return copy


def test_an_episode_as_it_was_played_has_no_flaw(episode):
    assert flaw(episode) is None


@pytest.mark.parametrize(
    ("part", "at", "value", "words"),
    [
        ("actions", 3, 4, "an action outside the 4 that there are"),
        ("actions", 3, -1, "an action outside the 4 that there are"),
        ("seats", 0, 3, "an agent outside its 3"),
        ("versions", 1, 4, "weights of a version outside 0 to 3"),
        ("choices", 0, 2, "legal actions that are none"),
        ("rewards", 0, np.nan, "a reward that is no number up to 60"),
        ("rewards", 0, 3.0, "rewards that do not add up to its returns"),
        ("returns", 0, 61.0, "a return that is no number up to 60"),
        ("outcome", 0, 0.7, "an outcome that is not its returns'"),
    ],
)
def test_what_cannot_be_is_named(episode, part, at, value, words):
    assert flaw(episode, **{part: changed(getattr(episode, part), at, value)}) == words


def test_other_lengths_seeds_and_frames_are_named(episode):
    assert flaw(episode, reason="limit").startswith("'limit' for the reason of its end")
    assert flaw(episode, choices=np.zeros_like(episode.choices)) == "a decision that was not legal"
    assert flaw(episode, frames=episode.frames[:, 1:]) == "frames of 124 uint8, wanted 125"
    assert episode_flaw(episode, ENVIRONMENT, seed=1, version=3) == f"seed {episode.seed}, its unit has 1"


def test_each_agent_learns_from_its_own_decisions(episode):
    for agent, passage in passages(episode, 3):
        np.testing.assert_array_equal(passage.actions, episode.actions[episode.seats == agent])
        assert len(passage.rewards) == OPTIONS["turns"]
