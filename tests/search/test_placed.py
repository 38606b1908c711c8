"""A group searches from positions that were not played to."""

import numpy as np
import pytest
from search.drive import play_all, policies, think

from asyncplay import games
from asyncplay.agents.search import SearchAgent
from asyncplay.config.sections import SearchSettings
from asyncplay.games.position import Position
from asyncplay.payloads import Estimates, Positions
from asyncplay.search.group import Group, make_settings
from asyncplay.search.groups import make_group
from asyncplay.search.layout import THOUGHT_STREAM

HISTORIES = {"connect4": [3, 3, 2, 4], "tictactoe": [4, 0], "openspiel:tic_tac_toe": [4, 0]}


def finish(group: Group, slot: int = 0):
    while slot not in group.advance():
        think(group)
    return group.take(slot)


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("is_set_up", [False, True])
def test_a_placed_position_is_searched_as_if_it_had_been_played_to(name, is_set_up):
    """The same visits and decisions to the end, with tree reuse, where no thought was drawn before."""
    spec, history = games.load(name), HISTORIES[name]
    settings = make_settings(spec, simulations=24, noise_weight=0.0, temperatures=[0.0])
    played = make_group(spec, settings, 1)
    played.start(np.zeros(1, np.int32), np.array([7], np.uint64))
    played.advance()
    for action in history:
        played.force(np.zeros(1, np.int32), np.array([action], np.int32))
        played.advance()
    position = Position.start(spec, 7).follow(history)
    if is_set_up:
        position = Position.from_state(spec, position.state, seed=7)
    placed = make_group(spec, settings, 2)
    placed.place(1, position)

    expected, found = finish(played), finish(placed, 1)

    first = len(position.actions)
    if spec.slow is not None:
        first = len(history)  # it counts the decisions before a set-up too
    assert found.actions[first - len(position.actions) : first].tolist() == list(position.actions)
    assert found.actions[first:].tolist() == expected.actions[len(history) :].tolist()
    assert policies(found)[first:] == policies(expected)[len(history) :]
    assert found.returns.tolist() == expected.returns.tolist()
    assert (found.seed, found.policy_ends[:first].tolist()) == (7, [0] * first)


def test_a_placed_deal_is_searched_in_the_same_worlds_and_goes_on_with_the_same_chance():
    """Given the thoughts that the played game had there; later rounds are dealt from the position's stream."""
    spec = games.load("blob", {"players": 3, "cards": 2, "whole": True})
    settings = make_settings(spec, simulations=8, worlds=3, exact_decisions=0, noise_weight=0.0)
    played = Group(spec, settings, 1)
    played.start(np.zeros(1, np.int32), np.array([11], np.uint64))
    position = Position.start(spec, 11)
    for _ in range(3):
        played.advance()
        while len(position.legal) == 1:
            position = position.after(position.legal[0])
        action = int(played.legal(0)[-1])
        played.force(np.zeros(1, np.int32), np.array([action], np.int32))
        position = position.after(action)
    thoughts = played.memory.games.streams[0, THOUGHT_STREAM].copy()
    placed = Group(spec, settings, 1)
    placed.place(0, position)
    placed.memory.games.streams[0, THOUGHT_STREAM] = thoughts

    expected, found = finish(played), finish(placed)

    first = len(position.actions)
    assert found.actions.tolist() == expected.actions.tolist()
    assert policies(found)[first:] == policies(expected)[first:]
    assert found.returns.tolist() == expected.returns.tolist()


def test_a_game_after_a_placed_one_begins_at_the_beginning():
    spec = games.load("tictactoe")
    settings = make_settings(spec, simulations=8)
    fresh, used = Group(spec, settings, 1), Group(spec, settings, 1)
    used.place(0, Position.start(spec, 5).follow([4, 0, 8]))
    finish(used)
    expected, found = play_all(fresh, [9])[0][0], play_all(used, [9])[0][0]
    assert found.actions.tolist() == expected.actions.tolist()
    assert policies(found) == policies(expected)


@pytest.mark.parametrize("moment", [0, 3])
def test_an_agent_of_the_slow_lane_thinks_as_that_of_the_compiled_one(moment):
    """The same visits, values and decision in the game that both lanes have, with the same estimates."""

    def estimate(positions: Positions) -> Estimates:
        widths = np.diff(positions.offsets)
        priors = np.concatenate([np.arange(1, width + 1) / (width * (width + 1) / 2) for width in widths])
        return Estimates(priors.astype(np.float32), np.zeros((len(widths), 2), np.float32), 1)

    thoughts = []
    for name in ("tictactoe", "openspiel:tic_tac_toe"):
        spec = games.load(name)
        agent = SearchAgent(spec, SearchSettings(simulations=40), estimate)
        thoughts.append(agent.think(Position.start(spec, 5).follow([4, 0, 8][:moment]), thoughts=3))
    assert thoughts[0] == thoughts[1]
    assert (sum(thoughts[0].visits), thoughts[0].simulations) == (39, 40)  # the first opens the root
