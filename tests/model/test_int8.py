"""Integers instead of floats: nearly the same answers, or none of it."""

import logging
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from model_cases import BOARD, ENCODER, MLP, SEEING, SEEING_ENCODER, random_positions, shaken

from asyncplay.model import onnx_graph, quantize
from asyncplay.model.backends import int8_backend
from asyncplay.model.backends.int8_backend import MOST_KL, MOST_VALUE_ERROR, Int8Backend, compare, divergence
from asyncplay.model.backends.onnx_backend import OnnxBackend, make_session
from asyncplay.model.nets import build, snapshot
from asyncplay.payloads import Estimates, Positions

SHAPES = [MLP, BOARD, ENCODER, SEEING, SEEING_ENCODER]


def weights_of(shape, seed=0):
    return shaken(snapshot(build(shape, seed)), seed)


def answers(shape, weights, rows, sample=None):
    """What both backends say of the rows."""
    small = Int8Backend(shape, weights, 1, threads=1, sample=sample or rows)
    exact = OnnxBackend(shape, weights, 1, threads=1)
    return small.launch(rows)(), exact.launch(rows)()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_integers_answer_nearly_as_floats_do(shape):
    rows = random_positions(shape, 200)
    small, exact = answers(shape, weights_of(shape), rows)

    assert divergence(exact.priors, small.priors, rows) <= MOST_KL
    assert np.abs(small.values - exact.values).mean() <= MOST_VALUE_ERROR
    assert (small.values != exact.values).any(), "nothing was quantised"


@pytest.mark.parametrize("shape", [MLP, ENCODER, SEEING, SEEING_ENCODER], ids=lambda shape: shape.kind)
def test_every_linear_layer_is_one_integer_kernel(shape, tmp_path):
    """onnxruntime may leave a layer in floats, and slower than before, without a word."""
    graph, weights = onnx_graph.write_graph(build(shape, 0), shape), weights_of(shape)
    ranges = {name: quantize.Range(0.0, 1.0) for name in quantize.linear_inputs(graph)}
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    onnxruntime.InferenceSession(quantize.quantized(graph, weights, ranges, 127), options)
    fused = [node.op_type for node in onnx.load(tmp_path / "fused.onnx").graph.node]

    n_layers = sum(node.op_type == "Gemm" for node in graph.graph.node)
    assert fused.count("QGemm") == n_layers
    assert not {"Gemm", "FusedGemm", "MatMul"} & set(fused)


def test_a_bias_on_weights_of_nothing_is_kept():
    """A head begins with no weights; its scale must leave room for the bias."""
    weights = weights_of(MLP)
    last = sorted(name for name in weights if name.startswith("value") and name.endswith("weight"))[-1]
    weights[last] = np.zeros_like(weights[last])
    weights[last.replace("weight", "bias")] = np.full(len(weights[last]), 0.5, np.float32)
    rows = random_positions(MLP, 50)
    small, exact = answers(MLP, weights, rows)

    np.testing.assert_allclose(small.values, exact.values, atol=1e-3)
    assert (small.priors != exact.priors).any(), "nothing was quantised"


def unsaturated(model, threads):
    """A session that multiplies the rounded numbers in floats.

    A processor with VNNI sums products of bytes exactly, and so does this; one without saturates, and is further
    from float32 than quantising alone would be.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@pytest.fixture(params=[make_session, unsaturated], ids=["this processor's products", "exact products"])
def products(request, monkeypatch):
    """What quantised networks are multiplied by."""
    monkeypatch.setattr(int8_backend, "make_session", request.param)


def deafened(head):
    """A network whose ``head`` hears nothing in bytes, while the other one is deaf anyway.

    One hidden unit is always 1e5, and no head listens to it. A step of the layer's bytes is then 1e5 / 255, so all
    other units become 0 before any product is computed: no kernel can bring them back.
    """
    weights = weights_of(MLP)
    weights["hidden.2.weight"][0], weights["hidden.2.bias"][0] = 0, 1e5
    for name in ("policy", "value.0"):
        weights[f"{name}.weight"] *= 10 if name.startswith(head) else 0
        weights[f"{name}.weight"][:, 0] = 0
    return weights


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("head", ["policy", "value"])
def test_a_network_of_which_one_head_does_not_bear_it_stays_in_floats(head, caplog):
    """By a wide margin, so that no rounding decides; the other head alone would have passed."""
    rows = random_positions(MLP, 200)
    with caplog.at_level(logging.WARNING):
        small, exact = answers(MLP, deafened(head), rows)

    np.testing.assert_array_equal(small.priors, exact.priors)
    np.testing.assert_array_equal(small.values, exact.values)
    found = re.search(r"version 1 stays in float32, in int8 it has KL (\S+) .* values differ by (\S+) ", caplog.text)
    kl, value_error = map(float, found.groups())
    if head == "policy":
        assert kl > 10 * MOST_KL
        assert value_error < MOST_VALUE_ERROR / 10
    else:
        assert kl < MOST_KL / 10
        assert value_error > 10 * MOST_VALUE_ERROR


ROWS = Positions(np.zeros((2, 1), np.float32), np.array([0, 1, 0, 1], np.int32), np.array([0, 2, 4], np.int32))
WANTED = Estimates(np.full(4, 0.5, np.float32), np.zeros((2, 2), np.float32), 0)


@pytest.mark.parametrize(
    ("priors", "values", "is_small"),
    [
        ([0.5, 0.5, 0.5, 0.5], [[0, 0], [0, 0]], True),
        ([0.51, 0.49, 0.5, 0.5], [[0.019, 0.019], [0, 0]], True),
        ([0.55, 0.45, 0.5, 0.5], [[0, 0], [0, 0]], False),
        ([0.5, 0.5, 0.5, 0.5], [[0.021, 0.021], [0, 0]], False),
        ([np.nan, 0.5, 0.5, 0.5], [[0, 0], [0, 0]], False),
        ([0.5, 0.5, 0.5, 0.5], [[np.nan, 0], [0, 0]], False),
    ],
)
def test_answers_are_compared_by_policy_and_by_value(priors, values, is_small):
    """Half of the mean KL of .55 against even odds is 2.5e-3; .021 in half of the values is .0105 on average."""
    found = Estimates(np.array(priors, np.float32), np.array(values, np.float32), 0)
    assert compare(WANTED, found, ROWS).is_small is is_small


def test_a_publish_is_measured_on_the_latest_rows():
    """The sample says that all features are 0; rows that were asked about since know better."""
    blank = random_positions(ENCODER, 50)._replace(features=np.zeros((50, ENCODER.features), np.float32))
    backend = Int8Backend(ENCODER, weights_of(ENCODER), 1, threads=1, sample=blank)
    rows = random_positions(ENCODER, 200)
    backend.launch(rows)
    weights = weights_of(ENCODER, 3)
    backend.swap(backend.prepare(weights, 2))
    found = backend.launch(rows)()

    assert found.version == 2
    exact = OnnxBackend(ENCODER, weights, 2, threads=1).launch(rows)()
    assert 0 < divergence(exact.priors, found.priors, rows) <= MOST_KL


def test_the_divergence_of_a_policy_from_itself_is_nothing():
    """And of a sure one from an even one over two actions it is ln 2."""
    rows = random_positions(MLP, 1)._replace(legal=np.arange(2, dtype=np.int32), offsets=np.array([0, 2], np.int32))
    sure, even = np.array([1, 0], np.float32), np.array([0.5, 0.5], np.float32)

    assert divergence(sure, sure, rows) == 0
    assert divergence(sure, even, rows) == pytest.approx(np.log(2), rel=1e-5)
