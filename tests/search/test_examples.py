"""Records become training rows by being played again."""

import numpy as np
import pytest
from games import pig
from games.contract import Desk
from search.drive import play_all, policies

from asyncplay import games
from asyncplay.search.group import Group, make_settings

SPECS = {"connect4": games.load("connect4"), "pig": pig.spec(players=3)}


@pytest.mark.parametrize("name", SPECS)
def test_rows_are_the_searched_decisions(name):
    """Features, legal actions, policy, player and values of each row, against the rules played by hand."""
    spec = SPECS[name]
    group = Group(spec, make_settings(spec, simulations=12), 2)
    records, _ = play_all(group, [7, 8, 9])
    for record in records:
        examples, desk, row = group.examples(record), Desk(spec), 0
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


def test_a_game_without_any_search_has_no_rows():
    spec = SPECS["connect4"]
    group = Group(spec, make_settings(spec, simulations=1, keeps_tree=0), 1)
    (record,), _ = play_all(group, [1])

    assert len(group.examples(record).players) == 0
