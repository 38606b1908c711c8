"""What was trained decides in positions of its game, whatever kind of run it comes from."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import asyncplay
from asyncplay import games
from asyncplay.agents.agent import DecisionPoint
from asyncplay.agents.search import Thought
from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import card_names
from asyncplay.games.holdem.layout import BOARD, CALL, FOLD, HANDS, RAISE_TO, STREETS
from asyncplay.games.position import Position
from asyncplay.rating.hands import read_contender
from asyncplay.rating.spots import find_spot
from asyncplay.rundir.layout import read_config
from asyncplay.trained.agent import TrainedAgent

README = Path(__file__).parents[2] / "README.md"


def play_out(agent: TrainedAgent, seed: int, simulations: int = 4) -> Position:
    """A game of the agent against itself; every decision is legal, or the position would refuse it."""
    position = agent.new_position(seed)
    while not position.is_over:
        thought = agent.think(position, simulations=simulations)
        check(position, thought)
        assert agent.act(position, simulations=simulations) == thought.action
        position = position.after(thought.action)
    return position


def check(position: Position, thought: Thought) -> None:
    assert thought.legal == position.legal
    n = len(thought.legal)
    assert len(thought.priors) == len(thought.visits) == len(thought.action_values) == n
    assert math.isclose(sum(thought.priors), 1.0, abs_tol=1e-5)
    assert len(thought.values) == position.spec.players


@pytest.mark.parametrize("name", ["tictactoe", "kuhn", "leduc", "treasurehunt", "holdem"])
def test_an_agent_of_each_kind_plays_whole_games(name, request):
    agent = asyncplay.load(request.getfixturevalue(name))
    assert agent.game.name == name
    assert agent.version > 0
    for seed in range(2):
        end = play_out(agent, seed)
        assert end.actions == play_out(agent, seed).actions
        assert not agent.game.zero_sum or sum(end.returns) == 0


def test_the_five_lines_of_the_readme_run(tictactoe, monkeypatch):
    (lines,) = re.findall(r"```python\n(import asyncplay\n.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in lines.splitlines() if line]) == 5
    (place,) = re.findall(r'load\("(.*?)"\)', lines)
    names: dict[str, object] = {}
    exec(lines.replace(place, str(tictactoe)), names)
    assert names["action"] in range(9)


def test_a_search_sees_the_win_that_is_there(tictactoe):
    """Any network would: 200 simulations try every action and come back with a 1."""
    agent = asyncplay.load(tictactoe)
    thought = agent.think(agent.new_position().follow([0, 3, 1, 4]), simulations=200)
    assert thought.action == 2
    assert thought.simulations == 200
    assert sum(thought.visits) == 199  # the first one opened the root
    assert thought.values[0] == -thought.values[1] > 0.8
    assert thought.action_values[thought.legal.index(2)] == 1.0


def test_a_position_that_was_set_up_is_decided_as_one_that_was_played_to(tictactoe):
    agent = asyncplay.load(tictactoe)
    played = agent.new_position().follow([4, 0])
    placed = Position.from_state(games.load("tictactoe"), played.state)
    assert agent.think(placed, simulations=30, seed=1).visits == agent.think(played, simulations=30, seed=1).visits


def test_seconds_are_enough_for_a_simulation_at_least(tictactoe):
    agent = asyncplay.load(tictactoe)
    thought = agent.think(agent.new_position(), seconds=1e-9)
    assert thought.simulations >= 1
    assert thought.action in range(9)


def test_larger_searches_follow_smaller_ones(tictactoe):
    agent = asyncplay.load(tictactoe)
    counts = [agent.think(agent.new_position(), simulations=n).simulations for n in (3, 300, 7)]
    assert counts == [3, 300, 7]


def test_evaluate_answers_each_position_in_order(tictactoe):
    agent = asyncplay.load(tictactoe)
    positions = [agent.new_position(), agent.new_position().follow([4]), agent.new_position().follow([4, 0])]
    together = agent.evaluate(positions)
    for position, judged in zip(positions, together, strict=True):
        (alone,) = agent.evaluate([position])
        assert judged.legal == position.legal
        np.testing.assert_allclose(judged.policy, alone.policy, atol=1e-6)
        np.testing.assert_allclose(judged.values, alone.values, atol=1e-6)
        assert math.isclose(sum(judged.policy), 1.0, abs_tol=1e-6)
    assert agent.evaluate([]) == []


def test_a_version_is_loaded_by_its_number(tictactoe):
    versions = sorted(int(path.stem) for path in (tictactoe / "weights").glob("*.safetensors"))
    assert asyncplay.load(tictactoe).version == versions[-1]
    assert asyncplay.load(tictactoe, version=versions[0]).version == versions[0]


def test_a_table_draws_by_its_policy(kuhn):
    """Kuhn's second player always calls or bets with a king; with a jack facing a bet it always folds."""
    agent = asyncplay.load(kuhn)
    seen = {}
    for seed in range(40):
        facing_bet = agent.new_position(seed).after(1)
        (judged,) = agent.evaluate([facing_bet])
        card = int(facing_bet.state[3])
        seen[card] = dict(zip(judged.legal, judged.policy, strict=True))
        drawn = {agent.act(facing_bet, seed=draw) for draw in range(8)}
        assert drawn <= {action for action, share in seen[card].items() if share > 0}
    assert seen[2][1] > 0.9
    assert seen[0][0] > 0.9


