"""Trained agents inside OpenSpiel, and OpenSpiel's names in exported policies."""

import numpy as np
import pyspiel
import pytest
from games.spiel import histories
from open_spiel.python.algorithms import exploitability
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

import asyncplay
from asyncplay import games
from asyncplay.agents.spiel_states import information_state, position_of, spiel_name
from asyncplay.errors import AsyncplayError
from asyncplay.rating.solved import config_of, measure
from asyncplay.trained.openspiel import SpielBot, SpielPolicy

DEALT = [("kuhn", {}), ("kuhn", {"players": 3}), ("leduc", {}), ("liarsdice", {"faces": 3})]


@pytest.mark.parametrize(("name", "options"), DEALT)
def test_what_a_seat_knows_has_the_name_that_openspiel_gives_it(name, options):
    spec = games.load(name, options)
    known = set()
    for pair in histories(spec, spiel_name(spec)):
        if pair.mover >= 0:
            known.add(information_state(spec, pair.ours))
            assert information_state(spec, pair.ours) == pair.theirs.information_state_string()
            np.testing.assert_array_equal(position_of(spec, pair.theirs).state, pair.ours)
    assert len(known) == {"kuhn": 12 if not options else 48, "leduc": 936, "liarsdice": 192}[name]


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liarsdice"])
def test_openspiel_finds_a_table_as_far_from_equilibrium_as_we_do(name, request):
    run = request.getfixturevalue(name)
    policy = SpielPolicy(asyncplay.load(run))
    theirs = exploitability.nash_conv(policy.game, policy)
    assert theirs == pytest.approx(measure(run, config_of(run))["nash_conv"], abs=1e-9)


@pytest.mark.parametrize(("name", "episodes"), [("tictactoe", 6), ("kuhn", 40), ("leduc", 20)])
def test_a_bot_plays_whole_episodes_in_openspiels_own_evaluation(name, episodes, request):
    agent, random = asyncplay.load(request.getfixturevalue(name)), np.random.RandomState(5)
    game, total = pyspiel.load_game(spiel_name(agent.game)), 0.0
    for episode in range(episodes):
        seat = episode % 2
        bots = [UniformRandomBot(other, random) for other in range(2)]
        bots[seat] = SpielBot(agent, seat, simulations=16, seed=episode)
        returns = evaluate_bots(game.new_initial_state(), bots, random)
        assert sum(returns) == 0
        total += returns[seat]
    assert total > 0


def test_a_searched_policy_has_the_shares_of_its_visits(tictactoe):
    agent = asyncplay.load(tictactoe)
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    odds = SpielPolicy(agent, simulations=100).action_probabilities(state)
    assert max(odds, key=odds.get) == 2
    assert list(odds) == state.legal_actions()
    assert sum(odds.values()) == pytest.approx(1.0)


def test_states_of_another_game_and_games_without_a_twin_are_refused(tictactoe, holdem):
    agent = asyncplay.load(tictactoe)
    with pytest.raises(AsyncplayError, match=r"a state of OpenSpiel's connect_four\(\) was given"):
        SpielBot(agent, 0).step(pyspiel.load_game("connect_four").new_initial_state())
    with pytest.raises(AsyncplayError, match="OpenSpiel does not play holdem by our rules"):
        SpielPolicy(asyncplay.load(holdem))
