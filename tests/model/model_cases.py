"""Small networks, positions and examples for the tests of this folder."""

from dataclasses import replace

import numpy as np

from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array, Examples, Positions

MLP = NetShape("mlp", features=10, actions=6, players=2, width=16, blocks=2)
BOARD = NetShape("resnet", features=24, actions=5, players=2, width=8, blocks=2, planes=(2, 3, 4))
PLANES = NetShape("resnet", features=24, actions=39, players=3, width=8, blocks=1, planes=(2, 3, 4), action_planes=3)
ONLY_PLANES = NetShape(
    "resnet", features=24, actions=36, players=3, width=8, blocks=1, planes=(2, 3, 4), action_planes=3
)
GLOBALS = NetShape(
    "resnet",
    features=27,
    actions=39,
    players=3,
    width=8,
    blocks=1,
    planes=(2, 3, 4),
    action_planes=3,
    global_features=3,
    feature_scale=((12, 0.5), (12, 1.0), (2, 0.25)),
)
GATED = replace(GLOBALS, squeeze=3, blocks=2)
MASKED = replace(GATED, mask_plane=1)
"""The second of its planes says which cells are on the board."""
ENCODER = NetShape("blobnet", features=20, actions=9, players=4, width=16, blocks=2)
BLOBNET = NetShape("blobnet", features=256, actions=52, players=8, width=256, blocks=6)
"""The reference network of Blob, with a value for each of eight seats."""

SEEING = replace(MLP, hidden_features=7, value_width=12, value_blocks=3)
"""Its value alone sees seven features more."""
SEEING_ENCODER = replace(ENCODER, hidden_features=7, value_width=12, value_blocks=2)

SHAPES = {
    "mlp": MLP,
    "resnet": BOARD,
    "planes": PLANES,
    "only planes": ONLY_PLANES,
    "globals": GLOBALS,
    "gated": GATED,
    "masked": MASKED,
    "blobnet": ENCODER,
    "seeing mlp": SEEING,
    "seeing blobnet": SEEING_ENCODER,
}


def random_positions(shape: NetShape, rows: int, seed: int = 0, dtype: type = np.float32) -> Positions:
    """Rows of zeros and ones, each with one or more legal actions."""
    random = np.random.default_rng(seed)
    features = random.integers(0, 2, (rows, shape.row_features)).astype(dtype)
    lists = [some_actions(shape, random) for _ in range(rows)]
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    return Positions(features, np.concatenate(lists).astype(np.int32), offsets)


def some_actions(shape: NetShape, random: np.random.Generator) -> Array:
    count = random.integers(1, shape.actions + 1)
    return np.sort(random.choice(shape.actions, count, replace=False))


def random_examples(shape: NetShape, rows: int, seed: int = 0) -> Examples:
    """With random policies, values, numbers of seats and row weights."""
    random = np.random.default_rng(seed + 1000)
    features, legal, offsets = random_positions(shape, rows, seed)
    targets = random.random(len(legal)).astype(np.float32)
    targets /= np.add.reduceat(targets, offsets[:-1]).repeat(np.diff(offsets))
    return Examples(
        features=features,
        legal=legal,
        offsets=offsets,
        targets=targets,
        values=random.uniform(-1, 1, (rows, shape.players)).astype(np.float32),
        seats=random.integers(1, shape.players + 1, rows).astype(np.int32),
        weight=random.uniform(0.5, 2, rows).astype(np.float32),
        versions=np.arange(rows, dtype=np.int32),
        states=np.empty((rows, 0), np.int64),
    )


def shaken(weights: dict[str, Array], seed: int = 0, by: float = 0.1) -> dict[str, Array]:
    """Weights that are nowhere zero: those of a fresh network leave most of it silent."""
    random = np.random.default_rng(seed)
    return {name: (value + random.normal(0, by, value.shape)).astype(np.float32) for name, value in weights.items()}
