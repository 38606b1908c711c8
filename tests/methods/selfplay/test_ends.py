"""How games end, as a run shows it."""

from dataclasses import replace

import numpy as np
import pytest
from methods.selfplay.test_games import GAME

from asyncplay.methods.selfplay.figures import EndFigures
from asyncplay.methods.selfplay.games import FEW_GAMES, Ends
from asyncplay.stats import wilson


def ends_of(*games: tuple[str, list[float], int]) -> EndFigures:
    """Figures after games of two: reason, returns, how many."""
    ends = Ends(2)
    for reason, returns, count in games:
        for _ in range(count):
            ends.add(replace(GAME, reason=reason, returns=np.array(returns)))
    return ends.figures()


def test_a_run_without_games_shows_nothing():
    assert ends_of() == EndFigures()


def test_reasons_and_wins_by_seat_are_shares_of_all_games():
    shown = ends_of(("territory", [-1, 1], 50), ("ring_elimination", [1, -1], 30), ("limit", [0, 0], 20))
    assert shown.reasons == "territory 50.0%, ring elimination 30.0%, limit 20.0%"
    assert shown.seat_wins == pytest.approx((0.3, 0.5))
    assert shown.limit_share == pytest.approx(0.2)
    low, high = wilson(30, 100)
    assert shown.seat_intervals.split()[0] == f"{low:.2f}-{high:.2f}"


def test_a_game_that_ends_by_its_rules_alone_has_no_list_of_reasons():
    assert ends_of(("rules", [1, -1], 3)).reasons == ""


@pytest.mark.parametrize(("cut", "whole", "is_warned"), [(2, 98, True), (1, 99, False), (2, 2, False)])
def test_more_than_one_game_in_a_hundred_at_the_limit_is_a_warning(cut, whole, is_warned):
    """But not while so few games are over that one of them is more."""
    shown = ends_of(("limit", [0, 0], cut), ("territory", [1, -1], whole))
    assert (shown.warning != "") == is_warned
    assert FEW_GAMES == 100
