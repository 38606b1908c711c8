"""Records become training rows by being played again."""

import numpy as np
import pytest
from games import pig
from search.drive import play_all, policies

from asyncplay import games
from asyncplay.games.contract import GuardedGame
from asyncplay.search.group import Group, make_settings

SPECS = {
    "connect4": games.load("connect4"),
    "pig": pig.spec(players=3),
    "blob": games.load("blob", {"players": 3, "cards": 2}),
}


@pytest.mark.parametrize("name", SPECS)
def test_rows_are_the_searched_decisions(name):
    """Features, legal actions, policy, player and values of each row, against the rules played by hand."""
    spec = SPECS[name]
    group = Group(spec, make_settings(spec, simulations=12), 2)
    records, _ = play_all(group, [7, 8, 9])
    for record in records:
        examples, desk, row = group.examples(record), GuardedGame(spec), 0
        desk.reset(record.seed)
        for decision, (action, visits) in enumerate(zip(record.actions, policies(record), strict=True)):
            player = desk.settle()
            if visits:
                mine = slice(examples.offsets[row], examples.offsets[row + 1])
                assert (examples.players[row], examples.decisions[row]) == (player, decision)
                np.testing.assert_array_equal(examples.features[row], desk.encode(player))
                np.testing.assert_array_equal(examples.legal[mine], desk.legal())
                shares = [visits.get(int(a), 0) / sum(visits.values()) for a in examples.legal[mine]]
                np.testing.assert_allclose(examples.policy[mine], shares, rtol=1e-6)
                gains = np.roll(record.returns, -player) * spec.value_scale + spec.value_offset
                np.testing.assert_allclose(examples.values[row], gains, rtol=1e-6)
                row += 1
            desk.play(int(action))
        assert row == len(examples.players)
        np.testing.assert_array_equal(desk.returns(), record.returns)


def test_rows_of_a_staged_game_are_worth_what_their_round_brought():
    """A whole game of Blob, round by round: the points between two deals, from the seat of who decided."""
    spec = games.load("blob", {"players": 3, "cards": 2, "whole": True})
    group = Group(spec, make_settings(spec, simulations=8, worlds=2), 2)
    (record,), _ = play_all(group, [5])
    examples, desk, rounds = group.examples(record), GuardedGame(spec), []
    desk.reset(record.seed)
    points, seen = np.zeros(3), {}
    for decision, action in enumerate(record.actions):
        desk.settle()
        seen[decision] = len(rounds)
        desk.play(int(action))
        if spec.kernels.to_move(spec.rules, desk.state) < 0:
            rounds.append(desk.returns() - points)
            points = desk.returns()
    assert len(rounds) == 6
    assert len({tuple(gains) for gains in rounds}) > 1
    for row, (decision, player) in enumerate(zip(examples.decisions, examples.players, strict=True)):
        wanted = np.roll(rounds[seen[int(decision)]], -player) * 2 / 23 - 1
        np.testing.assert_allclose(examples.values[row], wanted, rtol=1e-6)


def test_a_game_without_any_search_has_no_rows():
    spec = SPECS["connect4"]
    group = Group(spec, make_settings(spec, simulations=1, keeps_tree=0), 1)
    (record,), _ = play_all(group, [1])

    assert len(group.examples(record).players) == 0
