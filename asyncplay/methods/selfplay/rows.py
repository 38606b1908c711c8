"""What is inside a finished game: its training rows and its record."""

from typing import Any

import numpy as np

from asyncplay.methods.selfplay.messages import Game
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Examples


def examples_of(game: Game, players: int) -> Examples:
    """A game's rows, each from the seat of who decided; a network's further seats are filled with zeros."""
    n_rows, n_seats = len(game.features), len(game.outcome)
    values = np.zeros((n_rows, players), np.float32)
    values[:, :n_seats] = game.values
    return Examples(
        features=game.features,
        legal=game.legal,
        offsets=game.offsets,
        targets=game.targets,
        values=values,
        seats=np.full(n_rows, n_seats, np.int32),
        weight=np.ones(n_rows, np.float32),
        versions=game.versions,
    )


def misfit(game: Game, shape: NetShape, feature_dtype: np.dtype[Any]) -> str | None:
    """Say why a game's rows cannot train such a network, or None; the message itself is sound already."""
    n_seats = len(game.outcome)
    if not 0 < n_seats <= shape.players:
        return f"{n_seats} seats, the network knows {shape.players}"
    if len(game.features) == 0:
        return None
    if game.features.shape[1] != shape.features or game.features.dtype != feature_dtype:
        wanted = f"{shape.features} of {feature_dtype}"
        return f"{game.features.shape[1]} features of {game.features.dtype}, wanted {wanted}"
    if int(game.legal.max()) >= shape.actions:
        return f"action {game.legal.max()}, there are {shape.actions}"
    return None
