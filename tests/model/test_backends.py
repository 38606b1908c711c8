"""Every backend keeps the same promises."""

import threading

import numpy as np
import pytest
import torch
from model_cases import BOARD, ENCODER, MLP, PLANES, random_positions, shaken

from asyncplay.model.backends.torch_backend import (
    AGREEMENT,
    TorchBackend,
    TorchEngine,
    agrees,
    bucket,
    buckets,
    fastest,
)
from asyncplay.model.device import ON_CPU, available, open_backend
from asyncplay.model.nets import build, build_from, snapshot
from asyncplay.priors import legal_priors

ACCELERATORS = [pytest.param(name, marks=pytest.mark.accelerator) for name in ("cuda", "mps")]


@pytest.fixture(params=["torch-cpu", "onnx-fp32", *ACCELERATORS])
def name(request):
    if not available(request.param):
        pytest.skip(f"this machine has no {request.param} device")
    return request.param


def some_weights(shape, seed=0):
    return shaken(snapshot(build(shape, seed)), seed)


def expected(shape, weights, positions):
    """Straight from the module."""
    logits, values = build_from(shape, weights)(torch.tensor(positions.features).to(torch.float32))
    return legal_priors(logits.numpy(), positions.legal, positions.offsets), values.numpy()


def tolerance(name):
    """What an accelerator may lose by a reduced dtype."""
    return 1e-4 if name in ON_CPU else AGREEMENT


def assert_answers(estimates, shape, weights, positions, tolerance=1e-4):
    priors, values = expected(shape, weights, positions)
    np.testing.assert_allclose(estimates.priors, priors, atol=tolerance)
    np.testing.assert_allclose(estimates.values, values, atol=tolerance)
    assert estimates.priors.dtype == estimates.values.dtype == np.float32


@pytest.mark.parametrize("shape", [MLP, BOARD, PLANES, ENCODER], ids=lambda shape: shape.kind)
@pytest.mark.parametrize("rows", [1, 65])
def test_answers_are_the_networks(name, shape, rows):
    weights, positions = some_weights(shape), random_positions(shape, rows)
    backend = open_backend(name, shape, weights, 3, threads=1)
    estimates = backend.launch(positions)()
    assert_answers(estimates, shape, weights, positions, tolerance(name))
    assert estimates.version == 3


def test_batches_of_any_size_follow_each_other(name):
    weights = some_weights(BOARD)
    backend = open_backend(name, BOARD, weights, 0, threads=1)
    for rows in (5, 40, 3, 100, 1):
        positions = random_positions(BOARD, rows, seed=rows)
        assert_answers(backend.launch(positions)(), BOARD, weights, positions, tolerance(name))


def test_uint8_features_are_the_same_numbers(name):
    weights = some_weights(BOARD)
    backend = open_backend(name, BOARD, weights, 0, threads=1)
    whole, small = (random_positions(BOARD, 20, dtype=dtype) for dtype in (np.float32, np.uint8))
    np.testing.assert_array_equal(backend.launch(whole)().values, backend.launch(small)().values)
    np.testing.assert_array_equal(backend.launch(whole)().priors, backend.launch(small)().priors)


def test_a_batch_keeps_the_weights_it_was_launched_with(name):
    old, new, positions = some_weights(BOARD, 1), some_weights(BOARD, 2), random_positions(BOARD, 12)
    backend = open_backend(name, BOARD, old, 1, threads=1)
    prepared = backend.prepare(new, 2)
    before = backend.launch(positions)
    backend.swap(prepared)
    after = backend.launch(positions)
    assert_answers(before(), BOARD, old, positions, tolerance(name))
    estimates = after()
    assert_answers(estimates, BOARD, new, positions, tolerance(name))
    assert estimates.version == 2


def test_preparing_on_another_thread_changes_nothing_until_the_swap(name):
    old, positions = some_weights(BOARD, 1), random_positions(BOARD, 12)
    backend = open_backend(name, BOARD, old, 1, threads=1)
    prepared = []
    thread = threading.Thread(target=lambda: prepared.append(backend.prepare(some_weights(BOARD, 2), 2)))
    thread.start()
    thread.join()
    estimates = backend.launch(positions)()
    assert_answers(estimates, BOARD, old, positions, tolerance(name))
    assert (estimates.version, prepared[0].version) == (1, 2)


def test_prepared_weights_are_a_copy(name):
    weights, positions = some_weights(BOARD), random_positions(BOARD, 12)
    backend = open_backend(name, BOARD, weights, 1, threads=1)
    kept = {key: value.copy() for key, value in weights.items()}
    for value in weights.values():
        value.fill(np.nan)
    assert_answers(backend.launch(positions)(), BOARD, kept, positions, tolerance(name))


def test_read_only_weights_will_do(name):
    """Weights read from a checkpoint cannot be written."""
    weights, positions = some_weights(MLP), random_positions(MLP, 4)
    for value in weights.values():
        value.flags.writeable = False
    assert_answers(open_backend(name, MLP, weights, 1, threads=1).launch(positions)(), MLP, weights, positions)


