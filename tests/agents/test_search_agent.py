"""Search one decision at a time: what it does with roots, clocks and what is hidden."""

import numpy as np
import pytest

from asyncplay import games
from asyncplay.agents.agent import DecisionPoint, draw_action
from asyncplay.agents.search import SearchAgent
from asyncplay.config.sections import SearchSettings
from asyncplay.games.position import Position
from asyncplay.payloads import Estimates, Positions

TICTACTOE = games.load("tictactoe")


def uniform(positions: Positions) -> Estimates:
    widths = np.diff(positions.offsets)
    priors = np.repeat(1 / widths, widths).astype(np.float32)
    return Estimates(priors, np.zeros((len(widths), 4), np.float32), 3)


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_every_kind_of_root_finds_the_win_with_its_simulations(root, leaves):
    search = SearchSettings(simulations=64, root=root, leaves=leaves, gumbel_actions=9)
    thought = SearchAgent(TICTACTOE, search, uniform).think(Position.start(TICTACTOE).follow([0, 3, 1, 4]), thoughts=1)
    assert (thought.action, thought.simulations) == (2, 64)
    assert sum(thought.visits) == 63


def test_the_clock_ends_a_search():
    """Each look at the clock is a second: a deadline after four and a half leaves five rounds, of a simulation each."""
    now = iter(range(1000))
    agent = SearchAgent(TICTACTOE, SearchSettings(), uniform)
    thought = agent.think(Position.start(TICTACTOE), thoughts=1, seconds=4.5, clock=lambda: next(now))
    assert thought.simulations == 5


def test_an_only_action_needs_no_search():
    last = Position.start(TICTACTOE).follow([0, 1, 2, 4, 3, 5, 7, 6])
    thought = SearchAgent(TICTACTOE, SearchSettings(), uniform).think(last, thoughts=1)
    assert (thought.action, thought.legal, thought.priors, thought.simulations) == (8, [8], [1.0], 0)


def test_actions_are_drawn_by_their_odds_and_not_by_the_deal():
    position = Position.start(games.load("kuhn"), 3)
    counts = np.bincount([draw_action({0: 0.25, 1: 0.75}, DecisionPoint.of(position, seed)) for seed in range(2000)])
    assert abs(counts[1] / 2000 - 0.75) < 4 * np.sqrt(0.25 * 0.75 / 2000)


def test_values_of_hidden_features_do_not_depend_on_what_is_really_hidden():
    """Two deals that look the same to the seat, under a network that reads the hidden block alone."""
    spec = games.load("blob", {"players": 3, "cards": 2}).showing(hidden=True)
    position = Position.start(spec, 5)
    worlds = np.zeros((8, spec.state_words), np.int64)
    stream = np.array([1, 2, 3, 4], np.uint64)
    spec.kernels.determinize(spec.rules, position.state, position.player, stream, worlds)
    others = [Position.from_state(spec, world, seed=5) for world in worlds]
    weights = np.random.default_rng(0).normal(size=spec.hidden_features)

    def reads_hidden(positions: Positions) -> Estimates:
        answer = uniform(positions)
        seen = np.tanh(positions.features[:, spec.features :] @ weights)
        return answer._replace(values=np.repeat(seen[:, None], 3, axis=1).astype(np.float32))

    agent = SearchAgent(spec, SearchSettings(simulations=2, worlds=4), reads_hidden)
    truths = {float(reads_hidden(rows_of(other)).values[0, 0]) for other in others}
    imagined = {float(agent.estimate([other]).values[0, 0]) for other in others}
    assert len(truths) > 4
    assert len(imagined) == 1
    assert len(agent.estimate(others).priors) == 8 * len(position.legal)


def rows_of(position: Position) -> Positions:
    legal = np.array(position.legal, np.int32)
    return Positions(position.features()[None], legal, np.array([0, len(legal)], np.int32))
