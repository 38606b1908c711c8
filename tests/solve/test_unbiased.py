"""What a sampled walk changes is, in the mean, what a full walk would: regrets and strategy sums.

The table's regrets are huge, so that what one player learns in an iteration hardly moves the strategy that the
next one meets: every iteration then starts from the same strategies.
"""

import numpy as np
import pytest
from solve.test_mccfr import METHODS, compiled

from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.solve.flat import Flat, FlatGame
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import REGRET, SUM, new_table

HUGE, ITERATIONS, LIMIT = 1e9, 20_000, 5.0
UNSEEN = 5e-4  # what happens more rarely may not have happened at all, so that no error can be told
CASES = [("external", 0.6), ("outcome", 0.6), ("outcome", 0.3)]


def random_table(game: FlatGame) -> np.ndarray:
    table = new_table(game)
    table[:, REGRET] = HUGE * np.random.default_rng(0).uniform(-0.2, 1.0, game.n_entries)
    return table


def policy_of(game: FlatGame, table: np.ndarray) -> np.ndarray:
    policy = np.empty(game.n_entries)
    for first, end in zip(game.flat.offsets, game.flat.offsets[1:], strict=False):
        above = np.maximum(table[first:end, REGRET], 0.0)
        policy[first:end] = above / above.sum() if above.any() else 1 / (end - first)
    return policy


class FullWalk:
    """Plain recursion, close to the formulas: counterfactual regrets, and sums as a walk of the other adds them."""

    def __init__(self, flat: Flat, policy: np.ndarray) -> None:
        self.flat, self.policy = flat, policy
        self.changes = np.zeros((len(policy), 2))
        self.value(flat.worlds[0], np.ones(2), 1.0)

    def value(self, place: np.void, reach: np.ndarray, chance: float, node: int | None = None) -> np.ndarray:
        """What a history is worth; ``place`` is the world or the outcome that led to its world."""
        node = int(place["node"]) if node is None else node
        at, cell = self.flat.nodes[node], int(self.flat.cells[(node + int(place["shift"])) % 2**64])
        if at["mover"] == GAME_OVER:
            return self.flat.payoffs[cell]
        if at["mover"] == CHANCE_TURN:
            outcomes = self.flat.outcomes[cell : cell + self.flat.outcomes["n"][cell]]
            return sum(one["odds"] * self.value(one, reach, chance * one["odds"]) for one in outcomes)
        mover, first, n = int(at["mover"]), int(at["first"]), int(at["n"])
        odds = self.policy[cell : cell + n]
        further = [reach * np.where(np.arange(2) == mover, odds[k], 1.0) for k in range(n)]
        children = [self.value(place, further[k], chance, first + k) for k in range(n)]
        mean = odds @ np.array(children)
        for k in range(n):
            self.changes[cell + k, REGRET] += chance * reach[1 - mover] * (children[k][mover] - mean[mover])
            self.changes[cell + k, SUM] += chance * reach[mover] * odds[k]
        return mean


@pytest.mark.parametrize("name", ["kuhn", "liarsdice"])
@pytest.mark.parametrize(("method", "explore"), CASES)
def test_a_walk_changes_the_table_without_bias(method, explore, name):
    """Within five standard errors for every entry; the draws are fixed, so this never fails by chance."""
    game = compiled(name, **({"faces": 2} if name == "liarsdice" else {}))
    start = random_table(game)
    table = start.copy()
    settings = SamplerSettings(method=METHODS[method], is_linear=0, explore_first=explore, explore_last=explore)
    sampler = Sampler(game, settings, seed=11, table=table)
    total, squares = np.zeros_like(table), np.zeros_like(table)
    for iteration in range(ITERATIONS):
        sampler.run(iteration, 1)
        change = table - start
        total += change
        squares += change**2
        table[:] = start
    mean = total / ITERATIONS
    error = np.sqrt(np.maximum(squares / ITERATIONS - mean**2, 0.0) / ITERATIONS)
    wanted = FullWalk(game.flat, policy_of(game, start)).changes

    assert (np.abs(wanted) > 20 * UNSEEN).mean() > 0.3
    assert (np.abs(mean - wanted) <= LIMIT * error + UNSEEN).all()
