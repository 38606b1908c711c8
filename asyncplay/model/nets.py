"""Networks, built from their sizes, and their weights as named arrays: published, compared and saved in that form.

Every network is float32[n, F] -> logits float32[n, A], values float32[n, P] through tanh; hidden features, which stand
behind the F, reach the values alone. They are made of the layers that ``onnx_graph`` can write down, and their rows do
not see each other: a row's answer is the same whatever batch it came in, and a training batch may be cut into parts.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors import numpy as safetensors_numpy
from torch import Tensor, nn

from asyncplay.errors import AsyncplayError
from asyncplay.model.shape import FEED_FORWARD, POLICY_CHANNELS, VALUE_CHANNELS, VALUE_WIDTH, NetShape
from asyncplay.payloads import Array

Weights = Mapping[str, Array]
"""Name as in the module to float32 array, in the module's order. Published arrays are never changed."""


class Net(nn.Module):
    """A network that lists the layers whose weights begin at zero."""

    def silent_layers(self) -> Iterator[nn.Module]:
        """The last layers of all heads and of every residual branch.

        An untrained network is therefore impartial (all priors equal, all values 0), and its blocks begin as the
        identity; without that a deep network would need normalisation to train.
        """
        raise NotImplementedError


def dense_trunk(inputs: int, width: int, blocks: int) -> nn.Sequential:
    """``blocks`` hidden layers."""
    widths = pairwise([inputs] + [width] * blocks)
    return nn.Sequential(*[layer for before, after in widths for layer in (nn.Linear(before, after), nn.ReLU())])


class Mlp(Net):
    """``blocks`` hidden layers; with hidden features the value has a trunk of its own, which sees them."""

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.features = shape.features
        self.scale = FeatureScale(shape) if shape.feature_scale else None
        self.hidden = dense_trunk(shape.features, shape.width, shape.blocks)
        self.policy = nn.Linear(shape.width, shape.actions)
        self.seeing: nn.Sequential | None = None
        if shape.hidden_features:
            self.seeing = dense_trunk(shape.row_features, shape.value_width, shape.value_blocks)
        value_width = shape.value_width if shape.hidden_features else shape.width
        self.value = nn.Sequential(nn.Linear(value_width, shape.players), nn.Tanh())

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        if self.scale is not None:
            features = self.scale(features)
        if self.seeing is None:
            hidden = self.hidden(features)
            return self.policy(hidden), self.value(hidden)
        hidden = self.hidden(torch.narrow(features, 1, 0, self.features))
        return self.policy(hidden), self.value(self.seeing(features))

    def silent_layers(self) -> Iterator[nn.Module]:
        yield self.policy
        yield self.value[0]


