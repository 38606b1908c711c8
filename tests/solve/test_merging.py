"""Several workers solve about as well as one, at equal iterations: synchronous rounds, without processes.

Whoever walks a piece starts from the merged table and takes back what it changed: so one sampler plays all
workers. Everything is drawn from fixed seeds, and the numbers are always the same.
"""

from statistics import median

import numpy as np
import pytest
from solve.test_mccfr import compiled

from asyncplay.engine.ledger import shares
from asyncplay.methods.mccfr.round_size import Effort, RoundSize
from asyncplay.solve import deltas
from asyncplay.solve.exact import exploitability
from asyncplay.solve.flat import FlatGame
from asyncplay.solve.mccfr import Changes, Sampler, SamplerSettings
from asyncplay.solve.regret import average_policy, discount, new_table

NO_DISCOUNTS = (np.inf, np.inf, 0.0)
UNBOUNDED = Effort(iterations=1)


class Round:
    """A merged table and a sampler that plays all workers of a round."""

    def __init__(self, game: FlatGame, workers: int, seed: int) -> None:
        self.game, self.workers, self.done = game, workers, 0
        self.sampler = Sampler(game, SamplerSettings(), seed)
        self.merged = deltas.MergedTable(game.flat.offsets, new_table(game))

    def play(self, iterations: int) -> None:
        changes = [self.walk(size) for size in shares(iterations, self.workers) if size]
        for change in changes:
            self.merged.merge(change.infosets, change.regrets, change.sums, len(changes))
        infosets = self.merged.union([change.infosets for change in changes])
        deltas.put_regrets(self.game.flat.offsets, self.sampler.table, infosets, self.merged.regrets(infosets))

    def walk(self, size: int) -> Changes:
        self.sampler.run(self.done, size)
        self.done += size
        return self.sampler.withdraw()


def nash_conv(workers: int, iterations: int, seed: int, discounts: tuple[float, float, float] = NO_DISCOUNTS) -> float:
    game, period = compiled("leduc"), 0
    rounds = Round(game, workers, seed)
    while rounds.done < iterations:
        rounds.play(min(RoundSize().iterations(rounds.done, workers, UNBOUNDED), iterations - rounds.done))
        period += 1
        for table in (rounds.merged.values, rounds.sampler.table):
            discount(table, period, *discounts)
    return exploitability(game, average_policy(game, rounds.merged.values)).nash_conv


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "limit"), [(2, 1.15), (8, 1.25)])
def test_merged_rounds_come_nearly_as_close_as_one_worker(workers, limit):
    """Medians of ten seeds. Plain sums of regrets would be 4.7 to 16 times worse."""
    alone, together = (median(nash_conv(n, 20_000, seed) for seed in range(10)) for n in (1, workers))

    assert together < limit * alone


def test_one_worker_in_rounds_is_the_serial_algorithm():
    game = compiled("leduc")
    rounds, serial = Round(game, 1, seed=7), Sampler(game, SamplerSettings(), seed=7)
    rounds.play(300)
    rounds.play(700)
    serial.run(0, 1_000)

    np.testing.assert_allclose(rounds.merged.values, serial.table, rtol=1e-9, atol=1e-6)


def test_discounted_rounds_of_several_workers_converge():
    """Every copy of the table is discounted alike, so nothing but touched infosets needs to travel."""
    assert nash_conv(4, 20_000, seed=0, discounts=(1.5, 0.5, 2.0)) < 0.4
