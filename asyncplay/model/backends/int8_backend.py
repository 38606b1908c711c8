"""Inference on CPUs with onnxruntime, matrix products in 8-bit integers where that changes hardly anything."""

import logging
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import onnxruntime

from asyncplay.model import onnx_graph, quantize
from asyncplay.model.backend import Finish, Prepared
from asyncplay.model.backends.onnx_backend import OnnxBackend, make_session, run
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array, Estimates, Floats, Positions
from asyncplay.priors import legal_priors

log = logging.getLogger(__name__)

MOST_KL = 1e-3  # of the policies, float32 against integers, in nats
MOST_VALUE_ERROR = 0.01  # mean distance of the values, which run from -1 to 1
WEIGHT_LIMITS = (127, 63)  # without VNNI, products of full bytes overflow; those of half the range do not
RECENT_ROWS, RECENT_EVERY = 512, 16
LEAST_PRIOR = 1e-9


class Difference(NamedTuple):
    """How far answers in integers are from those in float32, over some rows."""

    kl: float  # mean over the rows, in nats
    value_error: float  # mean distance, over the rows and players

    @property
    def is_small(self) -> bool:
        """A NaN is not small."""
        return self.kl <= MOST_KL and self.value_error <= MOST_VALUE_ERROR

    def __str__(self) -> str:
        return (
            f"KL {self.kl:.1e} (at most {MOST_KL:.0e}), "
            f"values differ by {self.value_error:.1e} (at most {MOST_VALUE_ERROR:.0e})"
        )


class Int8Backend(OnnxBackend):
    """``prepare`` quantises every version and compares it with float32 before it answers.

    Both are done on the latest rows of ``launch``, or on ``sample`` before the first. Where policies or values differ
    by too much the version answers in float32, and the log says so.
    """

    name = "onnx-int8"

    def __init__(
        self, shape: NetShape, weights: Mapping[str, Array], version: int, *, threads: int, sample: Positions
    ) -> None:
        self._recent = sample
        self._launches = 0
        super().__init__(shape, weights, version, threads=threads)

    def launch(self, positions: Positions) -> Finish:
        if self._launches % RECENT_EVERY == 0:  # copies: the arrays of a batch are used again
            n_rows = min(len(positions.features), RECENT_ROWS)
            legal = positions.legal[: positions.offsets[n_rows]].copy()
            self._recent = Positions(positions.features[:n_rows].copy(), legal, positions.offsets[: n_rows + 1].copy())
        self._launches += 1
        return super().launch(positions)

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        recent, exact = self._recent, super().prepare(weights, version)
        wanted, features = _answers(exact.engine, recent), recent.features.astype(np.float32, copy=False)
        shown = onnx_graph.with_weights(quantize.with_inputs_shown(self._graph), weights)
        names = sorted(quantize.linear_inputs(self._graph) - {onnx_graph.INPUT})
        inputs = make_session(shown, self._threads).run(names, {onnx_graph.INPUT: features})
        seen = dict(zip(names, inputs, strict=True)) | {onnx_graph.INPUT: features}
        ranges = {name: quantize.range_of(seen[name]) for name in sorted(quantize.linear_inputs(self._graph))}
        for limit in WEIGHT_LIMITS:
            model = quantize.quantized(self._graph, weights, ranges, limit)
            session = make_session(model, self._threads)
            difference = compare(wanted, _answers(session, recent), recent)
            if difference.is_small:
                log.info("version %d in int8: %s", version, difference)
                return Prepared(version, session, model)
        log.warning("version %d stays in float32, in int8 it has %s", version, difference)
        return exact


def compare(wanted: Estimates, found: Estimates, rows: Positions) -> Difference:
    """The distance of two answers to the same rows, of their policies and of their values."""
    distances = np.abs(wanted.values - found.values)
    return Difference(divergence(wanted.priors, found.priors, rows), float(distances.mean()))


def divergence(wanted: Floats, found: Floats, rows: Positions) -> float:
    """The mean KL of policies, ``found`` against ``wanted``, both float32[L]."""
    terms = wanted * (np.log(wanted + LEAST_PRIOR) - np.log(found + LEAST_PRIOR))
    return float(np.add.reduceat(terms, rows.offsets[:-1]).mean())


def _answers(session: onnxruntime.InferenceSession, rows: Positions) -> Estimates:
    logits, values = run(session, rows.features.astype(np.float32, copy=False))
    return Estimates(legal_priors(logits, rows.legal, rows.offsets), values, 0)
