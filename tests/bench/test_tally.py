"""Games a minute are those of whole rounds."""

from itertools import count

import pytest

from asyncplay.bench import outside, tally
from asyncplay.bench.tally import Tally, total, whole_rounds


@pytest.fixture(autouse=True)
def _looks_without_waiting(monkeypatch):
    monkeypatch.setattr(outside, "LOOK_S", 0)


def looks(games_at, *, rows=10):
    """A run that is looked at each second: ``games_at(second)`` games have ended by then."""
    seconds = count(0)

    def look():
        second = next(seconds)
        return Tally(float(second), games_at(second), rows * second, second)

    return look


async def test_games_that_end_in_waves_are_counted_at_their_steady_rate():
    """Eight games at a time, all of a wave within a second of every forty: 12 games a minute, whenever one looks."""
    window = await whole_rounds(looks(lambda second: (second + 13) // 40 * 8), 8, 0)

    assert window.games % 8 == 0
    assert window.games_per_min == pytest.approx(12, rel=0.1)


async def test_a_window_is_a_number_of_whole_rounds_and_long_enough():
    window = await whole_rounds(looks(lambda second: second), 10, 37)

    assert 40 <= window.games < 45  # some looks see a game more
    assert window.seconds >= 37


async def test_the_round_in_which_everything_warms_up_is_not_counted():
    """Nothing ends for a thousand looks, then a game at every one."""
    window = await whole_rounds(looks(lambda second: max(second - 1000, 0)), 5, 0)

    assert window.games_per_min == pytest.approx(60)
    assert window.seconds < 10


def test_rates_are_of_what_was_counted():
    parts = [Tally(1.0, 3, 300, 10, 30, 5), Tally(3.0, 5, 500, 10, 50, 5)]
    both = total(parts)

    assert both == Tally(4.0, 8, 800, 20, 80, 10)
    assert (both.games_per_min, both.rows_per_s, both.rows_per_game) == (120, 200, 100)
    assert (both.mean_batch, both.decisions_per_s) == (40, 20)
    assert both.since(parts[0]) == parts[1]
    assert tally.Tally(1.0, 0, 0, 0).mean_batch == 0
