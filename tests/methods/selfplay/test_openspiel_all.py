"""Every sequential game of OpenSpiel with perfect information plays through the real pools, or is refused."""

import json
from pathlib import Path

import pytest
from methods.selfplay.test_slow_run import SMALL, answer

pyspiel = pytest.importorskip("pyspiel")
pytestmark = [pytest.mark.exhaustive, pytest.mark.process]

N_GAMES = 20
LONGEST = 60  # decisions, of games that may go on for thousands
REFUSED = {
    "2048": "is for 1 player(s)",
    "catch": "is for 1 player(s)",
    "cliff_walking": "is for 1 player(s)",
    "morpion_solitaire": "is for 1 player(s)",
    "stones_and_gems": "does not list what chance may bring",
}
DOCS = Path(__file__).parents[3] / "docs" / "other-games.md"


def names() -> list[str]:
    kinds = pyspiel.GameType
    return [
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.default_loadable
        and kind.dynamics == kinds.Dynamics.SEQUENTIAL
        and kind.information == kinds.Information.PERFECT_INFORMATION
    ]


@pytest.mark.parametrize("name", names())
def test_a_game_with_perfect_information_plays_twenty_games(name, tmp_path):
    run = tmp_path / "run"
    changes = {"search.simulations": "3", "search.games": "10", "learn.minimum-rows": "100000", "pool.workers": "1"}
    settings = SMALL | changes
    words = [word for key, value in settings.items() for word in (f"--{key}", value)]
    words += ["--option", f"longest={LONGEST}", "--games", N_GAMES, "--headless", "--run", run]
    status, told = answer("train", "smoke", "--game", f"openspiel:{name}", *words)
    if name in REFUSED:
        assert (status, len(told.strip().splitlines())) == (2, 1)
        assert REFUSED[name] in told
        assert f"`{name}`" in DOCS.read_text()
        return
    assert status == 0, told
    counted = answer("data", run, "stats", "--json")[1].splitlines()[0]  # a warning about the limit may follow
    assert json.loads(counted)["games"] == N_GAMES
    status, told = answer("data", run, "verify")
    assert status == 0, told


def test_there_are_as_many_such_games_as_the_docs_say():
    assert len(names()) - len(REFUSED) == 37
