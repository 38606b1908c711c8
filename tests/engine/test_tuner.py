"""What the tuner learns, from made-up devices and crowds."""

import json
import math
import random
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.bench import virtual
from asyncplay.engine.firing import Arm
from asyncplay.engine.tuner import SETTLE_BATCHES, WINDOW_BATCHES, ServiceFit, Tuner, TunerState

EQUAL = dict.fromkeys(Arm, 10_000.0)


class World:
    """Batches of about 20 rows come back at a rate that depends on the arm alone."""

    def __init__(self, tuner, noise=0.0, seed=0):
        self.tuner, self.now_s, self.rows = tuner, 0.0, 0
        self.arms = []
        self._noise, self._random = noise, random.Random(seed)

    def run(self, rates, batches):
        for _ in range(batches):
            rows = self._random.randint(10, 30)
            took_s = rows / rates[self.tuner.arm] * self._random.lognormvariate(0.0, self._noise)
            self.now_s, self.rows = self.now_s + took_s, self.rows + rows
            self.tuner.completed(self.now_s, rows, took_s / 2)
            self.arms.append(self.tuner.arm)


def held(tuner):
    return Arm[tuner.state().arm]


def settled(rates):
    """A world in which the verdicts have been the same for long."""
    world = World(Tuner(seed=1))
    world.run(rates, 2_000)
    return world


def fitted(batches, fit=None):
    fit = fit or ServiceFit()
    for rows, service_s in batches:
        fit.observe(rows, service_s)
    return fit


def line(fixed_s, per_row_s, *, n, seed=0):
    """Batches of a device with 5 % of noise."""
    rng = random.Random(seed)
    for _ in range(n):
        rows = rng.randint(100, 1000)
        yield rows, (fixed_s + per_row_s * rows) * rng.gauss(1.0, 0.05)


@given(st.floats(1e-5, 1e-1), st.floats(1e-8, 1e-3), st.integers(2, 500))
def test_the_fit_recovers_an_exact_line(fixed_s, per_row_s, spread):
    fit = fitted((rows, fixed_s + per_row_s * rows) for rows in [10, 10 + spread] * 20)
    expected_s = fixed_s + per_row_s * (10 + spread)
    assert fit.fixed_s + fit.per_row_s * (10 + spread) == pytest.approx(expected_s, rel=0.01)
    assert fit.per_row_s == pytest.approx(per_row_s, rel=0.02, abs=0.02 * fixed_s / 10)


def test_the_fit_follows_a_change():
    fit = fitted(line(0.6e-3, 3.3e-6, n=300))
    assert fit.fixed_s == pytest.approx(0.6e-3, rel=0.2)
    assert fit.per_row_s == pytest.approx(3.3e-6, rel=0.1)
    fitted(line(6e-3, 10e-6, n=400, seed=1), fit)
    assert fit.fixed_s == pytest.approx(6e-3, rel=0.2)
    assert fit.per_row_s == pytest.approx(10e-6, rel=0.1)


def test_without_any_spread_the_cost_is_split_in_halves():
    fit = fitted([(1024, 4e-3)] * 50)
    assert fit.fixed_s == pytest.approx(2e-3)
    assert fit.per_row_s * 1024 == pytest.approx(2e-3)


def test_one_hiccup_of_a_second_does_not_spoil_the_fit():
    fit = fitted([*line(1e-3, 1e-5, n=100), (500, 1.0), *line(1e-3, 1e-5, n=5, seed=1)])
    assert fit.fixed_s + 500 * fit.per_row_s == pytest.approx(6e-3, rel=0.1)


@pytest.mark.parametrize("best", Arm)
def test_the_best_arm_is_found_and_held(best):
    world = World(Tuner(seed=1), noise=0.1)
    world.run(EQUAL | {best: 12_000.0}, 2_000)
    assert held(world.tuner) is best
    assert world.arms[-500:].count(best) > 400


def test_the_arm_follows_the_workload():
    world = World(Tuner(seed=1), noise=0.1)
    world.run(EQUAL | {Arm.ALL: 14_000.0}, 2_000)
    assert held(world.tuner) is Arm.ALL
    world.run(EQUAL | {Arm.INTEGRAL: 14_000.0}, 4_000)
    assert held(world.tuner) is Arm.INTEGRAL


def test_trials_of_terrible_arms_cost_less_than_two_percent():
    """Three arms at half a percent each, after the first round; ALL is 30 times slower."""
    world = World(Tuner(seed=1), noise=0.1)
    world.run({Arm.NONE: 10_000.0, Arm.INTEGRAL: 9_000.0, Arm.HALF: 5_000.0, Arm.ALL: 300.0}, 10_000)
    assert world.rows / world.now_s > 0.98 * 10_000


def test_equal_arms_do_not_flap():
    tuner, changes = Tuner(seed=1), 0
    world = World(tuner, noise=0.2)
    for _ in range(200):
        before = held(tuner)
        world.run(EQUAL, 100)
        changes += held(tuner) is not before
    assert changes <= 2


