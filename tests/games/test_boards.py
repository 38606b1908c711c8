"""Tic-tac-toe and connect four against known numbers and against open_spiel."""

import numpy as np
import pyspiel
import pytest

from asyncplay import games, rng
from asyncplay.games.contract import GuardedGame
from asyncplay.games.spec import GAME_OVER, GameSpec

OPEN_SPIEL_NAMES = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}


def successors(spec: GameSpec, state: np.ndarray) -> list[np.ndarray]:
    """Every position one decision later."""
    actions, found = np.empty(spec.max_legal, np.int32), []
    for action in actions[: spec.kernels.legal(spec.rules, state, actions, spec.new_room())]:
        found.append(state.copy())
        spec.kernels.play(spec.rules, found[-1], int(action), spec.new_room())
    return found


def count_by_decision(spec: GameSpec, depth: int) -> list[int]:
    """How many games there are after 0 .. depth decisions; one that is over does not go on.

    Positions that several orders of play lead to are expanded once, with their number of orders.
    """
    layer = {spec.new_state().tobytes(): 1}
    counts = [1]
    for _ in range(depth):
        following: dict[bytes, int] = {}
        for packed, ways in layer.items():
            for state in successors(spec, np.frombuffer(packed, np.int64).copy()):
                following[state.tobytes()] = following.get(state.tobytes(), 0) + ways
        layer = following
        counts.append(sum(layer.values()))
    return counts


def test_there_are_255168_finished_games_of_tictactoe():
    """The textbook count; any slip in lines, turns or endings changes it."""
    spec = games.load("tictactoe")
    finished, layer = 0, {spec.new_state().tobytes(): 1}
    for _ in range(9):
        following: dict[bytes, int] = {}
        for packed, ways in layer.items():
            for state in successors(spec, np.frombuffer(packed, np.int64).copy()):
                if spec.kernels.to_move(spec.rules, state) == GAME_OVER:
                    finished += ways
                else:
                    following[state.tobytes()] = following.get(state.tobytes(), 0) + ways
        layer = following

    assert finished == 255_168


def test_connect_four_has_its_published_perft():
    """Lines of play of each length, those that end there included: 7**7 loses 7 to full columns, and
    from the eighth on games that are over do not go on."""
    counts = count_by_decision(games.load("connect4"), 8)

    assert counts == [1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


def test_connect_four_has_its_published_number_of_positions():
    """OEIS A212693: different positions after n stones."""
    spec = games.load("connect4")
    layer = {spec.new_state().tobytes()}
    counts = [1]
    for _ in range(7):
        states = (np.frombuffer(packed, np.int64).copy() for packed in layer)
        layer = {following.tobytes() for state in states for following in successors(spec, state)}
        counts.append(len(layer))

    assert counts == [1, 7, 49, 238, 1120, 4263, 16422, 54859]


@pytest.mark.parametrize("name", OPEN_SPIEL_NAMES)
def test_random_play_agrees_with_open_spiel(name):
    """Same player, same legal actions, same stones after every move, same returns at the end."""
    game, desk = pyspiel.load_game(OPEN_SPIEL_NAMES[name]), GuardedGame(games.load(name))
    for seed in range(200):
        choices, theirs = rng.stream(seed), game.new_initial_state()
        desk.reset(seed)
        while (player := desk.settle()) != GAME_OVER:
            assert theirs.current_player() == player
            legal = desk.legal()
            assert theirs.legal_actions() == legal.tolist()
            np.testing.assert_array_equal(desk.encode(player), stones(theirs, desk.spec, player))
            action = int(legal[rng.below(choices, len(legal))])
            desk.play(action)
            theirs.apply_action(action)
        assert theirs.is_terminal()
        np.testing.assert_array_equal(desk.returns(), theirs.returns())


def stones(state: pyspiel.State, spec: GameSpec, player: int) -> np.ndarray:
    """open_spiel's printed board as our two planes; it prints the top row first."""
    lines = str(state).split()
    if spec.name == "connect4":
        lines = lines[::-1]
    board = np.array([list(line) for line in lines])
    mine, others = ("x", "o") if player == 0 else ("o", "x")
    return np.concatenate([(board == mine).ravel(), (board == others).ravel()]).astype(np.uint8)


def test_the_last_stone_may_win_connect_four():
    """A win on the last cell is a win, not a draw: the order of the two tests in ``play``."""
    spec = games.load("connect4")
    game = pyspiel.load_game("connect_four")
    for seed in range(4000):
        choices, theirs = rng.stream(seed), game.new_initial_state()
        while not theirs.is_terminal():
            legal = theirs.legal_actions()
            theirs.apply_action(legal[rng.below(choices, len(legal))])
        if theirs.move_number() == spec.max_decisions and theirs.returns()[1] == 1.0:
            state, gains = spec.new_state(), np.zeros(2)
            for action in theirs.history():
                spec.kernels.play(spec.rules, state, action, spec.new_room())
            spec.kernels.returns(spec.rules, state, gains)
            assert gains.tolist() == [-1.0, 1.0]
            return
    pytest.fail("no such game among the seeds")
