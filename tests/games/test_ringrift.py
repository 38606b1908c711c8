"""RingRift's kernels: constants, limits and options, and what players are after a swap.

Positions of the rules are in the files beside this one, asked of the kernels and of the twin alike.
"""

import pytest
from games.ringrift_table import Table

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.ringrift import layout

# 1. Boards and constants


@pytest.mark.parametrize(
    ("board", "players", "line", "threshold", "minimum"),
    [
        ("square8", 2, 4, 18, 33),
        ("square8", 3, 3, 24, 22),
        ("square8", 4, 3, 30, 17),
        ("hex8", 2, 4, 18, 31),
        ("hex8", 3, 3, 24, 21),
        ("hex8", 4, 3, 30, 16),
        ("square19", 2, 4, 72, 181),
        ("square19", 3, 4, 96, 121),
        ("square19", 4, 4, 120, 91),
        ("hexagonal", 2, 4, 96, 235),
        ("hexagonal", 3, 4, 128, 157),
        ("hexagonal", 4, 4, 160, 118),
    ],
)
def test_lines_and_thresholds_follow_from_board_and_players(board, players, line, threshold, minimum):
    rules = games.load("ringrift", {"board": board, "players": players}).rules
    assert [rules[layout.LINE], rules[layout.THRESHOLD], rules[layout.MINIMUM]] == [line, threshold, minimum]


@pytest.mark.parametrize(("rings", "players", "threshold"), [(10, 3, 13), (10, 4, 17), (7, 2, 7), (1, 4, 2)])
def test_the_threshold_follows_the_rings_in_use(rings, players, threshold):
    spec = games.load("ringrift", {"rings": rings, "players": players})
    assert spec.rules[layout.THRESHOLD] == threshold
    assert spec.new_state()[layout.HANDS] == rings


@pytest.mark.parametrize(
    ("board", "actions", "most", "symmetries"),
    [
        ("square8", 5186, 1456, 8),
        ("hex8", 5591, None, 12),
        ("square19", 61011, 21432, 8),
        ("hexagonal", 103127, 25968, 12),
    ],
)
def test_a_board_has_its_number_of_actions(board, actions, most, symmetries):
    spec = games.load("ringrift", {"board": board})
    assert spec.actions == actions
    assert most is None or spec.max_legal == most
    assert spec.n_symmetries == symmetries


# 5. Swap


def swapped_table() -> Table:
    """The second seat has swapped sides at the start of its first turn."""
    table = Table(swap=True)
    table.play(("place", (3, 3), 2), ("move", (3, 3), (3, 5)), ("swap_sides",))
    return table


def test_after_a_swap_the_player_who_opened_acts_at_seat_2():
    table = swapped_table()
    assert table.position.to_act == 2
    assert table.spec.kernels.to_move(table.spec.rules, table.state) == 0


def test_after_a_swap_a_player_gets_what_its_new_seat_brings():
    table = swapped_table()
    table.state[layout.RANKS : layout.RANKS + 2] = [1, 2]
    assert table.returns() == [-1.0, 1.0]


def test_only_two_players_can_swap():
    with pytest.raises(AsyncplayError, match=r"option swap of ringrift is true, must be one of false with players=3"):
        games.load("ringrift", {"swap": True, "players": 3})


# 7. Limits


@pytest.mark.parametrize(
    ("board", "limits"),
    [
        ("square8", [500, 800, 1200]),
        ("hex8", [500, 800, 1200]),
        ("square19", [1200, 1600, 2000]),
        ("hexagonal", [1200, 1600, 2000]),
    ],
)
def test_the_automatic_limit_follows_from_board_and_players(board, limits):
    found = [games.load("ringrift", {"board": board, "players": players}).max_decisions for players in (2, 3, 4)]
    assert found == limits


def test_a_limit_is_a_number_or_auto():
    assert games.load("ringrift", {"max_moves": "auto"}).max_decisions == 500
    with pytest.raises(
        AsyncplayError, match=r"option max_moves of ringrift is 0, must be a whole number from 1 to 100000, or"
    ):
        games.load("ringrift", {"max_moves": 0})
