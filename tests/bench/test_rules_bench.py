"""``asyncplay bench rules``."""

import pytest

from asyncplay.bench import rules


def test_random_tic_tac_toe_has_5_to_9_decisions_a_game():
    found = rules.measure("tictactoe", seconds=0.05)
    assert found["decisions_per_s"] > 0
    assert found["games"] > 0
    assert 5 <= found["mean_decisions"] <= found["most_decisions"] <= found["limit"] == 9
    assert found["limit_share"] == 0


@pytest.mark.slow
def test_games_that_their_limit_cuts_off_are_counted():
    found = rules.measure("ringrift", option=["max_moves=20"], seconds=0.05)
    assert (found["mean_decisions"], found["most_decisions"], found["limit_share"]) == (20, 20, 1)
