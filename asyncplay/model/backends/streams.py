"""How results come back from a device: at once, or later through its queue of work."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch
from torch import Tensor

Fetch = Callable[[], None]
"""Blocks until the results lie in their host buffers."""


class Stream(Protocol):
    """The order in which one device works for us."""

    pins: bool  # whether host buffers should be page-locked

    def entered(self) -> AbstractContextManager[object]:
        """Work started inside goes into this stream."""

    def bring(self, results: list[Tensor], buffers: list[Tensor]) -> Fetch:
        """Start moving results into host buffers of the same shapes; called inside ``entered``."""

    def wait(self) -> None:
        """Return when all is done that the calling thread started, inside ``entered`` or outside."""


class CpuStream:
    """Operations are done when they return."""

    pins = False

    def entered(self) -> AbstractContextManager[object]:
        return nullcontext()

    def bring(self, results: list[Tensor], buffers: list[Tensor]) -> Fetch:
        _copy(results, buffers)
        return lambda: None

    def wait(self) -> None:
        return None


class CudaStream:
    """A stream of its own, beside the one training uses."""

    pins = True

    def __init__(self) -> None:
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def entered(self) -> AbstractContextManager[object]:
        return torch.cuda.stream(self._stream)

    def bring(self, results: list[Tensor], buffers: list[Tensor]) -> Fetch:
        _copy(results, buffers)
        # The waiting thread sleeps instead of spinning: workers need the core.
        arrived = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        arrived.record(self._stream)
        return arrived.synchronize

    def wait(self) -> None:
        torch.cuda.current_stream().synchronize()


class MpsStream:
    """Apple's only stream. Recording an event is what sends the work off; nothing copies by itself."""

    pins = False

    def entered(self) -> AbstractContextManager[object]:
        return nullcontext()

    def bring(self, results: list[Tensor], buffers: list[Tensor]) -> Fetch:
        computed = torch.mps.Event()
        computed.record()

        def fetch() -> None:
            computed.synchronize()
            with torch.inference_mode():
                _copy(results, buffers)

        return fetch

    def wait(self) -> None:
        torch.mps.synchronize()


def open_stream(device: str) -> Stream:
    """The stream of "cpu", "cuda" or "mps"."""
    if device == "cuda":
        return CudaStream()
    return MpsStream() if device == "mps" else CpuStream()


def _copy(results: list[Tensor], buffers: list[Tensor]) -> None:
    """Does not wait where the device has a queue and the buffer is page-locked."""
    for result, buffer in zip(results, buffers, strict=True):
        buffer.copy_(result, non_blocking=buffer.is_pinned())