def test_pauses_of_the_workload_change_nothing():
    """A minute of silence after every hundred batches, whatever the arm is then."""
    tuner = Tuner(seed=1)
    world = World(tuner, noise=0.1)
    for _ in range(100):
        world.run(EQUAL | {Arm.HALF: 13_000.0}, 100)
        world.now_s += 60.0
    assert held(tuner) is Arm.HALF


def test_a_pause_ends_a_trial_without_a_verdict():
    tuner = Tuner(seed=1)
    world = World(tuner)
    while tuner.arm is Arm.NONE:
        world.run(EQUAL, 1)
    before = tuner.state()
    world.now_s += 1.0
    world.run(EQUAL, 1)
    assert tuner.arm is Arm.NONE
    assert tuner.state().records == before.records


def test_trials_are_not_due_any_sooner_for_a_pause():
    rates = EQUAL | {Arm.NONE: 20_000.0}
    ran_on, paused = World(Tuner(seed=1)), World(Tuner(seed=1))
    for world in (ran_on, paused):
        world.run(rates, 2_000)
    for _ in range(20):
        ran_on.run(rates, 40)
        paused.run(rates, 40)
        paused.now_s += 60.0
    trials = [sum(arm is not Arm.NONE for arm in world.arms[2_000:]) for world in (ran_on, paused)]
    assert trials[1] <= trials[0] + 40


def test_a_restored_tuner_holds_the_same_arm_at_once():
    world = World(Tuner(seed=1), noise=0.1)
    world.run(EQUAL | {Arm.ALL: 13_000.0}, 2_000)
    state = world.tuner.state()

    restored = Tuner(seed=2)
    restored.restore(TunerState(**json.loads(json.dumps(asdict(state)))))

    assert restored.arm is Arm.ALL
    assert restored.state() == state
    assert len({gap for _, _, gap in state.records.values()}) > 1  # so that there is something to be mistaken about


def test_a_restored_tuner_measures_its_base_anew():
    """It was in the middle of a trial, on a machine ten times as fast: neither counts any more."""
    rates = EQUAL | {Arm.NONE: 20_000.0}
    state = settled(rates).tuner.state()
    world = World(Tuner(seed=1))
    while world.tuner.arm is Arm.NONE:
        world.run({arm: 10 * rate for arm, rate in rates.items()}, 1)
    world.tuner.restore(state)

    assert world.tuner.arm is Arm.NONE
    world.run(rates, 40)
    assert world.tuner.state().records == state.records, "a slower machine is no shift of the workload"


def test_once_an_arm_is_adopted_everything_is_told_relative_to_it():
    """Rates without noise: ALL makes three times the rows of the others."""
    tuner = Tuner(seed=1)
    world, rates = World(tuner), dict.fromkeys(Arm, 1_000.0) | {Arm.ALL: 3_000.0}
    while held(tuner) is Arm.NONE:
        world.run(rates, 1)
    adopted = tuner.state().records

    assert held(tuner) is Arm.ALL
    edges = {name: edge for name, (edge, _, _) in adopted.items()}
    assert edges == pytest.approx(dict.fromkeys(edges, -math.log(3)) | {"ALL": 0.0}, abs=1e-6)
    world.run(rates, SETTLE_BATCHES + WINDOW_BATCHES)
    assert tuner.state().records == adopted, "that ALL makes what it made in its trial is no shift of the workload"


def test_reset_keeps_the_arm_as_a_guess_and_forgets_the_verdicts():
    world = World(Tuner(seed=1), noise=0.1)
    world.run(EQUAL | {Arm.ALL: 13_000.0}, 2_000)
    world.tuner.reset()
    assert world.tuner.arm is Arm.ALL
    assert all(weight == 0 for _, weight, _ in world.tuner.state().records.values())


def crowd(n_slots, draw):
    rng = np.random.default_rng(7)
    thinks_s = draw(rng, (n_slots, 3_000))
    return virtual.Slots(thinks_s, thinks_s[:, 0] * rng.random(n_slots))


def constant(rng, shape):
    return np.full(shape, 0.1e-3)


def exponential(rng, shape):
    return rng.exponential(1e-3, shape)


def test_a_lock_step_crowd_that_thinks_shortly_is_waited_for():
    """128 slots together: 128 rows in a + 128 b + think = 1.127 ms; NONE would need 2 a + 128 b."""
    auto = virtual.Auto(seed=1)
    rate = virtual.serve(crowd(128, constant), auto, 2.0)
    assert held(auto.tuner) is Arm.ALL
    assert rate > 0.95 * 128 / (0.6e-3 + 128 / 300e3 + 0.1e-3)


def test_a_scattered_crowd_that_thinks_long_is_not_waited_for():
    auto = virtual.Auto(seed=1)
    virtual.serve(crowd(128, exponential), auto, 2.0)
    assert held(auto.tuner) in (Arm.NONE, Arm.INTEGRAL)
    assert auto.tuner.fixed_s == pytest.approx(virtual.DEVICE_S, rel=0.02)
