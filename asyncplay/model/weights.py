"""Weights as named arrays: the form in which they are published, compared and saved."""

import math
from collections.abc import Mapping

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors_numpy
from torch import Tensor, nn

from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array

Weights = Mapping[str, Array]
"""Name as in the module to float32 array, in the module's order. Published arrays are never changed."""


def snapshot(module: nn.Module) -> dict[str, Array]:
    """Copies of all weights, in row-major order, not in the memory layout of the module."""
    return {name: to_array(weight) for name, weight in module.state_dict().items()}


def to_array(tensor: Tensor) -> Array:
    """A row-major copy."""
    return np.array(tensor.detach().cpu().numpy(), order="C", copy=True)


def to_bytes(weights: Weights) -> bytes:
    """A safetensors file."""
    return safetensors_numpy.save(dict(weights))


def from_bytes(data: bytes) -> dict[str, Array]:
    """Raises AsyncplayError for what is no safetensors file."""
    try:
        return safetensors_numpy.load(data)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise AsyncplayError(f"these {len(data)} bytes are no safetensors file: {error}") from None


def distance(new: Weights, old: Weights) -> float:
    """How far ``new`` has moved: the length of the difference over the length of ``old``."""
    moved = sum(_squares(new[name] - weight) for name, weight in old.items())
    length = sum(_squares(weight) for weight in old.values())
    return math.sqrt(moved / length) if length > 0 else math.inf


def _squares(values: Array) -> float:
    flat = values.reshape(-1)
    return float(np.dot(flat, flat))
