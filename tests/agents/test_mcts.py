"""Plain MCTS through our own kernels."""

import numpy as np
import pytest

from asyncplay import games, rng
from asyncplay.agents.agent import Agent, DecisionPoint
from asyncplay.agents.catalogue import make_agent, name_for_workers
from asyncplay.agents.perfect import PerfectAgent
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec


def play(spec: GameSpec, agents: list[Agent], seed: int) -> list[float]:
    """Returns of a game; agent s decides for seat s."""
    state, room, actions = spec.new_state(), spec.new_room(), np.empty(spec.max_legal, np.int32)
    done, happens, kernels = [], rng.stream(seed, 5), spec.kernels
    while (mover := kernels.to_move(spec.rules, state)) != GAME_OVER:
        if mover == CHANCE_TURN:
            kernels.chance(spec.rules, state, happens)
            continue
        legal = actions[: kernels.legal(spec.rules, state, actions, room)].copy()
        point = DecisionPoint(state.copy(), np.array(done, np.int32), legal, seed)
        done.append(agents[mover].decide(point))
        assert done[-1] in legal
        kernels.play(spec.rules, state, done[-1], room)
    kernels.returns(spec.rules, state, gains := np.zeros(spec.players))
    return gains.tolist()


def test_with_1000_rollouts_it_never_loses_tic_tac_toe():
    spec = games.load("tictactoe")
    mcts, perfect = make_agent("mcts-1000", spec), PerfectAgent("tictactoe")
    for seed in range(5):
        assert play(spec, [mcts, perfect], seed) == [0, 0]
        assert play(spec, [perfect, mcts], seed) == [0, 0]


def test_it_takes_a_win_and_stops_one_in_connect_four():
    """Three in a column each: seat 0 to move wins at once; where seat 0 has them, seat 1 must stop it."""
    spec = games.load("connect4")
    agent = make_agent("mcts-400", spec)
    for actions, wanted in (((3, 0, 3, 0, 3, 0), 3), ((3, 0, 3, 0, 3), 3)):
        state = spec.new_state()
        for action in actions:
            spec.kernels.play(spec.rules, state, action, spec.new_room())
        point = DecisionPoint(state, np.array(actions, np.int32), np.arange(7, dtype=np.int32), 1)
        assert agent.decide(point) == wanted


def test_the_same_point_gives_the_same_decision():
    spec = games.load("connect4")
    point = DecisionPoint(spec.new_state(), np.empty(0, np.int32), np.arange(7, dtype=np.int32), 5)
    first = make_agent("mcts-30", spec).decide(point)
    agent = make_agent("mcts-30", spec)
    assert [agent.decide(point), agent.decide(point)] == [first, first]


def test_where_cards_are_hidden_it_decides_without_them():
    """Every simulation starts in another world: what the others really hold changes nothing."""
    spec = games.load("blob", {"players": 3, "cards": 3})
    state, worlds = spec.new_state(), np.empty((4, spec.state_words), np.int64)
    spec.kernels.chance(spec.rules, state, rng.stream(3))
    mover = spec.kernels.to_move(spec.rules, state)
    spec.kernels.determinize(spec.rules, state, mover, rng.stream(9), worlds)
    actions = np.empty(spec.max_legal, np.int32)
    legal = actions[: spec.kernels.legal(spec.rules, state, actions, spec.new_room())]
    agent = make_agent("mcts-50", spec)
    decided = {agent.decide(DecisionPoint(world, np.empty(0, np.int32), legal, 4)) for world in (state, *worlds)}
    assert len(decided) == 1


@pytest.mark.slow
def test_it_beats_random_play_in_blob():
    spec = games.load("blob", {"players": 3, "cards": 2})
    mcts, random = make_agent("mcts-60", spec), make_agent("random", spec)
    points = np.mean([play(spec, [mcts, random, random], seed) for seed in range(30)], axis=0)
    assert points[0] > points[1:].max()


@pytest.mark.slow
def test_it_beats_random_play_in_ringrift():
    """Few rings make short games; of 8 at least 6 are won."""
    spec = games.load("ringrift", {"rings": 4})
    mcts, random = make_agent("mcts-60", spec), make_agent("random", spec)
    won = sum(play(spec, [mcts, random], seed)[0] + play(spec, [random, mcts], seed)[1] for seed in range(4))
    assert won >= 4


@pytest.mark.parametrize("name", ["mcts-", "mcts-0", "mcts-x", "mcts-1e3"])
def test_a_name_without_a_number_of_rollouts_is_no_opponent(name):
    with pytest.raises(AsyncplayError, match="is no opponent; known are random, rules, perfect, mcts-ROLLOUTS"):
        name_for_workers(name, games.load("tictactoe"))


def test_a_game_that_is_only_solved_has_no_plain_mcts():
    with pytest.raises(AsyncplayError, match="leduc has no tree search, and so no plain MCTS"):
        make_agent("mcts-10", games.load("leduc"))
