"""Networks for programs without us: one ONNX file, or weights with a description, both checked before they are kept."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper

from asyncplay.model import nets, onnx_graph
from asyncplay.model.backends.onnx_backend import make_session, run
from asyncplay.model.backends.torch_backend import TorchBackend
from asyncplay.model.nets import Weights
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Positions
from asyncplay.priors import legal_priors

AGREEMENT = 1e-4  # of priors and values, between a file and the network it was made of


def onnx_file(shape: NetShape, weights: Weights, facts: Mapping[str, Any], sample: Positions) -> bytes:
    """An ONNX model: ``features`` float32[n, F] in, ``logits`` float32[n, A] and ``values`` float32[n, P] out.

    ``facts`` become its metadata, texts as they are and everything else as JSON. On ``sample`` it answers as the
    network does.
    """
    model = onnx.ModelProto.FromString(
        onnx_graph.with_weights(onnx_graph.write_graph(nets.build(shape, seed=0), shape), weights)
    )
    helper.set_model_props(
        model, {name: fact if isinstance(fact, str) else json.dumps(fact) for name, fact in facts.items()}
    )
    onnx.checker.check_model(model)
    data = bytes(model.SerializeToString())
    logits, values = run(make_session(data, 1), sample.features.astype(np.float32))
    priors = legal_priors(logits, sample.legal, sample.offsets)
    expected = TorchBackend(shape, weights, 0).launch(sample)()
    assert np.abs(priors - expected.priors).max() <= AGREEMENT, "the ONNX model has other priors than the network"
    assert np.abs(values - expected.values).max() <= AGREEMENT, "the ONNX model has other values than the network"
    return data


def torch_file(shape: NetShape, weights: Weights, sample: Positions) -> bytes:
    """A safetensors file with the weights by the names of the module; read back, it is the same network to the bit."""
    data = nets.to_bytes(weights)
    again = nets.from_bytes(data)
    nets.check_weights(shape, again)
    before, after = (TorchBackend(shape, own, 0).launch(sample)() for own in (weights, again))
    assert np.array_equal(before.priors, after.priors), "the file has other weights than the network"
    assert np.array_equal(before.values, after.values), "the file has other weights than the network"
    return data
