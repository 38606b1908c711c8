"""The interface between the device lane and the backends that compute estimates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from asyncplay.payloads import Array, Estimates, Positions

Finish = Callable[[], Estimates]
"""Blocks until the batch is done; called once, from any thread."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Weights in the form a backend computes with; only the backend that made it can use it."""

    version: int
    engine: Any
    model: bytes = b""  # the same network as an ONNX file, of backends that have one


class Backend(Protocol):
    """Computes estimates, each batch with one version of the weights.

    ``launch`` and ``swap`` belong to the lane's thread, ``prepare`` may run anywhere at any time. Batches
    finish in the order of their launch; at most ``depth`` of them are worth having in flight.
    """

    name: str
    depth: int  # 1 where launching computes (CPUs), 2 where it only hands over (accelerators)

    def launch(self, positions: Positions) -> Finish:
        """Start one batch of at least one row. Its arrays must not change before it is finished."""

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        """The slow part of a publish; the backend itself does not change. It keeps no reference to ``weights``."""

    def swap(self, prepared: Prepared) -> None:
        """Use the prepared weights from the next launch on; batches in flight keep those they began with. Quick."""
