"""Sampled walks: they find the known values, change regrets without bias, and know what they touched."""

from functools import cache

import numpy as np
import pytest

from asyncplay import games
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import EXTERNAL, OUTCOME, Sampler, SamplerSettings, explore_of
from asyncplay.solve.regret import REGRET, SUM, average_policy, new_table

METHODS = {"external": EXTERNAL, "outcome": OUTCOME}


@cache
def compiled(name: str, **options: int) -> FlatGame:
    return flatten(games.load(name, options))


@pytest.mark.parametrize("is_linear", [0, 1])
@pytest.mark.parametrize("method", METHODS)
def test_the_first_player_of_kuhn_poker_loses_an_eighteenth(method, is_linear):
    """Kuhn 1950."""
    game = compiled("kuhn")
    sampler = Sampler(game, SamplerSettings(method=METHODS[method], is_linear=is_linear), seed=1)
    sampler.run(0, 400_000)
    found = exploitability(game, average_policy(game, sampler.table))

    assert found.values[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert found.nash_conv < 0.02


@pytest.mark.parametrize("method", METHODS)
def test_a_range_does_the_same_in_one_call_or_in_several(method):
    game = compiled("leduc")
    whole, parts = (Sampler(game, SamplerSettings(method=METHODS[method]), seed=3) for _ in range(2))
    done = whole.run(0, 500)
    pieces = [parts.run(first, n) for first, n in ((0, 1), (1, 99), (100, 400))]

    np.testing.assert_array_equal(whole.table, parts.table)
    assert done.nodes == sum(piece.nodes for piece in pieces)


@pytest.mark.parametrize("method", METHODS)
def test_withdrawn_changes_are_what_the_table_had_gained_and_the_table_is_as_before(method):
    game = compiled("leduc")
    whole, sampler = (Sampler(game, SamplerSettings(method=METHODS[method]), seed=5) for _ in range(2))
    sampler.run(0, 300)
    sampler.withdraw()
    assert not sampler.table.any()

    whole.run(300, 20)
    sampler.run(300, 20)
    np.testing.assert_array_equal(sampler.table, whole.table)
    changes = sampler.withdraw()
    rebuilt = np.zeros_like(whole.table)
    offsets = game.flat.offsets
    entries = [entry for infoset in changes.infosets for entry in range(offsets[infoset], offsets[infoset + 1])]
    rebuilt[entries, REGRET], rebuilt[entries, SUM] = changes.regrets, changes.sums

    assert len(set(changes.infosets.tolist())) == len(changes.infosets) < game.n_infosets
    np.testing.assert_array_equal(rebuilt, whole.table)
    assert not sampler.table.any()
    assert len(sampler.withdraw().infosets) == 0


@pytest.mark.parametrize("is_linear", [0, 1])
def test_sums_still_move_after_a_thousand_million_visits(is_linear):
    """float32 stops at 2**24 visits. Linear weights are as large as the iteration's number."""
    game, visits = compiled("kuhn"), 1_000_000_000
    table = new_table(game)
    table[:, SUM] = visits * (visits / 2 if is_linear else 1.0)
    before = table.copy()
    Sampler(game, SamplerSettings(is_linear=is_linear), seed=1, table=table).run(visits, 1_000)
    gained = (table[:, SUM] - before[:, SUM]).reshape(-1, 2).sum(axis=1)

    assert (gained > 0.0).all()
    assert gained.sum() == pytest.approx(before_and_after(game, visits, is_linear), rel=1e-3)


def before_and_after(game: FlatGame, visits: int, is_linear: int) -> float:
    """The same iterations on an empty table of sums."""
    sampler = Sampler(game, SamplerSettings(is_linear=is_linear), seed=1)
    sampler.run(visits, 1_000)
    return float(sampler.table[:, SUM].sum())


def test_exploration_goes_down_in_a_line_and_stays():
    settings = SamplerSettings(method=OUTCOME, explore_first=0.9, explore_last=0.1, explore_iterations=100)
    found = [explore_of.py_func(settings, iteration) for iteration in (0, 50, 100, 1_000)]

    assert found == pytest.approx([0.9, 0.5, 0.1, 0.1])


def test_a_falling_exploration_keeps_every_regret_moving():
    """After it has fallen, regrets are still brought up to date wherever the other player lets the game come."""
    game = compiled("leduc")
    settings = SamplerSettings(method=OUTCOME, explore_first=0.8, explore_last=0.1, explore_iterations=50_000)
    sampler = Sampler(game, settings, seed=2)
    sampler.run(0, 50_000)
    before = sampler.table[:, REGRET].copy()
    sampler.run(50_000, 200_000)

    assert (sampler.table[:, REGRET] != before).mean() > 0.9
    assert (sampler.table[:, REGRET] != 0.0).all(), "none starts again from 0"


def test_pruning_passes_fewer_nodes_and_still_converges():
    game = compiled("leduc")
    plain, pruned = (Sampler(game, SamplerSettings(prune_below=below), seed=4) for below in (0.0, 3_000.0))
    nodes = [sampler.run(0, 400_000).nodes for sampler in (plain, pruned)]

    assert nodes[1] < 0.93 * nodes[0]
    assert exploitability(game, average_policy(game, pruned.table)).nash_conv < 0.07


def test_a_pruned_walk_leaves_the_regrets_of_skipped_actions_alone():
    game = compiled("kuhn")
    table = new_table(game)
    table[::2, REGRET], table[1::2, REGRET] = 5.0, -100.0
    Sampler(game, SamplerSettings(prune_below=50.0, is_linear=0, prune_share=1.0), seed=4, table=table).run(0, 3)

    assert (table[1::2, REGRET] == -100.0).all()
    assert (table[::2, REGRET] == 5.0).all(), "the only action tried is worth what the infoset is worth"


@pytest.mark.parametrize("method", METHODS)
def test_utility_is_what_the_strategies_earn(method):
    """Where nothing is learned, the mean over many iterations is the value of the uniform policy."""
    game = compiled("kuhn")
    table = new_table(game)
    table[:, REGRET] = 1e12
    walked = Sampler(game, SamplerSettings(method=METHODS[method], is_linear=0), seed=9, table=table).run(0, 200_000)
    wanted = exploitability(game, np.full(game.n_entries, 0.5)).values

    np.testing.assert_allclose(walked.utility / 200_000, wanted, atol=0.02)
