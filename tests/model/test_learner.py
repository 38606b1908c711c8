import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from model_cases import BOARD, ENCODER, MLP, random_examples

from asyncplay.errors import AsyncplayError
from asyncplay.model.device import available
from asyncplay.model.learner import Learner, LearnerSettings, StepReport, cut
from asyncplay.model.loss import SeatScores, seat_scores
from asyncplay.model.nets import to_bytes
from asyncplay.model.schedule import LearningRate
from asyncplay.payloads import concatenate

STEADY = LearnerSettings(schedule=LearningRate(peak=0.01, warmup_steps=0))


def learner(shape=BOARD, settings=STEADY, seed=0) -> Learner:
    return Learner(shape, settings, seed, threads=(1,))


def assert_weights(left: Learner, right: Learner) -> None:
    theirs = right.weights()
    for name, value in left.weights().items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def restored(source: Learner, seed: int, settings=STEADY) -> Learner:
    """Another learner, which begins elsewhere, after loading what ``source`` saved."""
    saved = source.save()
    twin = learner(source.shape, settings, seed=seed)
    twin.load(saved)
    return twin


def figures(report: StepReport) -> list[float]:
    """All that a network reports, the sums of its seats included."""
    return [*report[:-1], *np.ravel(report.seats).tolist()]


