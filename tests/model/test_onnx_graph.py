import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from model_cases import BOARD, SHAPES, shaken

from asyncplay.model import onnx_graph
from asyncplay.model.backends.onnx_backend import OnnxBackend
from asyncplay.model.nets import build, build_from, snapshot
from asyncplay.model.onnx_graph import with_weights, write_graph
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Positions


def written(shape):
    weights = shaken(snapshot(build(shape, 0)))
    net = build_from(shape, weights)
    return net, weights, write_graph(net, shape)


@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_graph_computes_what_the_module_computes(shape, rows):
    net, weights, graph = written(shape)
    session = onnxruntime.InferenceSession(with_weights(graph, weights), providers=["CPUExecutionProvider"])
    features = np.random.default_rng(rows).random((rows, shape.row_features), np.float32)
    logits, values = session.run(["logits", "values"], {"features": features})
    expected_logits, expected_values = net(torch.from_numpy(features))
    np.testing.assert_allclose(logits, expected_logits.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values, expected_values.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_filled_graph_is_valid_onnx_and_its_weights_keep_their_names(shape):
    _, weights, graph = written(shape)
    model = onnx.load_from_string(with_weights(graph, weights))
    onnx.checker.check_model(model, full_check=True)
    assert [array.name for array in model.graph.initializer] == list(weights)


def test_filling_a_graph_leaves_the_graph_itself_empty():
    _, weights, graph = written(BOARD)
    with_weights(graph, weights)
    assert len(graph.graph.initializer) == 0


def test_an_unknown_layer_is_named():
    class Strange(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Softplus()

        def forward(self, features):
            return self.layer(features), features

    with pytest.raises(KeyError, match="Softplus"):
        write_graph(Strange(), BOARD)


def test_a_second_backend_of_a_shape_traces_nothing(monkeypatch):
    """Tracing patches torch's modules for all threads: beside a learner at work it made the learner fail."""
    shape = NetShape("mlp", features=5, actions=3, players=2, width=7, blocks=2)
    weights = snapshot(build(shape, 1))
    OnnxBackend(shape, weights, 0, threads=1)
    monkeypatch.setattr(onnx_graph.fx, "symbolic_trace", None)
    second = OnnxBackend(shape, weights, 3, threads=1)

    positions = Positions(np.ones((1, 5), np.float32), np.arange(3, dtype=np.int32), np.array([0, 3], np.int32))
    assert second.launch(positions)().version == 3
