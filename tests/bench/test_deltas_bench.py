"""What the benches of tabular runs count; their rates are measured, not tested."""

import numpy as np
import pytest

from asyncplay.bench import split
from asyncplay.bench.deltas import PUBLISHED_INFOSETS, Exchange, _Young, forest
from asyncplay.solve.exact import exploitability
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import average_policy
from asyncplay.solve.synthetic_tree import grow


def test_a_batch_of_the_published_load_sends_less_than_a_hundred_and_thirty_second_part_of_what_is_known():
    exchange = Exchange(forest(50))
    first = exchange.batch()
    exchange.fill(PUBLISHED_INFOSETS)
    assert exchange.table.n_known >= PUBLISHED_INFOSETS
    exchange.begin()
    later = exchange.batch()

    assert exchange.full_state_bytes() / later.frame_bytes > 132
    assert first.row_bytes == later.row_bytes == Exchange(forest(500)).batch().row_bytes == 4 + 3 * 16


def test_a_young_run_is_the_same_each_time():
    exchange = Exchange(forest(50))
    exchange.until_known(1000)
    n_known, young = exchange.table.n_known, _Young(exchange, forest(50))
    batches = []
    for _ in range(2):
        again = young.again()
        assert again.table.n_known == n_known
        batches.append([again.batch() for _ in range(3)])

    assert batches[0] == batches[1]


def test_a_forest_is_a_game_that_can_be_solved():
    """Two deals, three decisions deep; sampling comes near to what exact values say cannot be improved."""
    game = grow(deals=2, depth=3, actions=3, seed=0)
    assert (game.n_infosets, game.n_entries, game.n_histories) == (14, 42, 1 + 2 + 42)
    assert game.flat.parents.tolist() == [-1] * 6 + [1, 1, 2, 2, 4, 4, 5, 5]
    sampler = Sampler(game, SamplerSettings(), 1)
    sampler.run(0, 20_000)
    assert exploitability(game, average_policy(game, sampler.table)).nash_conv < 0.02
    np.testing.assert_allclose(game.flat.payoffs.sum(axis=1), 0.0)


@pytest.mark.process
@pytest.mark.slow
def test_a_real_run_with_fewer_iterations_than_workers_does_them_all():
    assert split.run_really(5, 6) == {"iterations": 5, "workers": 6, "done": 5, "reported": 5}
