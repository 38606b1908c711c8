import math

import numpy as np
import pytest
import torch
from model_cases import MLP, random_examples

from asyncplay.model.loss import policy_loss, to_lesson, value_loss, weighted_sum
from asyncplay.payloads import Examples


def two_rows(**changes) -> Examples:
    """Row 0: actions 0 and 2 legal, two seats. Row 1: only action 1 legal, three seats."""
    return Examples(
        features=np.zeros((2, 1), np.float32),
        legal=np.array([0, 2, 1], np.int32),
        offsets=np.array([0, 2, 3], np.int32),
        targets=np.array([0.25, 0.75, 1], np.float32),
        values=np.array([[1, -1, np.nan], [0.5, 0, -0.5]], np.float32),
        seats=np.array([2, 3], np.int32),
        weight=np.array([1, 3], np.float32),
        versions=np.zeros(2, np.int32),
        states=np.empty((2, 0), np.int64),
    )._replace(**changes)


LOGITS = torch.log(torch.tensor([[1.0, 50.0, 3.0], [7.0, 2.0, 9.0]]))


def test_the_policy_loss_by_hand():
    """Row 0 has priors 1/4 and 3/4, exactly its targets, so its loss is their entropy; row 1 has no
    choice, so 0."""
    losses = policy_loss(LOGITS, to_lesson(two_rows()))
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    np.testing.assert_allclose(losses.numpy(), [entropy, 0], rtol=1e-6, atol=1e-7)


def test_the_policy_gradient_is_prior_minus_target_and_0_for_illegal_actions():
    logits = torch.zeros(2, 3, requires_grad=True)
    policy_loss(logits, to_lesson(two_rows())).sum().backward()
    np.testing.assert_allclose(logits.grad.numpy(), [[0.25, 0, -0.25], [0, 0, 0]], atol=1e-7)


def test_the_value_loss_is_the_mean_over_the_seats_that_exist():
    """Row 0: ((0 - 1)^2 + (1 + 1)^2) / 2; row 1: (.25 + 0 + .25) / 3. The third seat of row 0 is no seat."""
    values = torch.tensor([[0.0, 1.0, 5.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(value_loss(values, to_lesson(two_rows())).numpy(), [2.5, 0.5 / 3], rtol=1e-6)


def test_the_value_gradient_is_twice_the_error_over_the_seats():
    values = torch.tensor([[0.0, 1.0, 5.0], [0.0, 0.0, 0.0]], requires_grad=True)
    value_loss(values, to_lesson(two_rows())).sum().backward()
    np.testing.assert_allclose(values.grad.numpy(), [[-1, 2, 0], [-1 / 3, 0, 1 / 3]], rtol=1e-6)


def test_rows_count_by_their_weight():
    lesson = to_lesson(two_rows())
    assert weighted_sum(torch.tensor([10.0, 1.0]), lesson).item() == 13.0


def test_a_row_of_zero_targets_teaches_no_policy():
    silent = to_lesson(two_rows(targets=np.array([0, 0, 1], np.float32)))
    logits = LOGITS.clone().requires_grad_()
    loss = policy_loss(logits, silent)
    loss.sum().backward()
    assert loss[0].item() == 0
    assert torch.equal(logits.grad[0], torch.zeros(3))


def test_huge_logits_keep_loss_and_gradient_finite():
    logits = torch.tensor([[1e30, 0.0, -1e30], [-1e30, 1e30, 0.0]], requires_grad=True)
    lesson = to_lesson(two_rows(targets=np.array([1, 0, 1], np.float32)))
    loss = policy_loss(logits, lesson)
    loss.sum().backward()
    assert loss.tolist() == [0, 0]
    assert torch.isfinite(logits.grad).all()


def slow_policy_loss(logits, examples, row):
    own = slice(examples.offsets[row], examples.offsets[row + 1])
    total = sum(math.exp(logits[row][action]) for action in examples.legal[own])
    pairs = zip(examples.legal[own], examples.targets[own], strict=True)
    return -sum(target * math.log(math.exp(logits[row][action]) / total) for action, target in pairs)


@pytest.mark.parametrize("seed", range(5))
def test_the_policy_loss_is_that_of_the_slow_twin(seed):
    examples = random_examples(MLP, 30, seed)
    logits = torch.randn(30, MLP.actions, generator=torch.Generator().manual_seed(seed))
    expected = [slow_policy_loss(logits.tolist(), examples, row) for row in range(30)]
    np.testing.assert_allclose(policy_loss(logits, to_lesson(examples)).numpy(), expected, rtol=1e-4, atol=1e-6)


def test_uint8_features_become_floats():
    lesson = to_lesson(two_rows(features=np.array([[7], [200]], np.uint8)))
    assert lesson.features.dtype == torch.float32
    assert lesson.features.flatten().tolist() == [7, 200]
