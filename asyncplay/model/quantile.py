"""Implicit quantile networks, several at a time: every weight has a leading axis of networks, and products are batched.

A network estimates quantiles of the return that follows each action: the features give a vector, a quantile's place
in 0 .. 1 another one (by cosines), their product goes through a hidden layer, and two heads make values of actions of
it, as a mean and advantages. ``G`` networks, ``n`` rows each, ``K`` places of quantiles, which the rows of a batch
share: so their embedding is computed once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array

HUBER = 1.0  # errors beyond count in a line
Stack = Mapping[str, Tensor]
"""The weights of G networks by name."""


@dataclass(frozen=True, slots=True)
class QuantileShape:
    """The sizes of the networks of a population."""

    networks: int  # G
    features: int  # F
    actions: int  # A
    width: int  # H
    quantiles: int  # K
    cosines: int  # C

    def sides(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each weight of one network; a row is an input, a bias has one."""
        sides = {"features": self.features, "cosines": self.cosines, "hidden": self.width}
        found: dict[str, tuple[int, int]] = {}
        for name, inputs in sides.items():
            found |= {f"{name}.weight": (inputs, self.width), f"{name}.bias": (1, self.width)}
        return found | {"heads.weight": (self.width, self.actions + 1), "heads.bias": (1, self.actions + 1)}

    @property
    def n_weights(self) -> int:
        return self.networks * sum(rows * columns for rows, columns in self.sides().values())


def fresh(shape: QuantileShape, seed: int) -> dict[str, Array]:
    """Weights of untrained networks, float32[G, rows, columns] by name, each network from its own seed."""
    networks = []
    for network in range(shape.networks):
        random = np.random.default_rng((seed, network))
        weights, reach = {}, 0.0
        for name, sides in shape.sides().items():
            reach = 1.0 / math.sqrt(sides[0]) if name.endswith("weight") else reach  # a bias has its layer's
            weights[name] = random.uniform(-reach, reach, sides).astype(np.float32)
        networks.append(weights)
    return {name: np.stack([weights[name] for weights in networks]) for name in shape.sides()}


def check_stack(shape: QuantileShape, weights: Mapping[str, Array]) -> None:
    """AsyncplayError unless the arrays are weights of such networks."""
    wanted = {name: (shape.networks, *sides) for name, sides in shape.sides().items()}
    if weights.keys() != wanted.keys():
        raise AsyncplayError(f"weights are named {sorted(weights)}, wanted {sorted(wanted)}")
    for name, sides in wanted.items():
        array = weights[name]
        if array.shape != sides or array.dtype != np.float32:
            raise AsyncplayError(f"{name} is {array.dtype} of shape {array.shape}, wanted float32 of {sides}")
        if not np.isfinite(array).all():
            raise AsyncplayError(f"{name} has an entry that is no number")


def midpoints(quantiles: int) -> Tensor:
    """The middle of each of K equal parts of 0 .. 1: float32[1, K], fixed places for decisions."""
    return ((torch.arange(quantiles, dtype=torch.float32) + 0.5) / quantiles)[None]


def embed(weights: Stack, places: Tensor) -> Tensor:
    """Embeddings of places float32[G, K] (or [1, K] for all alike): float32[G, K, H]."""
    n_cosines = weights["cosines.weight"].shape[1]
    waves = math.pi * torch.arange(1, n_cosines + 1, dtype=torch.float32, device=places.device)
    cosines = torch.cos(places[:, :, None] * waves).expand(len(weights["cosines.weight"]), -1, -1)
    return torch.relu_(torch.baddbmm(weights["cosines.bias"], cosines, weights["cosines.weight"]))


def worths(weights: Stack, features: Tensor, embeddings: Tensor) -> Tensor:
    """Quantiles of what each action is worth: float32[G, n, K, A], of features float32[G, n, F]."""
    n_networks, n_rows, n_places = len(features), features.shape[1], embeddings.shape[1]
    rows = torch.relu_(torch.baddbmm(weights["features.bias"], features, weights["features.weight"]))
    mixed = (rows[:, :, None] * embeddings[:, None]).view(n_networks, n_rows * n_places, -1)
    hidden = torch.relu_(torch.baddbmm(weights["hidden.bias"], mixed, weights["hidden.weight"]))
    heads = torch.baddbmm(weights["heads.bias"], hidden, weights["heads.weight"])
    value, advantage = heads[..., :1], heads[..., 1:]
    joined = value + advantage - advantage.mean(dim=-1, keepdim=True)
    return joined.view(n_networks, n_rows, n_places, -1)


def quantile_loss(estimates: Tensor, targets: Tensor, places: Tensor) -> Tensor:
    """The quantile Huber loss of each row, float32[G, n]: ``estimates`` and ``targets`` float32[G, n, K], ``places``
    float32[G, K] those of the estimates; summed over the estimates, mean over the targets."""
    errors = targets[:, :, None, :] - estimates[:, :, :, None]
    sizes = errors.abs()
    huber = torch.where(sizes <= HUBER, 0.5 * errors * errors, HUBER * (sizes - 0.5 * HUBER))
    weight = (places[:, None, :, None] - (errors.detach() < 0).float()).abs()
    return (weight * huber / HUBER).mean(dim=3).sum(dim=2)
