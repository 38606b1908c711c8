"""Every game keeps the contract."""

from dataclasses import replace

import numpy as np
import pytest
from games import blob_twin, meadow, pig

from asyncplay import games
from asyncplay.games.contract import CHECKS, check_symmetries_commute_with_play_and_encode
from asyncplay.games.spec import GameSpec
from asyncplay.starter.package import rules as starter

SPECS = {name: games.load(name) for name in games.NAMES} | {
    f"pig of {players}": pig.spec(players=players) for players in (2, 8)
}
SPECS |= {
    "blob with hidden hands": games.load("blob", {"players": 3}).showing(hidden=True),
    "blob of 8": games.load("blob", {"players": 8, "cards": 6}),
    "whole game of blob": games.load("blob", {"players": 3, "cards": 3, "whole": True}),
}
SPECS["meadow"] = meadow.spec()
SPECS["the game of a new package"] = starter.spec(size=4, line=3, misere=True)
SPECS |= {
    "holdem of 6": games.load("holdem", {"players": 6, "stacks": "200/30/3/90/57/200"}),
    "holdem with 24 cards": games.load("holdem", {"players": 3, "small_blind": 5, "big_blind": 10, "deck": 24}),
}
SPECS |= {
    "treasurehunt": games.load("treasurehunt", {"turns": 8}),
    "shuffled treasurehunt": games.load("treasurehunt", {"players": 8, "size": 7, "turns": 3, "shuffled": True}),
}
SPECS |= {f"{name} of 3": games.load(name, {"players": 3}) for name in ("kuhn", "leduc")}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", SPECS)
def test_the_contract_holds(name, check):
    spec = SPECS[name]
    if spec.name == "blob" and check is check_symmetries_commute_with_play_and_encode:
        check(spec, blob_twin.turned)
    else:
        check(spec)


SPOILT = {
    "a game of more decisions than max_decisions": {"max_decisions": 5},
    "a legal action that is not below actions": {"actions": 8},
    "scaled returns beyond -1 .. 1": {"value_scale": 2.0},
    "planes and features do not agree": {"planes": (3, 3, 3)},
    "a feature beyond 1.5, or not written": {"features": 19},
    "encode has the signature": {"feature_dtype": np.float32},
}


def check_all(spec: GameSpec) -> None:
    for check in CHECKS:
        check(spec)


@pytest.mark.parametrize("words", SPOILT)
def test_a_game_that_breaks_the_contract_is_told_how(words):
    """Most of all for the authors of other packages, whose tests these checks are."""
    with pytest.raises(AssertionError, match=f"^{words}"):
        check_all(replace(SPECS["tictactoe"], **SPOILT[words]))
