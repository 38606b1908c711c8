"""No walk changes a table by more than the bounds say, and the bounds are not far above what walks do."""

from dataclasses import dataclass

import numpy as np
import pytest

from asyncplay.solve import solvable
from asyncplay.solve.bounds import bounds_of
from asyncplay.solve.mccfr import OUTCOME, Sampler, SamplerSettings

WAYS = [
    SamplerSettings(),
    SamplerSettings(is_linear=0),
    SamplerSettings(prune_below=0.5, prune_after=20),
    SamplerSettings(method=OUTCOME),
    SamplerSettings(method=OUTCOME, is_linear=0, explore_first=0.9, explore_last=0.1, explore_iterations=100),
]


@dataclass
class Largest:
    """Parts of their bounds."""

    regret: float = 0.0
    total: float = 0.0
    value: float = 0.0


def walk(name: str, settings: SamplerSettings, pieces: list[int]) -> Largest:
    game = solvable.compile_game(name, {})
    bounds, sampler, largest, first = bounds_of(game, settings), Sampler(game, settings, seed=3), Largest(), 0
    for n in pieces:
        walked = sampler.run(first, n)
        regrets = sampler.table[:, 0].copy()
        changes, weight = sampler.withdraw(), bounds.weight(first, n)
        sampler.table[:, 0] = regrets  # the next piece begins where this one ended
        assert changes.sums.min() >= 0.0
        assert n * bounds.least_nodes <= walked.nodes <= n * bounds.most_nodes
        largest.regret = max(largest.regret, np.abs(changes.regrets).max() / (weight * bounds.regret))
        largest.total = max(largest.total, changes.sums.max() / (weight * bounds.total))
        largest.value = max(largest.value, abs(walked.utility[0]) / (n * bounds.value))
        first += n
    return largest


@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_no_walk_goes_beyond_the_bounds(name, settings):
    largest = walk(name, settings, [1] * 20 + [10, 100, 400])
    assert max(largest.regret, largest.total, largest.value) <= 1.0


def test_the_bounds_of_external_walks_are_within_an_order_of_what_they_do():
    """Kuhn: payoffs from -2 to 2, and an infoset has two histories, of which a walk meets one."""
    bounds = bounds_of(solvable.compile_game("kuhn", {}), SamplerSettings())
    assert (bounds.regret, bounds.total, bounds.value) == pytest.approx((4, 2, 2), rel=0.01)
    largest = walk("kuhn", SamplerSettings(), [1] * 50)
    assert largest.regret > 0.3
    assert largest.total > 0.45
    assert largest.value > 0.9


def test_the_weight_of_a_piece_is_that_of_its_iterations():
    linear, flat = (
        bounds_of(solvable.compile_game("kuhn", {}), SamplerSettings(is_linear=is_linear)) for is_linear in (1, 0)
    )
    assert (linear.weight(0, 1), linear.weight(7, 3), flat.weight(7, 3)) == (1, 8 + 9 + 10, 3)


def test_an_outcome_walk_divides_by_no_less_than_its_exploration_allows():
    """Kuhn: two decisions of two actions each by the first player, each drawn with odds of .5 / 2 or more."""
    settings = SamplerSettings(method=OUTCOME, explore_first=0.5, explore_last=0.8)
    bounds = bounds_of(solvable.compile_game("kuhn", {}), settings)
    assert (bounds.regret, bounds.total) == pytest.approx((2 * 4 * 4, 4 * 4), rel=0.01)
