"""Inference with torch on CUDA, MPS or the CPU: one path, three kinds of stream."""

import copy
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from asyncplay.model import nets
from asyncplay.model.backend import Finish, Prepared
from asyncplay.model.backends.streams import open_stream
from asyncplay.model.shape import NetShape
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array, Estimates, Positions
from asyncplay.priors import flat_index, segment_softmax

SMALLEST_BUCKET = 16
REDUCED = (torch.float16, torch.bfloat16)
WORTH_IT = 0.9  # share of the float32 time that a reduced dtype must stay below
AGREEMENT = 0.03  # largest difference of a value or a prior that a reduced dtype may make


@dataclass(frozen=True, slots=True)
class TorchEngine:
    """A network on its device, and the dtype it computes in."""

    net: nets.Net
    dtype: torch.dtype = torch.float32

    def run(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """uint8 or float32 in, float32 out."""
        logits, values = self.net(features.to(self.dtype))
        return logits.to(torch.float32), values.to(torch.float32)

    def in_dtype(self, dtype: torch.dtype) -> "TorchEngine":
        """Itself, or a copy whose weights are converted once: autocast would do it in every batch."""
        return self if dtype == self.dtype else TorchEngine(copy.deepcopy(self.net).to(dtype), dtype)


class Staging:
    """Host buffers of one batch in flight. They grow to the largest batch so far and are used again."""

    def __init__(self, pins: bool) -> None:
        self._pins = pins
        self._buffers: dict[str, Tensor] = {}

    def room(self, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """An uninitialised buffer, the beginning of a kept one where that is large enough."""
        kept = self._buffers.get(name)
        if kept is None or kept.dtype != dtype or len(kept) < shape[0]:
            length = 1 << shape[0].bit_length()  # so that it grows a few times in a run, not every day
            kept = torch.empty((length, *shape[1:]), dtype=dtype, pin_memory=self._pins)
            self._buffers[name] = kept
        return kept[: shape[0]]


class TorchBackend:
    """Keeps two batches in flight on an accelerator.

    A batch is copied into buffers from which the device can fetch it after the caller's arrays have changed. On an
    accelerator it is filled up to one of a few sizes, so that the libraries tune themselves only a few times; only
    the logits of legal actions come back.
    """

    def __init__(
        self,
        shape: NetShape,
        weights: Mapping[str, Array],
        version: int,
        *,
        device: str = "cpu",
        threads: int = 1,  # on a CPU
        fills_up: bool | None = None,  # batches to a few sizes; None: on accelerators, CPUs do not care
    ) -> None:
        self.name = "torch-cpu" if device == "cpu" else device
        self.depth = 1 if device == "cpu" else 2
        self._shape = shape
        self._device = device
        self._threads = threads
        self._fills_up = device != "cpu" if fills_up is None else fills_up
        self._stream = open_stream(device)
        self._idle: deque[Staging] = deque()
        self._dtype = torch.float32
        self._sample = np.random.default_rng(0).random((SMALLEST_BUCKET, shape.row_features), np.float32)
        self._current = self.prepare(weights, version)

    def launch(self, positions: Positions) -> Finish:
        if self._device == "cpu":
            use_threads(self._threads)
        current, rows = self._current, len(positions.features)
        if self._dtype != torch.float32:
            self._sample = positions.features[:SMALLEST_BUCKET].copy()
        staging = self._idle.pop() if self._idle else Staging(self._stream.pins)
        room = bucket(rows) if self._fills_up else rows
        dtype = torch.uint8 if positions.features.dtype == np.uint8 else torch.float32
        features = staging.room("features", (room, self._shape.row_features), dtype)
        features.numpy()[:rows] = positions.features
        index = staging.room("index", (len(positions.legal),), torch.int64)
        index.numpy()[:] = flat_index(positions.legal, positions.offsets, self._shape.actions)
        chosen = staging.room("chosen", (len(index),), torch.float32)
        values = staging.room("values", (rows, self._shape.players), torch.float32)
        with torch.inference_mode(), self._stream.entered():
            all_logits, all_values = current.engine.run(self._send(features))
            results = [all_logits.flatten()[self._send(index)], all_values[:rows]]
            fetch = self._stream.bring(results, [chosen, values])
        offsets = positions.offsets

        def finish() -> Estimates:
            fetch()
            estimates = Estimates(segment_softmax(chosen.numpy(), offsets), values.numpy().copy(), current.version)
            self._idle.append(staging)
            return estimates

        return finish

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        engine = self._trusted(TorchEngine(nets.build_from(self._shape, weights, self._device)))
        self._stream.wait()
        return Prepared(version, engine)

    def swap(self, prepared: Prepared) -> None:
        self._current = prepared

    def warm_up(self, max_rows: int) -> None:
        """Let an accelerator tune itself for every batch size up to ``max_rows``, and measure whether a
        reduced dtype pays. To be called before the first launch, on the lane's thread."""
        exact = TorchEngine(self._current.engine.net)
        rows = torch.tensor(np.resize(self._sample, (bucket(max_rows), self._shape.row_features)))
        with torch.inference_mode(), self._stream.entered():
            rows = rows.to(self._device)
            engines = {dtype: exact.in_dtype(dtype) for dtype in (torch.float32, *REDUCED)}
            self._dtype = fastest({dtype: self._seconds(engine, rows) for dtype, engine in engines.items()})
            self._current = Prepared(self._current.version, self._trusted(exact))
            for size in buckets(max_rows):
                self._current.engine.run(rows[:size])
            self._stream.wait()

    def _trusted(self, exact: TorchEngine) -> TorchEngine:
        """The engine in the dtype that was measured fastest, or in float32 where that would change the answers."""
        engine = exact.in_dtype(self._dtype)
        sample = torch.tensor(self._sample, device=self._device)
        return engine if engine is exact or agrees(engine, exact, sample) else exact

    def _send(self, buffer: Tensor) -> Tensor:
        return buffer.to(self._device, non_blocking=buffer.is_pinned())

    def _seconds(self, engine: TorchEngine, rows: Tensor) -> float:
        """The best of five, after one that tunes."""
        times = [0.0]
        for _ in range(6):
            engine.run(rows)
            self._stream.wait()
            times.append(time.perf_counter())
        return min(after - before for before, after in pairwise(times[1:]))


def bucket(rows: int) -> int:
    """The next of 16, 24, 32, 48, 64, 96, ...: at most a third of a batch is filling, beyond the least."""
    power = max(SMALLEST_BUCKET, 1 << (rows - 1).bit_length())
    return power * 3 // 4 if power > SMALLEST_BUCKET and rows <= power * 3 // 4 else power


def buckets(max_rows: int) -> list[int]:
    """All sizes that batches of up to ``max_rows`` are filled up to."""
    sizes = [bucket(1)]
    while sizes[-1] < max_rows:
        sizes.append(bucket(sizes[-1] + 1))
    return sizes


def fastest(seconds: Mapping[torch.dtype, float]) -> torch.dtype:
    """float32 unless another dtype is clearly faster."""
    best = min(seconds, key=seconds.__getitem__)
    return best if seconds[best] < WORTH_IT * seconds[torch.float32] else torch.float32


@torch.inference_mode()
def agrees(engine: TorchEngine, exact: TorchEngine, features: Tensor) -> bool:
    """Whether no prior and no value differs by more than ``AGREEMENT``; NaN agrees with nothing."""
    pairs = zip(_answers(engine, features), _answers(exact, features), strict=True)
    return all(float((ours - theirs).abs().max()) <= AGREEMENT for ours, theirs in pairs)


def _answers(engine: TorchEngine, features: Tensor) -> Sequence[Tensor]:
    logits, values = engine.run(features)
    return torch.softmax(logits, 1), values
