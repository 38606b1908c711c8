"""Games by name."""

import subprocess
import sys

import pytest

from asyncplay import games
from asyncplay.errors import AsyncplayError


@pytest.mark.parametrize("name", games.NAMES)
def test_a_game_is_found_by_its_name(name):
    assert games.load(name).name == name


def test_an_unknown_game_names_the_nearest():
    with pytest.raises(AsyncplayError, match=r"'conect4' is no game, did you mean 'connect4'"):
        games.load("conect4")


def test_an_unknown_option_is_refused():
    with pytest.raises(AsyncplayError, match=r"'players' is no option of connect4: it has none"):
        games.load("connect4", {"players": 3})


@pytest.mark.process
def test_names_are_listed_without_loading_numba():
    code = "import sys; from asyncplay import games; sys.exit('numba' in sys.modules or not games.NAMES)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
