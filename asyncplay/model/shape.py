"""The sizes of a network: everything needed to build it, nothing of what it has learned."""

from dataclasses import dataclass
from math import prod
from typing import Literal

from asyncplay.errors import AsyncplayError

Kind = Literal["mlp", "resnet", "blobnet"]


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
    beliefs: int = 0  # numbers that say who holds which card, P a card, behind the values; 0 for none

    def __post_init__(self) -> None:
        if self.kind == "resnet":
            self._check_planes()
        if self.beliefs and (self.kind == "resnet" or self.beliefs % self.players):
            raise AsyncplayError(f"a {self.kind} for {self.players} players cannot have {self.beliefs} beliefs")

    @property
    def cells(self) -> int:
        """Cells of one plane; only a resnet has any."""
        assert self.planes is not None, "a resnet has planes"
        return self.planes[1] * self.planes[2]

    def _check_planes(self) -> None:
        if self.planes is None or prod(self.planes) != self.features:
            raise AsyncplayError(f"a resnet folds its {self.features} features into planes, got {self.planes}")
        if self.action_planes * self.cells > self.actions:
            planes = f"{self.action_planes} action planes of {self.cells} cells"
            raise AsyncplayError(f"{planes} are more than {self.actions} actions")


BLOBNET = NetShape("blobnet", features=256, actions=52, players=8, width=256, blocks=6)
"""The reference network of the game of Blob, with a value for each of eight seats."""
