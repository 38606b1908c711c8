"""Implicit quantile networks: by formula, alone and several at a time."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from asyncplay.errors import AsyncplayError
from asyncplay.model import quantile
from asyncplay.model.backends.quantile_backend import QuantileBackend
from asyncplay.model.quantile import QuantileShape
from asyncplay.model.quantile_learner import Lessons, QuantileLearner, QuantileSettings
from asyncplay.model.schedule import LearningRate
from asyncplay.payloads import Positions

SHAPE = QuantileShape(networks=5, features=30, actions=4, width=16, quantiles=6, cosines=8)
SETTINGS = QuantileSettings(LearningRate(peak=1e-3, warmup_steps=0), target_rate=0.1)


def lessons(seed: int, rows: int = 12, shape: QuantileShape = SHAPE) -> Lessons:
    random = np.random.default_rng(seed)
    legal = random.integers(0, 2, (rows, shape.actions)).astype(np.uint8)
    legal[:, 0] = 1
    return Lessons(
        features=random.integers(0, 2, (rows, shape.features)).astype(np.uint8),
        actions=random.integers(0, shape.actions, rows),
        rewards=random.normal(0, 3, rows).astype(np.float32),
        discounts=np.where(random.random(rows) < 0.3, 0.0, 0.97).astype(np.float32),
        next_features=random.integers(0, 2, (rows, shape.features)).astype(np.uint8),
        next_legal=legal,
        weight=random.random(rows).astype(np.float32),
    )


def relu(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0.0)


def slow_worths(weights: dict[str, np.ndarray], network: int, row: np.ndarray, place: float) -> np.ndarray:
    """What each action of one row is worth at one place, by the formula: float64[A]."""
    own = {name: array[network].astype(np.float64) for name, array in weights.items()}
    cosines = np.array([math.cos(math.pi * (wave + 1) * place) for wave in range(len(own["cosines.weight"]))])
    embedding = relu(cosines @ own["cosines.weight"] + own["cosines.bias"][0])
    state = relu(row.astype(np.float64) @ own["features.weight"] + own["features.bias"][0])
    hidden = relu((state * embedding) @ own["hidden.weight"] + own["hidden.bias"][0])
    value, *advantages = hidden @ own["heads.weight"] + own["heads.bias"][0]
    return value + np.array(advantages) - np.mean(advantages)


def slow_loss(now: np.ndarray, aims: np.ndarray, places: np.ndarray) -> float:
    """The quantile Huber loss of one row."""
    total = 0.0
    for estimate, place in zip(now, places, strict=True):
        for aim in aims:
            error = aim - estimate
            huber = 0.5 * error**2 if abs(error) <= 1 else abs(error) - 0.5
            total += abs(place - (error < 0)) * huber / len(aims)
    return total


def test_worths_are_those_of_the_formula():
    weights, random = quantile.fresh(SHAPE, 3), np.random.default_rng(0)
    rows, places = random.random((5, 2, 30)).astype(np.float32), random.random((5, 3)).astype(np.float32)
    stack = {name: torch.from_numpy(array) for name, array in weights.items()}

    found = quantile.worths(stack, torch.from_numpy(rows), quantile.embed(stack, torch.from_numpy(places)))

    for network in range(5):
        for row in range(2):
            for place in range(3):
                wanted = slow_worths(weights, network, rows[network, row], float(places[network, place]))
                np.testing.assert_allclose(found[network, row, place].numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_the_loss_of_a_step_is_that_of_double_q_by_hand():
    """The network chooses the next action by the midpoints, its target says at drawn places what that is worth."""
    shape = QuantileShape(networks=1, features=30, actions=4, width=16, quantiles=4, cosines=8)
    learner, batch = QuantileLearner(shape, SETTINGS, 5), lessons(1, 4, shape)
    learner.train([0], [lessons(2, 4, shape)])  # so that target and network differ
    saved = learner.save().tensors
    weights, target = ({name: saved[f"{part}/{name}"] for name in shape.sides()} for part in ("weight", "target"))
    places = np.random.default_rng((5, 0, 1)).random(8).astype(np.float32)
    losses = []
    for row in range(4):
        middles = [slow_worths(weights, 0, batch.next_features[row], (k + 0.5) / 4) for k in range(4)]
        best = int(np.where(batch.next_legal[row], np.mean(middles, axis=0), -np.inf).argmax())
        later = [slow_worths(target, 0, batch.next_features[row], float(place))[best] for place in places[4:]]
        aims = batch.rewards[row] + batch.discounts[row] * np.array(later)
        now = [slow_worths(weights, 0, batch.features[row], float(place))[batch.actions[row]] for place in places[:4]]
        losses.append(slow_loss(np.array(now), aims, places[:4]))

    report = learner.train([0], [batch])[0]

    assert report.loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert (report.step, report.rows) == (2, 4)


def test_the_target_follows_by_its_rate():
    learner = QuantileLearner(SHAPE, SETTINGS, 0)
    before = learner.save().tensors
    learner.train([2], [lessons(0)])
    after = learner.save().tensors

    name = "hidden.weight"
    wanted = before[f"target/{name}"] + 0.1 * (after[f"weight/{name}"] - before[f"target/{name}"])
    np.testing.assert_allclose(after[f"target/{name}"][2], wanted[2], atol=1e-7)
    np.testing.assert_array_equal(after[f"weight/{name}"][[0, 1, 3, 4]], before[f"weight/{name}"][[0, 1, 3, 4]])


def test_a_step_of_five_networks_equals_five_separate_steps():
    together, apart = QuantileLearner(SHAPE, SETTINGS, 7), QuantileLearner(SHAPE, SETTINGS, 7)
    for step in range(4):
        batches = [lessons(10 * step + network) for network in range(5)]
        joint = together.train(range(5), batches)
        for network in (3, 0, 4, 2, 1):
            (single,) = apart.train([network], [batches[network]])
            assert single.loss == pytest.approx(joint[network].loss, abs=1e-5)
    for part in ("weight", "target"):
        for name in SHAPE.sides():
            ours, theirs = (learner.save().tensors[f"{part}/{name}"] for learner in (together, apart))
            np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_networks_trained_on_threads_at_the_same_time_are_those_trained_in_turn():
    """To the bit: no step touches what another reads."""
    aside, inturn = (QuantileLearner(SHAPE, SETTINGS, 7, threads=1) for _ in range(2))
    with ThreadPoolExecutor(4) as crew:
        for step in range(6):
            todo = [(network, lessons(10 * step + network)) for network in range(5)]
            list(crew.map(lambda each: aside.train([each[0]], [each[1]]), todo))
            for network, batch in todo:
                inturn.train([network], [batch])
    for name, array in inturn.save().tensors.items():
        np.testing.assert_array_equal(aside.save().tensors[name], array)


@pytest.mark.accelerator
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator")
def test_on_an_accelerator_a_step_of_five_is_one_call_and_equals_the_cpus():
    fused, plain = QuantileLearner(SHAPE, SETTINGS, 7, device="cuda"), QuantileLearner(SHAPE, SETTINGS, 7)
    batches = [lessons(network) for network in range(5)]
    fused.train(range(5), batches)
    plain.train(range(5), batches)
    for name, array in plain.weights().items():
        np.testing.assert_allclose(fused.weights()[name], array, atol=1e-4)


def test_a_saved_learner_goes_on_as_if_it_had_not_been_saved():
    learner, again = QuantileLearner(SHAPE, SETTINGS, 1), QuantileLearner(SHAPE, SETTINGS, 1)
    learner.train([0, 1], [lessons(0), lessons(1)])
    learner.train([1], [lessons(2)])
    again.load(learner.save())

    assert again.steps == learner.steps == [1, 2, 0, 0, 0]
    assert learner.train([1], [lessons(3)])[0].loss == again.train([1], [lessons(3)])[0].loss
    for name, array in learner.save().tensors.items():
        np.testing.assert_array_equal(again.save().tensors[name], array)


def test_a_state_of_other_networks_is_refused():
    other = QuantileLearner(QuantileShape(2, 30, 4, 16, 6, 8), SETTINGS, 1)
    with pytest.raises(AsyncplayError, match="the saved networks are"):
        QuantileLearner(SHAPE, SETTINGS, 1).load(other.save())


def test_weights_that_are_no_numbers_are_refused():
    weights = quantile.fresh(SHAPE, 0)
    weights["hidden.bias"][3] = np.nan
    with pytest.raises(AsyncplayError, match=r"hidden\.bias has an entry that is no number"):
        quantile.check_stack(SHAPE, weights)


def test_it_learns_what_an_action_is_worth():
    """Two states whose actions are worth 1 and -2 at once: after some steps the estimates say so."""
    shape = QuantileShape(networks=1, features=2, actions=2, width=32, quantiles=8, cosines=8)
    learner = QuantileLearner(shape, QuantileSettings(LearningRate(peak=3e-3, warmup_steps=0)), 0)
    random = np.random.default_rng(0)
    for _ in range(300):
        states, actions = random.integers(0, 2, 32), random.integers(0, 2, 32)
        rewards = np.where(states == actions, 1.0, -2.0).astype(np.float32)
        rows, zeros = np.eye(2, dtype=np.uint8)[states], np.zeros(32, np.float32)
        learner.train([0], [Lessons(rows, actions, rewards, zeros, rows, np.ones((32, 2), np.uint8), zeros + 1)])
    backend = QuantileBackend(learner.weights(), 4, quantiles=8)
    asked = np.array([[0, 1, 0], [0, 0, 1]], np.uint8)
    legal, offsets = np.array([0, 1, 0, 1], np.int32), np.array([0, 2, 4], np.int32)

    answer = backend.launch(Positions(asked, legal, offsets))()

    np.testing.assert_allclose(answer.priors, [1, -2, -2, 1], atol=0.2)
    np.testing.assert_allclose(answer.values[:, 0], [1, 1], atol=0.2)
    assert answer.version == 4


@pytest.mark.parametrize("joins", [False, True])
def test_each_row_is_answered_by_the_network_of_its_agent(joins):
    weights, random = quantile.fresh(SHAPE, 9), np.random.default_rng(1)
    rows = random.integers(0, 2, (11, 31)).astype(np.uint8)
    rows[:, 0] = [4, 0, 2, 2, 4, 2, 0, 0, 2, 4, 200]  # an agent that does not exist is answered as the last one
    offsets = np.arange(0, 12 * 2, 2, dtype=np.int32)
    legal = np.tile(np.array([1, 3], np.int32), 11)

    answer = QuantileBackend(weights, 1, quantiles=6, joins=joins).launch(Positions(rows, legal, offsets))()

    for row in range(11):
        agent = min(int(rows[row, 0]), 4)
        wanted = np.mean([slow_worths(weights, agent, rows[row, 1:], (k + 0.5) / 6) for k in range(6)], axis=0)
        np.testing.assert_allclose(answer.priors[2 * row : 2 * row + 2], wanted[[1, 3]], rtol=1e-4, atol=1e-5)
        assert answer.values[row, 0] == answer.priors[2 * row : 2 * row + 2].max()
