"""The published claim, in virtual time; a shorter run than the table's."""

import numpy as np
import pytest

from asyncplay.bench import virtual


def shares(rows):
    return {row.policy: row.share_of_max for row in rows}


@pytest.mark.parametrize("think", virtual.THINKS)
@pytest.mark.parametrize("slots", [16, 128, 512, 2048])
def test_auto_reaches_95_percent_of_the_best_policy(slots, think):
    policies = ("auto", "greedy", "1ms", "barrier")
    share = shares(virtual.run_virtual(seconds=1.5, slots=[slots], thinks=[think], policies=policies))
    assert share["auto"] >= 0.95 * max(share.values())


@pytest.mark.parametrize("think", virtual.THINKS)
@pytest.mark.parametrize("slots", [2048, 8192])
def test_auto_reaches_95_percent_of_the_device_from_2048_slots_on(slots, think):
    (row,) = virtual.run_virtual(seconds=1.0, slots=[slots], thinks=[think], policies=["auto"])
    assert row.share_of_max >= 0.95


def test_a_barrier_of_16_lock_step_slots_has_the_period_of_the_formula():
    """All think 1 ms, then one batch of 16."""
    (row,) = virtual.run_virtual(seconds=2.0, slots=[16], thinks=["constant"], policies=["barrier"])
    assert row.rows_per_s == pytest.approx(16 / (1e-3 + 0.6e-3 + 16 / 300e3), rel=0.005)


def test_a_long_timer_starves_few_slots():
    """16 slots gather within the 50 ms, so each period serves them once."""
    (row,) = virtual.run_virtual(seconds=2.0, slots=[16], thinks=["constant"], policies=["50ms"])
    assert row.rows_per_s == pytest.approx(16 / (1e-3 + 50e-3 + 0.6e-3), rel=0.05)


def test_the_same_seed_gives_the_same_table():
    first, second = (virtual.run_virtual(seconds=0.2, slots=[48], thinks=["stragglers"], seed=3) for _ in range(2))
    assert first == second
    assert [row.policy for row in first] == list(virtual.POLICIES)


def test_no_slot_is_forgotten():
    """A row lost or answered twice would stop its slot; a slot that thinks 1 ms gets round in 1.6 to 4 ms."""
    slots = virtual.Slots(np.full((48, 1_000), 1e-3), np.linspace(0.0, 1e-3, 48))
    virtual.serve(slots, virtual.Auto(seed=1), 0.5)
    assert slots.turns.min() > 125
    assert slots.turns.max() < 313
