"""Sampled walks: they find the known values, change regrets without bias, and know what they touched."""

from functools import cache

import numpy as np
import pytest

from asyncplay import games
from asyncplay.search.exact import worth
from asyncplay.search.flat import FlatGame
from asyncplay.search.flatten import flatten
from asyncplay.search.mccfr import EXTERNAL, OUTCOME, Sampler, Settings
from asyncplay.search.regret import REGRET, SUM, average_policy, new_table

METHODS = {"external": EXTERNAL, "outcome": OUTCOME}


@cache
def compiled(name: str, **options: int) -> FlatGame:
    return flatten(games.load(name, options))


@pytest.mark.parametrize("is_linear", [0, 1])
@pytest.mark.parametrize("method", METHODS)
def test_the_first_player_of_kuhn_poker_loses_an_eighteenth(method, is_linear):
    """Kuhn 1950."""
    game = compiled("kuhn")
    sampler = Sampler(game, Settings(method=METHODS[method], is_linear=is_linear), seed=1)
    sampler.run(0, 400_000)
    found = worth(game, average_policy(game, sampler.table))

    assert found.values[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert found.nash_conv < 0.02


@pytest.mark.parametrize("method", METHODS)
def test_a_range_does_the_same_in_one_call_or_in_several(method):
    game = compiled("leduc")
    whole, parts = (Sampler(game, Settings(method=METHODS[method]), seed=3) for _ in range(2))
    done = whole.run(0, 500)
    pieces = [parts.run(first, n) for first, n in ((0, 1), (1, 99), (100, 400))]

    np.testing.assert_array_equal(whole.table, parts.table)
    assert done.nodes == sum(piece.nodes for piece in pieces)


@pytest.mark.parametrize("method", METHODS)
def test_withdrawn_changes_are_what_the_table_had_gained_and_the_table_is_as_before(method):
    game = compiled("leduc")
    whole, sampler = (Sampler(game, Settings(method=METHODS[method]), seed=5) for _ in range(2))
    sampler.run(0, 300)
    sampler.withdraw()
    assert not sampler.table.any()

    whole.run(300, 20)
    sampler.run(300, 20)
    np.testing.assert_array_equal(sampler.table, whole.table)
    changes = sampler.withdraw()
    rebuilt = np.zeros_like(whole.table)
    entries = game.entries_of(changes.rows)
    rebuilt[entries, REGRET], rebuilt[entries, SUM] = changes.regrets, changes.sums

    assert len(set(changes.rows.tolist())) == len(changes.rows) < game.n_rows
    np.testing.assert_array_equal(rebuilt, whole.table)
    assert not sampler.table.any()
    assert len(sampler.withdraw().rows) == 0


@pytest.mark.parametrize("is_linear", [0, 1])
def test_sums_still_move_after_a_thousand_million_visits(is_linear):
    """float32 stops at 2**24 visits. Linear weights are as large as the iteration's number."""
    game, visits = compiled("kuhn"), 1_000_000_000
    table = new_table(game)
    table[:, SUM] = visits * (visits / 2 if is_linear else 1.0)
    before = table.copy()
    Sampler(game, Settings(is_linear=is_linear), seed=1, table=table).run(visits, 1_000)
    gained = (table[:, SUM] - before[:, SUM]).reshape(-1, 2).sum(axis=1)

    assert (gained > 0.0).all()
    assert gained.sum() == pytest.approx(before_and_after(game, visits, is_linear), rel=1e-3)


def before_and_after(game: FlatGame, visits: int, is_linear: int) -> float:
    """The same iterations on an empty table of sums."""
    sampler = Sampler(game, Settings(is_linear=is_linear), seed=1)
    sampler.run(visits, 1_000)
    return float(sampler.table[:, SUM].sum())
