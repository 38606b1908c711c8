"""Whole random games of RingRift: what may never fall, be lost or repeat."""

from itertools import pairwise

import numpy as np
import pytest
from games.contract import CHECKS, Played, random_game

from asyncplay import games
from asyncplay.games.ringrift import decisions, layout
from asyncplay.games.ringrift.decisions import RingRiftPosition
from asyncplay.games.spec import GameSpec, end_reason

SMALL = [("square8", 2), ("square8", 3), ("square8", 4), ("hex8", 2), ("hex8", 3), ("hex8", 4)]
STRANGE = {"board": "square8", "players": 2, "rings": 5, "swap": True, "stack_strike": True, "rounds": 1}
SPECS = {
    f"{board} of {players}": games.load("ringrift", {"board": board, "players": players}) for board, players in SMALL
}
SPECS["all options"] = games.load("ringrift", STRANGE)
LARGE = {board: games.load("ringrift", {"board": board, "players": 2}) for board in ("square19", "hexagonal")}


def measure(position: RingRiftPosition) -> tuple[int, int]:
    """S of section 6, and S + collapsed cells."""
    total = len(position.markers) + len(position.collapsed) + sum(position.credit)
    return total, total + len(position.collapsed)


def positions_of(spec: GameSpec, game: Played) -> list[RingRiftPosition]:
    return [decisions.read(spec, moment.state) for moment in game.moments]


@pytest.mark.parametrize("name", SPECS)
def test_the_measure_never_falls_and_no_ring_is_lost(name):
    spec = SPECS[name]
    for seed in range(4):
        game = random_game(spec, seed)
        seen = positions_of(spec, game)
        for before, after in pairwise(seen):
            assert all(np.greater_equal(measure(after), measure(before)))
        for position in seen:
            on_board = sum(map(len, position.stacks.values()))
            rings = on_board + sum(position.hand) + sum(position.credit)
            assert rings == spec.players * spec.rules[layout.RINGS]


@pytest.mark.parametrize("name", SPECS)
def test_no_position_repeats(name):
    """With player and phase; decisions and turns are counters, so they are left out."""
    spec = SPECS[name]
    for seed in range(4):
        game = random_game(spec, seed)
        states = np.array([moment.state for moment in game.moments])
        states[:, [layout.DECISIONS, layout.TURNS]] = 0
        assert len({state.tobytes() for state in states}) == len(states)


@pytest.mark.parametrize("name", SPECS)
def test_random_games_end_by_their_rules_with_one_winner(name):
    spec = SPECS[name]
    for seed in range(20):
        game = random_game(spec, seed)
        assert end_reason(spec, game.final) != "limit"
        assert (game.returns == 1.0).sum() == 1
        assert decisions.read(spec, game.final).ranks is not None


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", SPECS)
def test_the_contract_holds_with_any_number_of_players_and_all_options(name, check):
    check(SPECS[name])
