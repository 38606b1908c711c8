"""The perfect player against what everybody knows of tic-tac-toe."""

import numpy as np
import pytest

from asyncplay import games
from asyncplay.agents.agent import DecisionPoint
from asyncplay.agents.catalogue import make_agent
from asyncplay.agents.perfect import PerfectAgent
from asyncplay.agents.random import RandomAgent
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GAME_OVER

GAME = games.load("tictactoe")


def play(seats: list, seed: int) -> float:
    """What seat 0 got."""
    state, actions = GAME.new_state(), []
    legal, returns = np.empty(9, np.int32), np.zeros(2)
    while (seat := int(GAME.kernels.to_move(GAME.rules, state))) != GAME_OVER:
        n_legal = int(GAME.kernels.legal(GAME.rules, state, legal, GAME.new_room()))
        point = DecisionPoint(state, np.array(actions, np.int32), legal[:n_legal], seed)
        actions.append(seats[seat].decide(point))
        GAME.kernels.play(GAME.rules, state, actions[-1], GAME.new_room())
    GAME.kernels.returns(GAME.rules, state, returns)
    return float(returns[0])


def test_the_game_is_a_draw_and_two_perfect_players_know_it():
    perfect = PerfectAgent("tictactoe")
    assert perfect.value(GAME.new_state()) == 0
    assert {play([perfect, perfect], seed) for seed in range(50)} == {0.0}


def test_it_never_loses_to_random_play_and_nearly_always_wins():
    """A perfect first player beats random play in more than nine games of ten."""
    perfect, random = PerfectAgent("tictactoe"), RandomAgent()
    results = [play([perfect, random], seed) for seed in range(200)]
    assert min(results) == 0
    assert sum(results) > 180
    assert max(play([random, perfect], seed) for seed in range(200)) == 0


def test_an_answer_to_the_corner_off_the_centre_loses():
    """The textbook blunder: after a corner, only the centre draws."""
    perfect = PerfectAgent("tictactoe")
    state, legal = GAME.new_state(), np.arange(1, 9, dtype=np.int32)
    GAME.kernels.play(GAME.rules, state, 0, GAME.new_room())
    assert {perfect.decide(DecisionPoint(state, np.array([0], np.int32), legal, seed)) for seed in range(30)} == {4}


def test_a_game_nobody_has_solved_is_refused():
    with pytest.raises(AsyncplayError, match="nobody plays connect4 perfectly here; known are tictactoe"):
        make_agent("perfect", games.load("connect4"))
