"""The load of ``bench population`` and its baseline."""

import numpy as np
import pytest

from asyncplay.bench import population
from asyncplay.bench.population import bench_config, interval
from asyncplay.bench.sequential import SequentialPopulation
from asyncplay.methods.population.members import read_members
from asyncplay.methods.population.parts import make_limiter
from asyncplay.model.products import forward_products, step_products
from asyncplay.model.quantile import QuantileShape

PUBLISHED = QuantileShape(networks=5, features=625, actions=4, width=250, quantiles=12, cosines=64)


def flops(products) -> int:
    return sum(2 * rows * inner * columns for rows, inner, columns in products)


def test_the_arithmetic_is_that_of_the_published_network():
    """A row of features, twelve quantiles through the hidden layer and the heads: 1.84 million operations; a step of
    64 rows is four such passes and a bit, as the features get no gradient."""
    row = 2 * (625 * 250 + 12 * 250 * 250 + 12 * 250 * 5)
    embedding = 2 * 12 * 64 * 250

    assert flops(forward_products(PUBLISHED, 1)) == row
    assert flops(step_products(PUBLISHED, 64)) == 64 * (5 * row - 2 * 625 * 250) + 4 * embedding


@pytest.mark.parametrize("steps", [1, 4])
def test_both_ways_make_the_same_steps(steps):
    """At rest the pooled run has made as many as the episodes allow, and at most one more."""
    config = bench_config(steps, 1000, 0)
    limiter = make_limiter(config, read_members(config.population, 5), 0, [0] * 5, None)
    n_steps = 0
    for _ in range(1000):
        limiter.count_inserted(250)
        while limiter.can_sample:
            limiter.count_sampled()
            n_steps += 1

    assert 1000 * steps <= n_steps <= 1000 * steps + 1


def test_the_baseline_trains_every_network_after_every_episode():
    config = bench_config(2, 2, 0)
    first, second = SequentialPopulation(config, 2).train(), SequentialPopulation(config, 2).train()

    assert first.steps == 4
    for name, array in first.weights.items():
        np.testing.assert_allclose(second.weights[name], array, atol=1e-4)


def test_an_interval_of_five_is_students():
    low, high = interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (low, high) == pytest.approx((3 - 2.776 * 0.7071, 3 + 2.776 * 0.7071), abs=0.01)


@pytest.mark.slow
@pytest.mark.process
def test_the_bench_has_the_fields_that_are_published(monkeypatch):
    monkeypatch.setattr(population, "GREEDY_EPISODES", 4)
    monkeypatch.setattr(population, "IDLE_S", 0.5)
    found = population.measure(episodes=16)

    assert [row["steps_per_episode"] for row in found["rows"]] == [1, 4]
    wanted = {"sequential_s", "pooled_s", "speedup", "arithmetic_s", "final_reward_sequential", "final_reward_pooled"}
    for row in found["rows"]:
        assert wanted <= row.keys()
        assert abs(row["steps"][0] - row["steps"][1]) <= 1
    assert {"wakeups_per_s_idle", "mean_sample_age", "replay_ratio", "publish_share"} <= found.keys()
