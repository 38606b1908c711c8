"""Known numbers: intervals, win rates, quantiles, games a minute."""

import json

import pytest
from stored import START_S, make_run

from asyncplay.archive.summary import as_lines, from_tallies, quantile, seat_rates, summarize
from asyncplay.data.reader import Tallies
from asyncplay.stats import wilson


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (5, 10, 0.2366, 0.7634),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 0, 0.0, 1.0),
        (500, 1000, 0.4691, 0.5309),
    ],
)
def test_wilsons_interval(wins, games, low, high):
    """The textbook's: 5 of 10 is .237 to .763, and none of 10 may still be more than a quarter."""
    assert wilson(wins, games) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_a_win_is_more_than_every_other_and_seats_are_counted_apart():
    rates, draws = seat_rates({(1.0, -1.0): 6, (-1.0, 1.0): 3, (0.0, 0.0): 1, (3.0, 9.0, 9.0): 4, (1.0, 0.0, 5.0): 4})
    assert draws == 1 + 4
    assert [(rate.seats, rate.seat, rate.wins, rate.games, rate.rate) for rate in rates] == [
        (2, 0, 6, 10, 0.6),
        (2, 1, 3, 10, 0.3),
        (3, 0, 0, 8, 0.0),
        (3, 1, 0, 8, 0.0),
        (3, 2, 4, 8, 0.5),
    ]


def test_quantiles_of_counts():
    """One 1, eight 2s, one 9: half do not exceed 2, 95 % need the 9."""
    assert [quantile([(1, 1), (2, 8), (9, 1)], share) for share in (0.1, 0.5, 0.9, 0.95)] == [1, 2, 2, 9]


def tallies(**changes: object) -> Tallies:
    return Tallies(0, {}, {}, {}, 0.0, 0.0, {}, None)._replace(**changes)


@pytest.mark.parametrize(("limited", "is_warned"), [(0, False), (1, False), (2, True)])
def test_more_than_one_percent_of_broken_off_games_is_warned_of(limited, is_warned):
    reasons = {"rules": 100 - limited, "limit": limited}
    assert bool(from_tallies(tallies(games=100, reasons=reasons), "pig").warning) == is_warned


def test_a_run_is_summed_up(tmp_path):
    """120 games, one a minute: ten in each of twelve periods, the last one's end belonging to it."""
    make_run(tmp_path / "run", range(120)).close()
    summary = summarize(tmp_path / "run")
    assert (summary.game, summary.games, summary.versions, summary.limit_share) == ("tictactoe", 120, (0, 11), 0.0)
    assert sum(summary.reasons.values()) == 120
    assert summary.draws + sum(rate.wins for rate in summary.seats) == 120
    assert [period.games for period in summary.periods] == [10] * 12
    assert summary.periods[0].start_s == START_S
    assert summary.periods[0].games_per_min == pytest.approx(10 / (119 / 12))
    assert 5 <= summary.lengths.shortest <= summary.lengths.median <= summary.lengths.longest == 9
    assert json.loads(json.dumps(summary.as_dict()))["seats"][0]["games"] == 120
    assert as_lines(summary)[0] == "tictactoe: 120 games"


def test_a_run_without_games_is_summed_up_too(tmp_path):
    make_run(tmp_path / "run", []).close()
    summary = summarize(tmp_path / "run")
    assert (summary.games, summary.lengths, summary.periods, summary.warning) == (0, None, [], "")
    assert as_lines(summary) == ["tictactoe: 0 games"]


def test_a_store_is_read_while_its_run_writes(tmp_path):
    store = make_run(tmp_path / "run", range(30))
    assert summarize(tmp_path / "run").games == 30
    store.write([], [])
    store.close()
    assert summarize(tmp_path / "run").games == 30