@pytest.mark.parametrize("rows_per_micro", [1, 16, 49])
@pytest.mark.parametrize("shape", [BOARD, ENCODER], ids=lambda shape: shape.kind)
def test_micro_batches_are_the_whole_batch(shape, rows_per_micro):
    """Rows differ in weight, seats and legal actions, so a wrong scale anywhere would show."""
    whole, parts = learner(shape), learner(shape)
    for seed in range(3):
        batch = random_examples(shape, 50, seed)
        expected, report = whole.train(batch), parts.train(batch, rows_per_micro)
        assert figures(report) == pytest.approx(figures(expected), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("threads", [2, 3, 9])
@pytest.mark.parametrize("shape", [MLP, BOARD, ENCODER], ids=lambda shape: shape.kind)
def test_several_threads_learn_what_one_learns(shape, threads):
    one, many = learner(shape), Learner(shape, STEADY, 0, threads=(threads,))
    for seed in range(3):
        batch = random_examples(shape, 50, seed)
        expected, report = one.train(batch, 20), many.train(batch, 20)
        assert figures(report) == pytest.approx(figures(expected), rel=1e-4, abs=1e-4)


def test_several_threads_learn_the_same_each_time():
    """Pieces come back in any order and are added in theirs."""
    one, other = (Learner(BOARD, STEADY, 0, threads=(4,)) for _ in range(2))
    for seed in range(5):
        batch = random_examples(BOARD, 50, seed)
        assert one.train(batch, 20) == other.train(batch, 20)
    assert_weights(one, other)


@pytest.mark.parametrize("n_pieces", [1, 2, 3, 7, 50, 80])
def test_a_batch_is_cut_into_even_pieces_and_no_row_is_lost(n_pieces):
    batch = random_examples(BOARD, 50)
    pieces = cut(batch, n_pieces)
    assert len(pieces) == min(n_pieces, 50)
    assert {piece.rows for piece in pieces} <= {50 // len(pieces), -(-50 // len(pieces))}
    np.testing.assert_array_equal(concatenate(pieces).targets, batch.targets)


@pytest.mark.parametrize("shape", [MLP, BOARD, ENCODER], ids=lambda shape: shape.kind)
def test_micro_batches_add_up_to_the_gradient_of_the_whole_batch(shape):
    """After one step Adam's first moment is a tenth of the gradient."""
    whole, parts = learner(shape), learner(shape)
    batch = random_examples(shape, 50)
    whole.train(batch)
    parts.train(batch, 7)
    theirs = parts.save().tensors
    for name, value in whole.save().tensors.items():
        if name.startswith("exp_avg/"):
            np.testing.assert_allclose(theirs[name], value, rtol=1e-4, atol=1e-7, err_msg=name)


def test_only_the_last_job_reports_and_moves_the_weights():
    ours = learner()
    before = learner()
    jobs = list(ours.micro_batches(random_examples(BOARD, 50), 20))
    assert len(jobs) == 3
    assert [job() for job in jobs[:2]] == [None, None]
    assert_weights(ours, before)
    report = jobs[2]()
    assert (report.step, report.rows, ours.steps, ours.rows) == (1, 50, 1, 50)
    assert not np.array_equal(ours.weights()["policy.3.bias"], before.weights()["policy.3.bias"])


def test_an_abandoned_step_leaves_no_trace():
    straight, interrupted = learner(), learner()
    next(interrupted.micro_batches(random_examples(BOARD, 50, seed=8), 20))()
    batch = random_examples(BOARD, 50, seed=9)
    assert straight.train(batch) == interrupted.train(batch)
    assert_weights(straight, interrupted)


@pytest.mark.parametrize("shape", [MLP, BOARD, ENCODER], ids=lambda shape: shape.kind)
def test_a_resumed_learner_goes_on_bit_by_bit(shape):
    straight, first = learner(shape), learner(shape)
    batches = [random_examples(shape, 30, seed) for seed in range(6)]
    expected = [straight.train(batch, 16) for batch in batches]
    reports = [first.train(batch, 16) for batch in batches[:2]]
    resumed = restored(first, seed=5)
    reports += [resumed.train(batch, 16) for batch in batches[2:]]
    assert reports == expected
    assert_weights(straight, resumed)
    ours, theirs = straight.save(), resumed.save()
    assert ours.facts == theirs.facts
    assert to_bytes(ours.tensors) == to_bytes(theirs.tensors)


def test_what_is_published_is_the_mean_of_the_latest_steps():
    """By hand: all steps alike until there are three, then each new one counts a third."""
    plain, averaging = learner(MLP), learner(MLP, replace(STEADY, average_steps=3))
    mean = {name: np.zeros_like(value) for name, value in plain.weights().items()}
    for step in range(1, 6):
        batch = random_examples(MLP, 20, step)
        plain.train(batch)
        averaging.train(batch)
        latest = plain.weights()
        mean = {name: value + (latest[name] - value) / min(step, 3) for name, value in mean.items()}
    for name, value in averaging.weights().items():
        np.testing.assert_allclose(value, mean[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_resumed_learner_goes_on_with_its_mean():
    settings = replace(STEADY, average_steps=10)
    source = learner(MLP, settings)
    source.train(random_examples(MLP, 20, 1))
    source.train(random_examples(MLP, 20, 2))
    twin = restored(source, seed=9, settings=settings)
    assert_weights(source, twin)
    batch = random_examples(MLP, 20, 3)
    source.train(batch)
    twin.train(batch)
    assert_weights(source, twin)


def test_a_learner_can_be_resumed_before_its_first_step():
    fresh = learner()
    resumed = restored(fresh, seed=5)
    batch = random_examples(BOARD, 30)
    assert fresh.train(batch) == resumed.train(batch)
    assert_weights(fresh, resumed)


def test_a_learner_that_version_0_1_saved_can_be_resumed_unless_it_had_beliefs():
    saved = learner().save()
    facts = json.loads(saved.facts)
    facts["shape"]["beliefs"] = 0
    learner(seed=5).load(saved._replace(facts=json.dumps(facts)))

    facts["shape"]["beliefs"] = 104
    with pytest.raises(AsyncplayError, match=r"the saved network is .*'beliefs': 104.*, wanted "):
        learner().load(saved._replace(facts=json.dumps(facts)))


def test_what_another_network_learned_is_refused():
    saved = learner(BOARD).save()
    with pytest.raises(AsyncplayError, match=r"the saved network is .*'width': 8.*, wanted .*'width': 16"):
        learner(replace(BOARD, width=16)).load(saved)


def test_the_same_seed_learns_the_same_twice():
    reports = [[learner().train(random_examples(BOARD, 40, seed)) for seed in range(3)] for _ in range(2)]
    assert reports[0] == reports[1]


def test_the_first_losses_are_those_of_an_impartial_network():
    """Uniform priors: the mean log of the number of legal actions; values 0: the mean square."""
    batch = random_examples(BOARD, 40)._replace(weight=np.ones(40, np.float32), seats=np.full(40, 2, np.int32))
    report = learner().train(batch)
    assert report.policy_loss == pytest.approx(np.log(np.diff(batch.offsets)).mean(), rel=1e-5)
    assert report.value_loss == pytest.approx(np.square(batch.values).mean(), rel=1e-5)


def test_the_first_step_is_adams_and_only_matrices_decay():
    """Features of zeros leave the first layer without a gradient, so its matrix only decays, by
    1 - rate * decay; Adam's first step moves everything else by the rate, against the gradient's sign.
    The policy's bias has the gradient prior - target = (1/2 - 1, 1/2 - 0)."""
    settings = LearnerSettings(schedule=LearningRate(peak=0.01, warmup_steps=0), weight_decay=0.5)
    ours = learner(MLP, settings)
    before = ours.weights()
    batch = random_examples(MLP, 1)._replace(
        features=np.zeros((1, MLP.features), np.float32),
        legal=np.array([1, 4], np.int32),
        offsets=np.array([0, 2], np.int32),
        targets=np.array([1, 0], np.float32),
    )
    ours.train(batch)
    after = ours.weights()
    np.testing.assert_allclose(after["hidden.0.weight"], before["hidden.0.weight"] * (1 - 0.01 * 0.5), rtol=1e-6)
    np.testing.assert_allclose(after["policy.bias"], [0, 0.01, 0, 0, -0.01, 0], atol=1e-6)


def test_a_bias_without_a_gradient_stays():
    settings = LearnerSettings(schedule=LearningRate(peak=0.01, warmup_steps=0), weight_decay=0.5)
    ours = learner(MLP, settings)
    weights = ours.weights()
    weights["hidden.0.bias"][:] = -1  # no hidden unit answers to features of zeros
    saved = ours.save()
    saved.tensors.update({f"weight/{name}": value for name, value in weights.items()})
    ours.load(saved)
    ours.train(random_examples(MLP, 5)._replace(features=np.zeros((5, MLP.features), np.float32)))
    np.testing.assert_array_equal(ours.weights()["hidden.0.bias"], -1)


def test_a_step_reports_how_well_each_relative_seat_is_estimated():
    """An untrained network says 0: the loss is the mean square, and what is explained falls below 0 by the mean."""
    batch = random_examples(MLP, 40)
    losses, r2 = seat_scores(np.array(learner(MLP).train(batch, 16).seats))
    for seat in range(MLP.players):
        has_seat = batch.seats > seat
        wanted, weight = batch.values[has_seat, seat], batch.weight[has_seat]
        mean = np.average(wanted, weights=weight)
        variance = np.average((wanted - mean) ** 2, weights=weight)
        assert losses[seat] == pytest.approx(variance + mean**2, rel=1e-4)
        assert r2[seat] == pytest.approx(-(mean**2) / variance, abs=1e-4)


def test_seats_that_no_row_has_and_targets_that_never_vary_have_no_share_explained():
    sums = np.array([[2.0, 4.0, 0.0], [0.5, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 4.0, 0.0]])
    assert seat_scores(sums) == SeatScores(losses=(0.25, 0.25), r2=(0.0, 0.75))


def test_the_gradient_norm_is_reported_before_clipping():
    """The gradient of a fresh network is the same whatever it will be clipped to."""
    batch = random_examples(BOARD, 40)
    norms = [learner(settings=replace(STEADY, clip_norm=clip)).train(batch).gradient_norm for clip in (1e-3, 1e3)]
    assert norms[0] == norms[1] > 0.01


def test_a_row_of_weight_two_counts_like_two_rows():
    batch = random_examples(MLP, 4)._replace(weight=np.ones(4, np.float32))
    heavy = batch._replace(weight=np.array([1, 1, 1, 2], np.float32))
    twice = concatenate([batch, batch.part(3, 4)])
    one, other = figures(learner(MLP).train(heavy)), figures(learner(MLP).train(twice))
    assert one[2:] == pytest.approx(other[2:], rel=1e-5, abs=1e-5)


def test_the_learning_rate_follows_its_schedule():
    ours = learner(settings=LearnerSettings(schedule=LearningRate(peak=0.4, warmup_steps=4)))
    batch = random_examples(BOARD, 4)
    assert [ours.train(batch).learning_rate for _ in range(5)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4])


@pytest.mark.parametrize("shape", [MLP, BOARD, ENCODER], ids=lambda shape: shape.kind)
def test_a_few_rows_can_be_learned_by_heart(shape):
    """The policy loss falls to the entropy of the targets, the value loss to 0."""
    batch = random_examples(shape, 8)._replace(weight=np.ones(8, np.float32))
    entropy = -float((batch.targets * np.log(batch.targets)).sum()) / 8
    ours = learner(shape, replace(STEADY, weight_decay=0.0))
    for _ in range(300):
        report = ours.train(batch)
    assert report.policy_loss == pytest.approx(entropy, abs=0.01)
    assert report.value_loss < 0.01


def test_divergence_ends_with_a_line_and_leaves_the_weights_alone():
    ours, before = learner(), learner()
    batch = random_examples(BOARD, 4)
    batch.values[:] = math.inf
    with pytest.raises(AsyncplayError, match="training diverged: the gradient's norm is nan at step 1"):
        ours.train(batch)
    assert_weights(ours, before)


@pytest.mark.accelerator
@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_an_accelerator_learns_what_a_cpu_learns_and_goes_on_after_a_resume(name):
    if not available(name):
        pytest.skip(f"this machine has no {name} device")
    here, there = learner(), Learner(BOARD, STEADY, 0, device=name)
    for seed in range(3):
        batch = random_examples(BOARD, 50, seed)
        assert figures(there.train(batch, 20)) == pytest.approx(figures(here.train(batch, 20)), rel=0.01, abs=0.01)
    saved = there.save()
    there.load(saved)
    batch = random_examples(BOARD, 50, 3)
    assert figures(there.train(batch)) == pytest.approx(figures(here.train(batch)), rel=0.01, abs=0.01)


def test_training_uses_the_threads_it_was_given():
    torch.set_num_threads(2)
    Learner(MLP, STEADY, 0, threads=(1,)).train(random_examples(MLP, 2))
    assert torch.get_num_threads() == 1