class ChannelGate(nn.Module):
    """Squeeze-and-excitation: a factor from 0 to 1 for each channel, by what the channels are on average."""

    def __init__(self, channels: int, squeeze: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.squeeze = nn.Sequential(nn.Conv2d(channels, squeeze, 1), nn.ReLU())
        self.excite = nn.Sequential(nn.Conv2d(squeeze, channels, 1), nn.Sigmoid())

    def forward(self, board: Tensor) -> Tensor:
        return self.excite(self.squeeze(self.pool(board)))  # type: ignore[no-any-return]


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, without normalisation; with ``squeeze`` units a gate on its channels.

    Batch statistics would tie the rows of a batch together, and a group norm costs onnxruntime a third
    of its speed. On 40,000 tactical Connect Four positions (6 blocks, 32 channels, 2 epochs) this block
    reached a policy error of 0.34, a group norm 0.38, a batch norm 0.32.

    A mask is 1 for each cell of the board and 0 beside it, where the board is 0 and stays so.
    """

    def __init__(self, channels: int, squeeze: int = 0) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.gate = ChannelGate(channels, squeeze) if squeeze else None
        self.relu = nn.ReLU()

    def forward(self, board: Tensor, mask: Tensor | None = None) -> Tensor:
        inner = self.relu(self.first(board))
        branch = self.second(inner if mask is None else inner * mask)
        if mask is not None:
            branch = branch * mask
        if self.gate is not None:
            branch = branch * self.gate(branch)
        return self.relu(board + branch)  # type: ignore[no-any-return]


class PlanePolicy(nn.Module):
    """Logits of a board's cells, plane by plane, then those of actions that belong to no cell.

    One layer from all cells to all actions would need 36 million weights for 50,000 actions on 361
    cells; this one grows with the action planes alone.
    """

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Conv2d(shape.width, shape.width, 1), nn.ReLU())
        self.planes = nn.Conv2d(shape.width, shape.action_planes, 1)
        self.flat = nn.Flatten()
        self.pool = nn.AdaptiveAvgPool2d(1)
        others = shape.actions - shape.action_planes * shape.cells
        self.others = nn.Linear(shape.width, others) if others else None

    def forward(self, board: Tensor) -> Tensor:
        mixed = self.mix(board)
        logits = self.flat(self.planes(mixed))
        if self.others is None:
            return logits  # type: ignore[no-any-return]
        return torch.cat((logits, self.others(self.flat(self.pool(mixed)))), 1)

    def silent_layers(self) -> Iterator[nn.Module]:
        yield self.planes
        if self.others is not None:
            yield self.others


class FeatureScale(nn.Module):
    """Multiplies features by what the game says; no weights."""

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        counts, factors = zip(*shape.feature_scale, strict=True)
        self.factors = np.ones(shape.row_features, np.float32)
        self.factors[: sum(counts)] = np.repeat(np.array(factors, np.float32), counts)

    def forward(self, features: Tensor) -> Tensor:
        return features * torch.from_numpy(self.factors).to(features)


class ResNet(Net):
    """A board of planes: a stem, ``blocks`` residual blocks of ``width`` channels, two heads.

    Features that belong to no cell are added to every cell of the stem, by a layer of their own. Cells of the planes
    that are not on the board, beside a hexagon, are kept at 0 by a mask, which is one of the planes.
    """

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        assert shape.planes is not None, "a resnet has planes"
        self.scale = FeatureScale(shape) if shape.feature_scale else None
        self.n_cells, self.n_globals = shape.features - shape.global_features, shape.global_features
        self.fold = nn.Unflatten(1, shape.planes)
        self.stem = nn.Sequential(nn.Conv2d(shape.planes[0], shape.width, 3, padding=1), nn.ReLU())
        if shape.global_features:
            self.globals = nn.Sequential(
                nn.Linear(shape.global_features, shape.width), nn.Unflatten(1, (shape.width, 1, 1))
            )
        self.mask_plane = shape.mask_plane
        self.blocks = nn.Sequential(*[ResidualBlock(shape.width, shape.squeeze) for _ in range(shape.blocks)])
        if shape.action_planes:
            self.policy: PlanePolicy | nn.Sequential = PlanePolicy(shape)
        else:
            self.policy = nn.Sequential(
                nn.Conv2d(shape.width, POLICY_CHANNELS, 1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(POLICY_CHANNELS * shape.cells, shape.actions),
            )
        self.value = nn.Sequential(
            nn.Conv2d(shape.width, VALUE_CHANNELS, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(VALUE_CHANNELS * shape.cells, VALUE_WIDTH),
            nn.ReLU(),
            nn.Linear(VALUE_WIDTH, shape.players),
            nn.Tanh(),
        )

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        if self.scale is not None:
            features = self.scale(features)
        if self.n_globals:
            convolution, relu = self.stem
            cells = self.fold(torch.narrow(features, 1, 0, self.n_cells))
            everywhere = self.globals(torch.narrow(features, 1, self.n_cells, self.n_globals))
            board = relu(convolution(cells) + everywhere)
        else:
            cells = self.fold(features)
            board = self.stem(cells)
        mask = torch.narrow(cells, 1, self.mask_plane, 1) if self.mask_plane >= 0 else None
        if mask is not None:
            board = board * mask
        for block in self.blocks:
            board = block(board, mask)
        return self.policy(board), self.value(board)

    def silent_layers(self) -> Iterator[nn.Module]:
        for block in self.blocks:
            yield block.second  # type: ignore[misc]
        if isinstance(self.policy, PlanePolicy):
            yield from self.policy.silent_layers()
        else:
            yield self.policy[-1]
        yield self.value[-2]


class EncoderLayer(nn.Module):
    """A transformer encoder layer for a sequence of one, with the norms after the branches.

    The only position attends to itself with weight 1, so its query and key do not matter; both are computed all the
    same, so that the layer keeps the size and the cost of the reference.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.first_norm = nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, FEED_FORWARD * width), nn.ReLU())
        self.outer = nn.Linear(FEED_FORWARD * width, width)
        self.second_norm = nn.LayerNorm(width)

    def forward(self, hidden: Tensor) -> Tensor:
        value = torch.narrow(self.query_key_value(hidden), 1, 2 * self.width, self.width)
        hidden = self.first_norm(hidden + self.attended(value))
        return self.second_norm(hidden + self.outer(self.inner(hidden)))  # type: ignore[no-any-return]