def test_the_values_of_a_table_are_those_of_the_game_to_its_policy(kuhn):
    """Averaged over all deals, what seat 0 may expect at its first decision is the value of the game: about -1/18."""
    agent = asyncplay.load(kuhn)
    by_card = {}
    for seed in range(40):
        first = agent.new_position(seed)
        (judged,) = agent.evaluate([first])
        assert judged.values[0] == pytest.approx(-judged.values[1])
        by_card[int(first.state[2])] = judged.values[0]
    assert np.mean(list(by_card.values())) * 2 == pytest.approx(-1 / 18, abs=0.03)  # a chip is half a unit
    assert by_card[0] < by_card[1] < by_card[2]


def test_an_agent_of_a_population_takes_what_is_worth_most(treasurehunt):
    agent = asyncplay.load(treasurehunt)
    position = agent.new_position(3)
    thought = agent.think(position)
    assert thought.action == thought.legal[int(np.argmax(thought.action_values))]
    assert thought.values[position.player] == max(thought.action_values)
    assert thought.values.count(None) == agent.game.players - 1


def test_a_blueprint_does_in_real_positions_what_its_tree_says(holdem):
    """Every action with odds is legal; where a bet that it does not know was made, it goes on all the same."""
    agent = asyncplay.load(holdem)
    for seed in range(6):
        position = agent.new_position(seed)
        while not position.is_over:
            (judged,) = agent.evaluate([position])
            assert sum(judged.policy) == pytest.approx(1.0, abs=1e-6)
            odd = position.legal[-2] if len(position.legal) > 3 else position.legal[len(position.legal) // 2]
            position = position.after(odd)
    assert {FOLD, CALL} <= {agent.act(agent.new_position(seed), seed=seed) for seed in range(60)}


def test_a_blueprint_in_a_hand_that_its_tree_has_is_what_show_tells_of_the_spot(holdem):
    """The most likely actions only: each is a bet of the tree, of the same chips in the real game."""
    agent, contender = asyncplay.load(holdem), read_contender(holdem, read_config(holdem))
    words, n_compared = {FOLD: "fold", CALL: "call"}, 0
    for seed in range(16):
        position, history = agent.new_position(seed), list[str]()
        while not position.is_over:
            state = position.state
            hole, board = int(state[HANDS + position.player]), sum(map(int, state[BOARD : BOARD + STREETS]))
            cards = {"board": card_names(board), "hand": card_names(hole)}
            spot = find_spot(contender, history=" ".join(history), **cards)
            (judged,) = agent.evaluate([position])
            odds = dict(zip(judged.legal, judged.policy, strict=True))
            told = zip(spot.actions, spot.rows[0].odds, strict=True)
            for action, share in told:
                number = next((key for key, word in words.items() if word == action), None)
                number = RAISE_TO + int(action) if number is None else number
                assert odds.get(number, 0.0) == pytest.approx(share, abs=2e-3)
            n_compared += 1
            best = max((share, action) for action, share in odds.items() if action != FOLD)[1]
            history.append(words.get(best, str(best - RAISE_TO)))
            position = position.after(best)
    assert n_compared > 20


@pytest.mark.parametrize("name", ["tictactoe", "kuhn", "leduc"])
def test_an_agent_against_itself_with_paired_seats_and_deals_scores_one_half(name, request):
    """Both games of a deal are the same game, so what one seat wins the other loses: exactly 0.500 each time."""
    agent, rival = (asyncplay.load(request.getfixturevalue(name)) for _ in range(2))
    for deal in range(5):
        gains = []
        for hero in range(2):
            position = agent.new_position(deal)
            while not position.is_over:
                decider = agent if position.player == hero else rival
                position = position.after(decider.decide(DecisionPoint.of(position)))
            gains.append(position.returns[hero])
        assert sum(gains) / 2 == 0.0


def test_mistakes_are_one_line(tictactoe, kuhn, holdem, tmp_path):
    agent, other = asyncplay.load(tictactoe), asyncplay.load(kuhn)
    over = agent.new_position().follow([0, 3, 1, 4, 2])
    mistakes = {
        "is no folder of a run": lambda: asyncplay.load(tmp_path / "nothing"),
        "has no weights of version 999": lambda: asyncplay.load(tictactoe, version=999),
        "has no checkpoint 999": lambda: asyncplay.load(kuhn, version=999),
        "has no policy of 999 iterations": lambda: asyncplay.load(holdem, version=999),
        "a position of kuhn was given to an agent of tictactoe": lambda: agent.act(other.new_position()),
        "is over: there is nothing to decide": lambda: agent.act(over),
        "simulations is 0, must be 1 or more": lambda: agent.act(agent.new_position(), simulations=0),
        "seconds is -1": lambda: agent.act(agent.new_position(), seconds=-1),
        "simulations of tictactoe need": lambda: agent.act(agent.new_position(), simulations=10**9),
    }
    for told, mistake in mistakes.items():
        with pytest.raises(AsyncplayError, match=told) as raised:
            mistake()
        assert "\n" not in str(raised.value)
