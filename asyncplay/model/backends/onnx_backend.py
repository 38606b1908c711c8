"""Inference on CPUs with onnxruntime, in float32.

A batch is cut into pieces, and each thread takes one after another through the whole network. Threads that share each
operation instead meet a hundred times a batch and wait for the one that a worker has preempted: a sixth slower.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue

import numpy as np
import onnx
import onnxruntime

from asyncplay.model import nets, onnx_graph
from asyncplay.model.backend import Finish, Prepared
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array, Estimates, Floats, Positions
from asyncplay.priors import legal_priors

OUTPUTS = [onnx_graph.LOGITS, onnx_graph.VALUES]
MOST_HANDS = 4  # threads that take pieces; more would wait for Python's lock, so they share operations instead
PIECES_A_HAND = 2  # so that a thread which was preempted leaves some of its work to the others
LEAST_ROWS = 32  # of a piece: computing fewer takes less time than handing them over


class OnnxBackend:
    """A publish is a new session: weights as inputs of one session would cost 14-26 % of its speed."""

    name = "onnx-fp32"
    depth = 1

    def __init__(self, shape: NetShape, weights: Mapping[str, Array], version: int, *, threads: int) -> None:
        self._graph = _graph(shape)
        self._hands = min(threads, MOST_HANDS)
        self._threads = threads - self._hands + 1  # of a session, the thread that runs it included
        self._helpers = ThreadPoolExecutor(MOST_HANDS, "network")  # they end with the backend
        self._current = self.prepare(weights, version)

    def launch(self, positions: Positions) -> Finish:
        features = positions.features.astype(np.float32, copy=False)
        logits, values = self._compute(features)
        priors = legal_priors(logits, positions.legal, positions.offsets)
        estimates = Estimates(priors, values, self._current.version)
        return lambda: estimates

    def _compute(self, features: Floats) -> list[Floats]:
        """Logits and values of all rows; the cuts depend on their number alone."""
        n_pieces = min(len(features) // LEAST_ROWS, PIECES_A_HAND * self._hands)
        if self._hands == 1 or n_pieces < 2:
            return run(self._current.engine, features)
        answers: list[list[Floats]] = [[]] * n_pieces
        waiting: SimpleQueue[tuple[int, Floats]] = SimpleQueue()
        for piece in enumerate(np.array_split(features, n_pieces)):
            waiting.put(piece)

        def take_pieces() -> None:
            with suppress(Empty):
                while True:
                    number, piece = waiting.get_nowait()
                    answers[number] = run(self._current.engine, piece)

        helpers = [self._helpers.submit(take_pieces) for _ in range(self._hands - 1)]
        take_pieces()
        for helper in helpers:
            helper.result()
        return [np.concatenate(parts) for parts in zip(*answers, strict=True)]

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        model = onnx_graph.with_weights(self._graph, weights)
        return Prepared(version, make_session(model, self._threads), model)

    @property
    def served(self) -> Prepared:
        """What answers now; its ``model`` is the network for whoever else computes with it."""
        return self._current

    def swap(self, prepared: Prepared) -> None:
        self._current = prepared


@cache
def _graph(shape: NetShape) -> onnx.ModelProto:
    """Written once for each shape: tracing patches torch's modules for all threads, so a network that trains at the
    same time would fail. The first backend of a shape is opened before training begins."""
    return onnx_graph.write_graph(nets.build(shape, seed=0), shape)


def run(session: onnxruntime.InferenceSession, features: Floats) -> list[Floats]:
    """Logits and values."""
    answers: list[Floats] = session.run(OUTPUTS, {onnx_graph.INPUT: features})
    return answers


def make_session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that spin while they wait for work took 22 % of their time from the workers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
