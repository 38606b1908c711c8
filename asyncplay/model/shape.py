"""The sizes of a network: everything needed to build it except its weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from asyncplay.errors import AsyncplayError

Kind = Literal["mlp", "resnet", "blobnet"]

POLICY_CHANNELS, VALUE_CHANNELS, VALUE_WIDTH = 32, 8, 64  # the heads of a resnet
FEED_FORWARD = 4  # times the width: the inner layer of an encoder layer
LATER: dict[str, Any] = {
    "global_features": 0,
    "feature_scale": [],
    "hidden_features": 0,
    "value_width": 0,
    "value_blocks": 0,
    "squeeze": 0,
    "mask_plane": -1,
}
"""What older shapes do not say."""


@dataclass(frozen=True, slots=True)
class NetShape:
    """A network maps float32[n, F] to logits float32[n, A] and values float32[n, P] in (-1, 1).

    With H hidden features rows are float32[n, F + H]: the policy sees the first F, a value trunk of its own sees all.
    """

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
    hidden_features: int = 0  # H; not of a resnet
    value_width: int = 0  # of the value trunk, where there are hidden features
    value_blocks: int = 0  # its hidden layers
    squeeze: int = 0  # resnet: units of squeeze-and-excitation in each block; 0 for none
    mask_plane: int = -1  # resnet: the plane with a 1 for each cell of the board; -1: all cells of the planes are

    def __post_init__(self) -> None:
        if self.kind != "resnet":
            if self.squeeze:
                raise AsyncplayError(f"a network of kind {self.kind} has no squeeze-and-excitation, a resnet has")
            return
        if self.hidden_features:
            raise AsyncplayError("a resnet has no value trunk that sees hidden features")
        if self.planes is None or prod(self.planes) + self.global_features != self.features:
            raise AsyncplayError(f"a resnet folds its {self.features} features into planes, got {self.planes}")
        if self.action_planes * self.cells > self.actions:
            planes = f"{self.action_planes} action planes of {self.cells} cells"
            raise AsyncplayError(f"{planes} are more than {self.actions} actions")

    @property
    def row_features(self) -> int:
        """Columns of its input."""
        return self.features + self.hidden_features

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
            trunk = _trunk(self.features, width, self.blocks)
            if not self.hidden_features:
                return trunk + _dense(width, self.actions + self.players)
            return trunk + _dense(width, self.actions) + self._value_trunk + _dense(self.value_width, self.players)
        if self.kind == "blobnet":
            layer = _dense(width, 3 * width) + _dense(width, width) + _dense(width, FEED_FORWARD * width)
            layer += _dense(FEED_FORWARD * width, width) + 4 * width  # and two norms
            value = _dense(width, width // 2) + _dense(width // 2, self.players)
            value += self._value_trunk + _dense(self.value_width, width // 2) if self.hidden_features else 0
            policy = _dense(width, width) + _dense(width, self.actions)
            return _dense(self.features, width) + 3 * width + self.blocks * layer + policy + value
        assert self.planes is not None, "a resnet has planes"
        trunk = _dense(9 * self.planes[0], width) + 2 * self.blocks * _dense(9 * width, width)
        trunk += _dense(self.global_features, width) if self.global_features else 0
        trunk += self.blocks * (_dense(width, self.squeeze) + _dense(self.squeeze, width)) if self.squeeze else 0
        value = _dense(width, VALUE_CHANNELS) + _dense(VALUE_CHANNELS * self.cells, VALUE_WIDTH)
        value += _dense(VALUE_WIDTH, self.players)
        if self.action_planes:
            others = self.actions - self.action_planes * self.cells
            policy = _dense(width, width) + _dense(width, self.action_planes) + (_dense(width, others) if others else 0)
        else:
            policy = _dense(width, POLICY_CHANNELS) + _dense(POLICY_CHANNELS * self.cells, self.actions)
        return trunk + policy + value

    @property
    def _value_trunk(self) -> int:
        """Weights of the trunk that sees everything, where there is one."""
        return _trunk(self.row_features, self.value_width, self.value_blocks) if self.hidden_features else 0

    @property
    def n_activations(self) -> int:
        """About how many numbers a training step keeps for a row until its gradients are computed."""
        if self.kind == "resnet":
            return 2 * (2 * self.blocks + 1) * self.cells * self.width + 2 * self.action_planes * self.cells
        seeing = 2 * self.value_blocks * self.value_width
        return (2 if self.kind == "mlp" else 4 * FEED_FORWARD) * self.blocks * self.width + seeing


def known_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a shape as they were saved; version 0.1 added that a network has 0 beliefs about hidden cards, and
    did not know of those in LATER."""
    return LATER | {name: value for name, value in facts.items() if (name, value) != ("beliefs", 0)}


def _trunk(inputs: int, width: int, blocks: int) -> int:
    """Weights of ``blocks`` hidden layers."""
    return _dense(inputs, width) + (blocks - 1) * _dense(width, width)


def _dense(inputs: int, outputs: int) -> int:
    """Weights of a layer from all inputs to all outputs, biases included."""
    return (inputs + 1) * outputs
