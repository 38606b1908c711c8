"""Positions are values, and follow the games that searches play."""

from itertools import pairwise

import numpy as np
import pytest
from games import pig
from search.drive import play_all

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.contract import random_game
from asyncplay.games.position import Position
from asyncplay.games.spec import GAME_OVER
from asyncplay.search.group import Group, make_settings

SPECS = {name: games.load(name) for name in games.NAMES} | {
    "pig": pig.spec(players=3),
    "whole game of blob": games.load("blob", {"players": 3, "cards": 3, "whole": True}),
    "blob with hidden hands": games.load("blob", {"players": 3}).showing(hidden=True),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_position_follows_a_random_game_of_the_same_seed(name):
    spec = SPECS[name]
    for seed in (3, 2**63 - 1):
        game, position = random_game(spec, seed), Position.start(spec, seed)
        for moment in game.decisions:
            assert (position.player, position.legal, position.is_over) == (moment.player, moment.legal.tolist(), False)
            np.testing.assert_array_equal(position.state, moment.state)
            np.testing.assert_array_equal(position.features(), moment.features)
            position = position.after(moment.action)
        assert (position.player, position.legal, position.is_over) == (GAME_OVER, [], True)
        np.testing.assert_array_equal(position.state, game.final)
        assert position.returns == game.returns.tolist()
        assert position.actions == tuple(moment.action for moment in game.decisions)


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_a_position_ends_where_a_searched_game_and_its_rebuilt_rows_end(name):
    spec = SPECS[name]
    group = Group(spec, make_settings(spec, simulations=4), 2)
    for record in play_all(group, [1, 2, 3])[0]:
        position = Position.start(spec, record.seed).follow(record.actions.tolist())
        assert position.is_over
        assert position.returns == record.returns.tolist()
        np.testing.assert_array_equal(position.state, group.examples(record).final)


@pytest.mark.parametrize("name", ["tictactoe", "pig", "blob"])
def test_what_comes_after_a_position_does_not_change_it(name):
    position = Position.start(SPECS[name], 5)
    state, stream, legal = position.state, position.stream, position.legal
    once = position.after(legal[0])
    position.state[:] = -1
    position.stream[:] = 0
    position.legal.clear()
    twice = position.after(legal[0])
    np.testing.assert_array_equal(position.state, state)
    np.testing.assert_array_equal(position.stream, stream)
    assert position.legal == legal
    np.testing.assert_array_equal(once.state, twice.state)
    assert (position.actions, once.actions, once.seed) == ((), (legal[0],), 5)


def test_a_position_that_was_set_up_goes_on_as_the_one_it_was_taken_from():
    played = Position.start(SPECS["connect4"]).follow([3, 3, 2])
    placed = Position.from_state(SPECS["connect4"], played.state)
    assert placed.actions == ()
    assert (placed.player, placed.legal) == (played.player, played.legal)
    np.testing.assert_array_equal(placed.after(4).state, played.after(4).state)


def test_a_stage_begins_when_chance_has_dealt():
    position = Position.start(SPECS["whole game of blob"], 1)
    counts = []
    while not position.is_over:
        counts.append(position.stage_decisions)
        position = position.after(position.legal[0])
    assert counts.count(0) > 1
    assert all(after in (before + 1, 0) for before, after in pairwise(counts))


def test_mistakes_are_told_in_one_line():
    position = Position.start(SPECS["tictactoe"])
    with pytest.raises(AsyncplayError, match="action 9 is not legal in this position of tictactoe: 0, 1, 2"):
        position.after(9)
    over = position.follow([0, 3, 1, 4, 2])
    with pytest.raises(AsyncplayError, match="action 5 comes after the end of this game of tictactoe"):
        over.after(5)
    with pytest.raises(AsyncplayError, match=r"a state of tictactoe is int64\[\d+\], not float64\[3\]"):
        Position.from_state(SPECS["tictactoe"], np.zeros(3))