class BlobNet(Net):
    """The reference network of Blob: an encoder for one position, so in effect a deep residual MLP.

    With hidden features a small trunk beside it sees them, and the value reads both: by two layers that are added, as
    onnxruntime would leave a part of one layer on both joined in floats where the others are integers.
    """

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        width, half = shape.width, shape.width // 2
        self.features = shape.features
        self.scale = FeatureScale(shape) if shape.feature_scale else None
        self.embed = nn.Sequential(nn.Linear(shape.features, width), nn.LayerNorm(width))
        self.position = nn.Parameter(torch.zeros(width))
        self.layers = nn.Sequential(*[EncoderLayer(width) for _ in range(shape.blocks)])
        self.policy = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, shape.actions))
        self.seeing: nn.Sequential | None = None
        if shape.hidden_features:
            self.seeing = dense_trunk(shape.row_features, shape.value_width, shape.value_blocks)
            self.seen = nn.Linear(shape.value_width, half)
        self.value = nn.Sequential(nn.Linear(width, half), nn.ReLU(), nn.Linear(half, shape.players), nn.Tanh())

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        if self.scale is not None:
            features = self.scale(features)
        seen = features if self.seeing is None else torch.narrow(features, 1, 0, self.features)
        hidden = self.layers(self.embed(seen) + self.position)
        if self.seeing is None:
            return self.policy(hidden), self.value(hidden)
        first, relu, last, tanh = self.value
        return self.policy(hidden), tanh(last(relu(first(hidden) + self.seen(self.seeing(features)))))

    def silent_layers(self) -> Iterator[nn.Module]:
        for layer in self.layers:
            yield from (layer.attended, layer.outer)  # type: ignore[misc]
        yield from (self.policy[-1], self.value[-2])


_NETS: dict[str, type[Mlp] | type[ResNet] | type[BlobNet]] = {
    "mlp": Mlp,
    "resnet": ResNet,
    "blobnet": BlobNet,
}


@torch.no_grad()
def build(shape: NetShape, seed: int) -> Net:
    """A new network: matrices normal with variance 2 / inputs, biases 0, norms 1, silent layers 0.

    The same seed gives the same weights, and no other random state is touched.
    """
    with torch.device("meta"):
        net = _NETS[shape.kind](shape)
    net.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed)
    for weight in net.parameters():
        if weight.ndim > 1:
            weight.normal_(0, math.sqrt(2 / weight[0].numel()), generator=generator)
        else:
            weight.zero_()
    for layer in net.modules():
        if isinstance(layer, nn.LayerNorm):
            layer.weight.fill_(1)
    for layer in net.silent_layers():
        for weight in layer.parameters():
            weight.zero_()
    return _channels_last(net)


def check_weights(shape: NetShape, weights: Mapping[str, Array]) -> None:
    """AsyncplayError unless these are weights of such a network: by name, shape and kind, and finite."""
    with torch.device("meta"):
        wanted = {name: tuple(tensor.shape) for name, tensor in _NETS[shape.kind](shape).state_dict().items()}
    for name in sorted(wanted.keys() ^ weights.keys()):
        raise AsyncplayError(f"its weights {'lack' if name in wanted else 'have an unknown'} {name}")
    for name, weight in weights.items():
        if weight.shape != wanted[name] or weight.dtype != np.float32:
            kind = f"{weight.dtype}{list(weight.shape)}"
            raise AsyncplayError(f"its weights have {name} as {kind}, wanted is float32{list(wanted[name])}")
        if not np.isfinite(weight).all():
            raise AsyncplayError(f"its weights are not finite: {name}")


def build_from(shape: NetShape, weights: Mapping[str, Array], device: str = "cpu") -> Net:
    """A network for inference that holds a copy of ``weights`` and needs no gradient."""
    with torch.device("meta"):
        net = _NETS[shape.kind](shape)
    tensors = {name: torch.tensor(weight, device=device) for name, weight in weights.items()}
    net.load_state_dict(tensors, assign=True)
    return _channels_last(net.eval().requires_grad_(False))


def _channels_last(net: Net) -> Net:
    """Move the channels last in memory, which is up to twice as fast on CPUs."""
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return net


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
