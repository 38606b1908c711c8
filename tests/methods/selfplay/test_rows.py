from dataclasses import replace

import numpy as np
import pytest

from asyncplay.methods.selfplay.games import examples_of, misfit
from asyncplay.methods.selfplay.messages import Game
from asyncplay.model.shape import NetShape

SHAPE = NetShape("mlp", features=2, actions=10, players=4)
GAME = Game(
    job=1,
    unit=7,
    seed=0,
    reason="won",
    returns=np.array([3.0, 0.0, -3.0]),
    outcome=np.array([1.0, 0.25, -1.0], np.float32),
    actions=np.array([4, 5, 6, 9], np.int32),
    decisions=np.array([0, 1, 3], np.int32),
    seats=np.array([0, 1, 2], np.int8),
    versions=np.array([5, 5, 6], np.int32),
    features=np.array([[1, 2], [3, 4], [5, 6]], np.uint8),
    legal=np.array([4, 5, 9, 9], np.int32),
    offsets=np.array([0, 1, 3, 4], np.int32),
    targets=np.array([1, 0.5, 0.5, 1], np.float32),
    values=np.array([[1, 0.25, -1], [0.25, -1, 1], [-1, 1, 0.25]], np.float32),
    states=np.empty((3, 0), np.int64),
)


def test_seats_that_a_game_lacks_are_filled_with_zeros():
    """Three seats on a network for four."""
    rows = examples_of(GAME, 4)
    assert rows.values.tolist() == [[1, 0.25, -1, 0], [0.25, -1, 1, 0], [-1, 1, 0.25, 0]]
    assert rows.seats.tolist() == [3, 3, 3]


def test_everything_else_of_a_row_is_as_it_was_sent():
    rows = examples_of(GAME, 3)
    assert rows.features is GAME.features
    assert rows.part(1, 2).legal.tolist() == [5, 9]
    assert rows.part(1, 2).targets.tolist() == [0.5, 0.5]
    assert rows.versions.tolist() == [5, 5, 6]
    assert rows.weight.tolist() == [1, 1, 1]


def test_a_game_for_this_network_fits():
    assert misfit(GAME, SHAPE, np.dtype(np.uint8)) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"features": np.zeros((3, 5), np.uint8)}, "5 features of uint8, wanted 2 of uint8"),
        ({"features": np.zeros((3, 2), np.float32)}, "2 features of float32, wanted 2 of uint8"),
        ({"outcome": np.zeros(5, np.float32)}, "5 seats, the network knows 4"),
        ({"outcome": np.zeros(0, np.float32)}, "0 seats"),
        ({"legal": np.array([4, 5, 10, 9], np.int32)}, "action 10, there are 10"),
    ],
)
def test_a_game_for_another_network_is_told_why_not(change, why):
    assert why in (misfit(replace(GAME, **change), SHAPE, np.dtype(np.uint8)) or "")