@pytest.mark.parametrize("threads", [1, 2, 6])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 300])
def test_pieces_of_a_batch_come_back_in_their_places(rows, threads):
    weights, positions = some_weights(MLP), random_positions(MLP, rows)
    backend = open_backend("onnx-fp32", MLP, weights, 0, threads=threads)
    assert_answers(backend.launch(positions)(), MLP, weights, positions)


def test_a_batch_that_fails_in_a_piece_fails():
    backend = open_backend("onnx-fp32", MLP, some_weights(MLP), 0, threads=2)
    rows = random_positions(MLP, 200)
    with pytest.raises(Exception, match="Got invalid dimensions"):
        backend.launch(rows._replace(features=rows.features[:, 1:]))


def test_torch_computes_on_the_threads_it_was_given_wherever_it_is_launched():
    backend = TorchBackend(MLP, some_weights(MLP), 1, threads=1)
    seen = []

    def lane() -> None:
        torch.set_num_threads(2)
        backend.launch(random_positions(MLP, 4))
        seen.append(torch.get_num_threads())

    thread = threading.Thread(target=lane)
    thread.start()
    thread.join()
    assert seen == [1]


def test_two_batches_in_flight_do_not_share_buffers():
    weights = some_weights(BOARD)
    backend = TorchBackend(BOARD, weights, 0)
    batches = [random_positions(BOARD, 10, seed) for seed in range(3)]
    finishes = [backend.launch(batch) for batch in batches]
    for finish, batch in reversed(list(zip(finishes, batches, strict=True))):
        assert_answers(finish(), BOARD, weights, batch)


def test_answers_stay_when_their_buffers_are_used_again():
    weights = some_weights(BOARD)
    backend = TorchBackend(BOARD, weights, 0)
    first, second = random_positions(BOARD, 10, 1), random_positions(BOARD, 10, 2)
    kept = backend.launch(first)()
    backend.launch(second)()
    assert_answers(kept, BOARD, weights, first)


@pytest.mark.parametrize("rows", [1, 17, 33])
def test_rows_that_fill_a_batch_up_do_not_come_back(rows):
    weights, positions = some_weights(BOARD), random_positions(BOARD, rows)
    estimates = TorchBackend(BOARD, weights, 0, fills_up=True).launch(positions)()
    assert estimates.values.shape == (rows, 2)
    assert_answers(estimates, BOARD, weights, positions)


def test_batches_are_filled_up_to_powers_of_two_and_three_quarters_of_them():
    assert [bucket(rows) for rows in (1, 16, 17, 24, 25, 33, 64, 65, 97, 1024)] == [
        *(16, 16, 24, 24, 32, 48, 64, 96, 128, 1024)
    ]
    assert buckets(200) == [16, 24, 32, 48, 64, 96, 128, 192, 256]


def test_a_reduced_dtype_must_be_clearly_faster():
    fp32, fp16, bf16 = torch.float32, torch.float16, torch.bfloat16
    assert fastest({fp32: 1.0, fp16: 0.5, bf16: 0.6}) == fp16
    assert fastest({fp32: 1.0, fp16: 0.95, bf16: 4.0}) == fp32


def test_a_reduced_dtype_must_agree_with_float32():
    """Logits 0 and .003 pass; 100 and 100.3 are one number in bfloat16, which has 8 bits, and a prior of
    .43 becomes .5."""
    weights = {name: np.zeros_like(value) for name, value in snapshot(build(MLP, 0)).items()}
    weights["hidden.0.bias"][:] = weights["hidden.2.bias"][:] = 1
    for scale, is_fine in ((1, True), (100, False)):
        weights["policy.weight"][:] = 0
        weights["policy.weight"][0:2, 0] = scale, scale * 1.003
        weights["policy.weight"][2:, 0] = -scale
        exact = TorchEngine(build_from(MLP, weights))
        assert agrees(exact.in_dtype(torch.bfloat16), exact, torch.zeros(16, MLP.features)) == is_fine


def test_a_reduced_dtype_that_overflows_does_not_agree():
    """float16 ends at 65,504: infinite logits of both signs have no softmax."""
    weights = {name: np.zeros_like(value) for name, value in snapshot(build(MLP, 0)).items()}
    weights["policy.bias"][:] = 1e5
    exact = TorchEngine(build_from(MLP, weights))
    assert not agrees(exact.in_dtype(torch.float16), exact, torch.zeros(16, MLP.features))


def test_warming_up_leaves_answers_and_version_as_they_were():
    """The dtype may change with the machine, hence the wider tolerance."""
    weights, positions = some_weights(MLP), random_positions(MLP, 9)
    backend = TorchBackend(MLP, weights, 4, fills_up=True)
    backend.warm_up(max_rows=32)
    estimates = backend.launch(positions)()
    assert_answers(estimates, MLP, weights, positions, AGREEMENT)
    assert estimates.version == 4
