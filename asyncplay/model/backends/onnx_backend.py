"""Inference on CPUs with onnxruntime, in float32."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import onnx
import onnxruntime

from asyncplay.model import nets, onnx_graph
from asyncplay.model.backend import Finish, Prepared
from asyncplay.model.priors import legal_priors
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array, Estimates, Positions

OUTPUTS = [onnx_graph.LOGITS, onnx_graph.VALUES]


class OnnxBackend:
    """A publish is a new session: weights as inputs of one session would cost 14-26 % of its speed."""

    name = "onnx-fp32"
    depth = 1

    def __init__(self, shape: NetShape, weights: Mapping[str, Array], version: int, *, threads: int) -> None:
        self._graph = _graph(shape)
        self._threads = threads
        self._current = self.prepare(weights, version)

    def launch(self, positions: Positions) -> Finish:
        features = positions.features.astype(np.float32, copy=False)
        logits, values = self._current.engine.run(OUTPUTS, {onnx_graph.INPUT: features})
        priors = legal_priors(logits, positions.legal, positions.offsets)
        estimates = Estimates(priors, values, self._current.version)
        return lambda: estimates

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        return Prepared(version, make_session(onnx_graph.with_weights(self._graph, weights), self._threads))

    def swap(self, prepared: Prepared) -> None:
        self._current = prepared


@cache
def _graph(shape: NetShape) -> onnx.ModelProto:
    """Written once for each shape: tracing patches torch's modules for all threads, so that a network which trains
    meanwhile would fail. The first backend of a shape is opened before anything trains."""
    return onnx_graph.write_graph(nets.build(shape, seed=0), shape)


def make_session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that spin while they wait for work took 22 % of their time from the workers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
