"""What eval says to people: every line fits a terminal, has its unit, and contradicts no other."""

import pytest

from asyncplay.rating.wording import as_lines

DUEL = {
    "run": "runs/connect4-20261118-031402",
    "game": "connect4",
    "version": 57,
    "against": "openspiel:mcts-1000",
    "simulations": 64,
    "games": 200,
    "score": 0.7475,
    "interval": [0.69, 0.805],
    "wins": 145,
    "draws": 9,
    "losses": 46,
}
TABLE = {
    **DUEL,
    "game": "blob",
    "against": "12",
    "score": 0.837,
    "interval": [0.31, 1.37],
    "games": 120,
    "wins": 16,
    "draws": 37,
    "losses": 67,
    "points": 6.11,
    "points_of_others": 5.27,
    "points_by_seat": [4.1, 7.1, 3.7, 4.57],
    "options": "cards=5 trump=spades",
}
SOLVED = {
    "run": "runs/leduc",
    "game": "leduc",
    "checkpoint": 7,
    "iterations": 3_000_000,
    "nash_conv": 0.00042,
    "exploitability": 0.00021,
    "values": [-0.0856, 0.0856],
    "best_responses": [-0.0853, 0.0859],
}


def test_a_match_of_two_has_a_score_and_says_which_end_is_won():
    assert as_lines(DUEL) == [
        "connect4, version 57 against openspiel:mcts-1000",
        "200 games, 64 simulations a decision",
        "score 0.748 (95 % interval 0.690 to 0.805); 1 is won, 0 lost",
        "won 145, drawn 9, lost 46",
    ]


def test_a_match_of_four_has_points_above_the_others_and_no_wins_beside_losses():
    """Few have the most points of four, however strong: "wins 16, losses 67" beside +0.84 read as a contradiction."""
    assert as_lines(TABLE) == [
        "blob, version 57 against version 12",
        "120 games, 64 simulations a decision",
        "with cards=5 trump=spades",
        "+0.84 points a game above the others' mean (95 % interval +0.31 to +1.37)",
        "6.11 points a game, the others 5.27",
        "by seat 4.10 7.10 3.70 4.57",
        "most points of the 4 players in 16 of 120 games, shared with another in 37",
    ]


def test_values_by_seat_do_not_look_like_an_interval():
    assert as_lines(SOLVED) == [
        "leduc, checkpoint 7, 3,000,000 iterations",
        "NashConv 0.00042 points: what best responses of all seats would gain",
        "exploitability 0.00021 points, the mean of the seats",
        "value, by seat: -0.0856, +0.0856",
        "of a best response, by seat: -0.0853, +0.0859",
    ]


@pytest.mark.parametrize("figures", [DUEL, TABLE, SOLVED])
def test_every_line_fits_80_columns(figures):
    assert max(map(len, as_lines(figures))) <= 80


def test_hands_of_a_blueprint_are_a_line_for_each_opponent():
    row = {"against": "always-call", "hands": 200_000, "bb_per_100": 137.94, "interval": [134.04, 141.84]}
    figures = {"game": "holdem", "iterations": 1_546_857, "purified": True, "rows": [row, row | {"against": "tight"}]}
    lines = as_lines(figures)
    assert lines == [
        "holdem, 1,546,857 iterations, purified; bb/100 with 95 % intervals",
        "against always-call: +137.9 (+134.0 to +141.8), 200,000 hands",
        "against tight: +137.9 (+134.0 to +141.8), 200,000 hands",
    ]


def test_rewards_of_a_population_are_told_agent_by_agent():
    figures = {"game": "treasurehunt", "version": 9, "games": 200, "reward": 264.2, "interval": [249.8, 278.7]}
    figures |= {"reward_by_agent": [130.1, 134.1], "intervals_by_agent": [[120.0, 140.0], [124.0, 144.0]]}
    assert as_lines(figures) == [
        "treasurehunt, version 9, 200 greedy episodes",
        "reward of all agents 264.2 (95 % interval 249.8 to 278.7)",
        "agent 0: 130.1 (120.0 to 140.0)",
        "agent 1: 134.1 (124.0 to 144.0)",
    ]
