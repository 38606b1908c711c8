"""The race against open_spiel, with short windows: what it reports, not how fast it is."""

import pytest

from asyncplay.bench import cfr
from asyncplay.errors import AsyncplayError


def test_it_reports_both_rates_and_the_time_to_each_goal(monkeypatch):
    monkeypatch.setattr(cfr, "WINDOWS", 3)
    monkeypatch.setattr(cfr, "WINDOW_S", 0.01)
    found = cfr.measure("kuhn")
    times = list(found["seconds_to"].values())

    assert list(found) == list(cfr.SolveSpeed.__annotations__)
    assert list(found["seconds_to"]) == ["0.1", "0.05", "0.02"]
    assert None not in times
    assert times == sorted(times)
    assert found["cfr_plus_seconds_to"]["0.001"] is not None
    assert min(found["asyncplay_it_s"], found["pyspiel_it_s"], found["nodes_per_s"]) > 0


def test_a_goal_that_is_not_met_in_time_has_no_time(monkeypatch):
    monkeypatch.setattr(cfr, "LIMIT_S", 0.0)

    assert cfr._seconds_to(cfr.flatten(cfr.games.load("kuhn")), None, print, (0.1,)) == {"0.1": None}


def test_other_games_are_refused():
    with pytest.raises(AsyncplayError, match="--game chess: known are kuhn, leduc, liarsdice"):
        cfr.measure("chess")
