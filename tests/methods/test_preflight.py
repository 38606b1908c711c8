"""Whether a run can begin; what is refused is in test_cli.py."""

from pathlib import Path

import pytest

from asyncplay.config.loading import load
from asyncplay.methods import preflight as playable

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("game", ["blob", "connect4", "tictactoe"])
def test_the_default_configuration_serves_every_game_that_is_searched(game):
    """What it says of cards and endings means nothing to a board."""
    playable.require(load(CONFIGS / "default.toml", {"game": {"name": game}}))


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_configuration_can_begin(path):
    playable.require(load(path))
