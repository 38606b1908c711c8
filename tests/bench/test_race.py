"""The race against open_spiel, with short windows: what it reports, not how fast it is."""

import pyspiel
import pytest

from asyncplay import games
from asyncplay.bench import cfr, deltas, scaling
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import check


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


@pytest.mark.parametrize(
    ("name", "options"),
    [("kuhn", {}), ("kuhn", {"players": 4}), ("leduc", {"players": 3}), ("liarsdice", {}), ("liarsdice", {"faces": 3})],
)
def test_both_sides_play_the_game_with_the_options_chosen(name, options):
    spec = games.load(name, options)
    chosen = check(name, games.declared(name), options)
    theirs = pyspiel.load_game(cfr.OPENSPIEL_GAMES[name].format_map(chosen))

    assert theirs.num_players() == spec.players
    assert theirs.num_distinct_actions() == spec.actions
    assert theirs.max_chance_outcomes() == spec.max_outcomes


def test_holdem_is_raced_with_the_same_stacks_and_blinds():
    chosen = check("holdem", games.declared("holdem"), {"big_blind": 4, "stack": 80})
    theirs = pyspiel.load_game(cfr.OPENSPIEL_GAMES["holdem"].format_map(chosen))
    state = theirs.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])

    assert (theirs.num_players(), theirs.num_distinct_actions()) == (2, 4)
    assert (theirs.min_utility(), theirs.max_utility()) == (-80, 80)
    assert state.current_player() == 1  # the small blind


def test_what_the_race_in_holdem_cannot_have_is_refused_before_buckets_are_built():
    with pytest.raises(AsyncplayError, match=r"^--option deck: the race in holdem is without; leave it out$"):
        cfr.measure("holdem", option=["deck=24", "stack=40"])


@pytest.mark.parametrize("bench", [deltas, scaling])
def test_tables_of_other_games_are_not_measured(bench):
    with pytest.raises(AsyncplayError, match=r"^--game: 'holdm' is no game whose table grows, did you mean 'holdem'\?"):
        bench.measure(game="holdm")


def test_a_goal_that_is_not_met_in_time_has_no_time(monkeypatch):
    monkeypatch.setattr(cfr, "LIMIT_S", 0.0)

    assert cfr._seconds_to(cfr.flatten(cfr.games.load("kuhn")), None, print, (0.1,)) == {"0.1": None}


def test_other_games_are_refused():
    with pytest.raises(
        AsyncplayError, match=r"'chess' is no game to race in, did you mean .* known are kuhn, leduc, liars"
    ):
        cfr.measure("chess")
