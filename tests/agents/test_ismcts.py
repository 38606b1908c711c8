"""OpenSpiel's C++ ISMCTS by our rules: what it sees, what it decides, how strong it is."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from asyncplay import games, rng
from asyncplay.agents import ismcts
from asyncplay.agents.agent import Agent, DecisionPoint
from asyncplay.agents.catalogue import make_agent, name_for_workers
from asyncplay.agents.library import LibraryAgent
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER

GAME = games.load("blob", {"players": 3, "cards": 3})
KERNELS, RULES = GAME.kernels, GAME.rules
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the adapter is compiled by g++")
pytestmark = pytest.mark.slow  # half a minute of compiling


def decisions(seed: int, player: Agent, seats: set[int]) -> tuple[list[tuple[DecisionPoint, int]], np.ndarray]:
    """Play a round, ``player`` at some seats and the rule-based one at the others: its decisions, and the points."""
    state, stream, actions, found = GAME.new_state(), rng.stream(seed, 1), [], []
    while (seat := KERNELS.to_move(RULES, state)) != GAME_OVER:
        if seat == CHANCE_TURN:
            KERNELS.chance(RULES, state, stream)
            continue
        legal = np.empty(GAME.max_legal, np.int32)
        legal = legal[: KERNELS.legal(RULES, state, legal, GAME.new_room())]
        action = int(ready(GAME.advise)(RULES, state, GAME.new_room()))
        if seat in seats:
            point = DecisionPoint(state.copy(), np.array(actions, np.int32), legal, seed)
            action = player.decide(point)
            found.append((point, action))
        actions.append(action)
        KERNELS.play(RULES, state, action, GAME.new_room())
    returns = np.zeros(GAME.players)
    KERNELS.returns(RULES, state, returns)
    return found, returns


@pytest.fixture(scope="module")
def player() -> Agent:
    return make_agent(name_for_workers("openspiel:ismcts-200", GAME), GAME)


@needs_compiler
def test_it_plays_legal_actions_and_is_told_nothing_of_other_hands(player):
    """It begins with a new world each time. Other hands that look the same to its seat give the same worlds, the same
    key and the same choice; its decisions cannot be compared, as its hash tables are ordered by chance."""
    n_changed = 0
    for seed in range(10):
        found, _ = decisions(seed, player, {0, 1, 2})
        for number, (point, action) in enumerate(found):
            assert action in point.legal
            seat = KERNELS.to_move(RULES, point.state)
            (other,) = worlds(point.state, seat, number)
            n_changed += not np.array_equal(other, point.state)
            np.testing.assert_array_equal(worlds(other, seat, 99), worlds(point.state, seat, 99))
            assert KERNELS.key(RULES, other, seat) == KERNELS.key(RULES, point.state, seat)
    assert n_changed > 30


def worlds(state: np.ndarray, seat: int, seed: int) -> np.ndarray:
    """As the adapter draws one."""
    world = np.empty((1, GAME.state_words), np.int64)
    KERNELS.determinize(RULES, state, seat, rng.stream(seed, 2), world)
    return world


@needs_compiler
def test_it_takes_the_trick_it_needs_in_the_end():
    """One card each, spades are trump, and the dealer bids last with the ace of spades in hand: it will take the
    trick, whatever the others hold, so it bids 1 of 0 and 1 (the others bid 1 and 1, nothing is forbidden)."""
    game = games.load("blob", {"players": 3, "cards": 1, "dealer": 0, "trump": "spades"})
    player = LibraryAgent(name_for_workers("openspiel:ismcts-100", game), game)
    for seed in range(200):
        state = game.new_state()
        game.kernels.chance(game.rules, state, rng.stream(seed, 1))
        if state[0] == 1 << 12:
            break
    for bid in (1, 1):
        game.kernels.play(game.rules, state, bid, game.new_room())
    point = DecisionPoint(state, np.array([1, 1], np.int32), np.array([0, 1], np.int32), 5)
    assert player.decide(point) == 1


@needs_compiler
def test_it_makes_more_points_than_the_rule_based_player(player):
    """Forty deals, from each seat, against two others."""
    mine, others = [], []
    for unit in range(120):
        _, returns = decisions(unit // 3, player, {unit % 3})
        mine.append(returns[unit % 3])
        others.append((returns.sum() - mine[-1]) / 2)
    assert np.mean(mine) > np.mean(others) + 0.3


def test_what_it_cannot_play_is_said():
    with pytest.raises(AsyncplayError, match="connect4 hides nothing; use openspiel:mcts-500"):
        name_for_workers("openspiel:ismcts-500", games.load("connect4"))
    with pytest.raises(AsyncplayError, match="wanted is openspiel:ismcts-SIMULATIONS"):
        name_for_workers("openspiel:ismcts-many", GAME)
    for name in ("library:x", "library:9:2:nowhere.so", "openspiel:mcts-²"):
        with pytest.raises(AsyncplayError, match="is no opponent"):
            name_for_workers(name, GAME)


def test_without_a_compiler_there_is_one_clear_line(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(ismcts, "cache_folder", lambda: tmp_path / "kernels")
    with pytest.raises(AsyncplayError, match="needs a C\\+\\+ compiler; install g\\+\\+"):
        ismcts.library()
