"""The sizes of a network: everything needed to build it except its weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from asyncplay.errors import AsyncplayError

Kind = Literal["mlp", "resnet", "blobnet"]

POLICY_CHANNELS, VALUE_CHANNELS, VALUE_WIDTH = 32, 8, 64  # the heads of a resnet
FEED_FORWARD = 4  # times the width: the inner layer of an encoder layer


@dataclass(frozen=True, slots=True)
class NetShape:
    """A network maps float32[n, F] to logits float32[n, A] and values float32[n, P] in (-1, 1)."""

    kind: Kind
    features: int
    actions: int
    players: int
    width: int = 64  # units of a hidden layer, channels of a convolution
    blocks: int = 6  # hidden layers, residual blocks or encoder layers
    planes: tuple[int, int, int] | None = None  # resnet: how F folds into planes, rows, columns
    action_planes: int = 0  # resnet: the first actions are plane * cells + cell; 0 for no such order
    global_features: int = 0  # resnet: the last of F, which belong to no cell
    feature_scale: tuple[tuple[int, float], ...] = ()  # runs of (features, factor) to multiply by; 1 for the rest

    def __post_init__(self) -> None:
        if self.kind != "resnet":
            return
        if self.planes is None or prod(self.planes) + self.global_features != self.features:
            raise AsyncplayError(f"a resnet folds its {self.features} features into planes, got {self.planes}")
        if self.action_planes * self.cells > self.actions:
            planes = f"{self.action_planes} action planes of {self.cells} cells"
            raise AsyncplayError(f"{planes} are more than {self.actions} actions")

    @property
    def cells(self) -> int:
        """Cells of one plane; only a resnet has any."""
        assert self.planes is not None, "a resnet has planes"
        return self.planes[1] * self.planes[2]

    @property
    def n_weights(self) -> int:
        """The number of weights of the network that ``nets.build`` makes, computed without making it."""
        width = self.width
        if self.kind == "mlp":
            hidden = _dense(self.features, width) + (self.blocks - 1) * _dense(width, width)
            return hidden + _dense(width, self.actions + self.players)
        if self.kind == "blobnet":
            layer = _dense(width, 3 * width) + _dense(width, width) + _dense(width, FEED_FORWARD * width)
            layer += _dense(FEED_FORWARD * width, width) + 4 * width  # and two norms
            value = _dense(width, width // 2) + _dense(width // 2, self.players)
            policy = _dense(width, width) + _dense(width, self.actions)
            return _dense(self.features, width) + 3 * width + self.blocks * layer + policy + value
        assert self.planes is not None, "a resnet has planes"
        trunk = _dense(9 * self.planes[0], width) + 2 * self.blocks * _dense(9 * width, width)
        trunk += _dense(self.global_features, width) if self.global_features else 0
        value = _dense(width, VALUE_CHANNELS) + _dense(VALUE_CHANNELS * self.cells, VALUE_WIDTH)
        value += _dense(VALUE_WIDTH, self.players)
        if self.action_planes:
            others = self.actions - self.action_planes * self.cells
            policy = _dense(width, width) + _dense(width, self.action_planes) + (_dense(width, others) if others else 0)
        else:
            policy = _dense(width, POLICY_CHANNELS) + _dense(POLICY_CHANNELS * self.cells, self.actions)
        return trunk + policy + value

    @property
    def n_activations(self) -> int:
        """About how many numbers a training step keeps for a row until its gradients are computed."""
        if self.kind == "resnet":
            return 2 * (2 * self.blocks + 1) * self.cells * self.width + 2 * self.action_planes * self.cells
        return (2 if self.kind == "mlp" else 4 * FEED_FORWARD) * self.blocks * self.width


def known_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a shape as they were saved; version 0.1 added that a network has 0 beliefs about hidden cards."""
    return {name: value for name, value in facts.items() if (name, value) != ("beliefs", 0)}


def _dense(inputs: int, outputs: int) -> int:
    """Weights of a layer from all inputs to all outputs, biases included."""
    return (inputs + 1) * outputs
