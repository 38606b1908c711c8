"""Games played again: honest ones pass, and every lie is named."""

import json

import numpy as np
import pytest
from games import pig
from stored import random_game

from asyncplay import games
from asyncplay.archive.replaying import Referee
from asyncplay.data.reader import StoredGame
from asyncplay.data.store import record_of, row_crc
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import pack, unpack


def stored(spec: GameSpec, unit: int, **lies: object) -> StoredGame:
    """A random game as the store has it, with some columns replaced and a checksum that fits them."""
    entry = random_game(spec, unit)
    record = record_of(entry.game)
    versions = record.versions.tolist()
    game = StoredGame(
        1,
        unit,
        entry.time_s,
        entry.worker,
        entry.game.seed,
        len(entry.game.returns),
        len(record.actions),
        entry.game.reason,
        json.dumps(entry.game.returns.tolist()),
        json.dumps(entry.game.outcome.tolist()),
        min(versions, default=None),
        max(versions, default=None),
        0,
        len(record.decisions),
        pack(record),
        0,
    )._replace(**lies)
    return game._replace(crc=row_crc(game[:-1]))


SPECS = {
    "tictactoe": games.load("tictactoe"),
    "connect4": games.load("connect4"),
    "blob": games.load("blob", {"players": 3, "cards": 2, "whole": True}),
    "pig": pig.spec(players=3),
}


@pytest.mark.parametrize("name", SPECS)
def test_honest_games_pass(name):
    """Pig has chance, several decisions in a row, rewards on the way and a limit; a whole game of Blob has stages, and
    an outcome that is no multiple of its returns."""
    referee, spec = Referee(SPECS[name]), SPECS[name]
    assert [flaw for unit in range(60) if (flaw := referee.flaw(stored(spec, unit)))] == []


def test_a_game_of_pig_that_hits_the_limit_says_so():
    reasons = {random_game(SPECS["pig"], unit).game.reason for unit in range(200)}
    assert reasons == {"rules", "limit"}


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ({"returns": "[7.0, -7.0]"}, "its returns is stored as [7.0, -7.0], played again it is"),
        ({"outcome": "[0.5, -0.5]"}, "its outcome is stored as"),
        ({"length": 3}, "its length is stored as 3"),
        ({"reason": "limit"}, "its reason is stored as limit, played again it is rules"),
        ({"seats": 3}, "its seats is stored as 3, its returns are 2"),
        ({"rows": 99}, "its rows is stored as 99"),
        ({"lowest_version": 9}, "its lowest version is stored as 9"),
        ({"record": b"abc"}, "a record of 3 bytes has no head"),
    ],
)
def test_a_column_that_lies_is_named(lie, told):
    spec = SPECS["tictactoe"]
    assert Referee(spec).flaw(stored(spec, 5, **lie)).startswith(told)


def altered(unit: int, **columns: np.ndarray) -> StoredGame:
    spec = SPECS["tictactoe"]
    record = record_of(random_game(spec, unit).game)
    return stored(spec, unit, record=pack(record._replace(**columns)))


def test_a_record_that_lies_is_named():
    spec = SPECS["tictactoe"]
    referee, record = Referee(spec), record_of(random_game(spec, 5).game)
    again = record.actions.copy()
    again[2] = again[0]
    assert referee.flaw(altered(5, actions=again)) == f"decision 2 is {again[0]}, which is not legal there"
    assert referee.flaw(altered(5, actions=record.actions[:-1])).startswith("it is not over after")
    assert "is stored for seat" in referee.flaw(altered(5, seats=1 - record.seats))
    taken = record.policy_actions.copy()
    taken[0] = record.actions[0]
    assert "has a policy with an action that is not legal" in referee.flaw(altered(5, policy_actions=taken))


def test_without_its_checksum_nothing_is_believed():
    game = stored(SPECS["tictactoe"], 5)
    assert Referee(SPECS["tictactoe"]).flaw(game._replace(crc=game.crc ^ 1)).startswith("its checksum is wrong")
    assert Referee(SPECS["tictactoe"]).flaw(game._replace(record=5)).startswith("its checksum is wrong")
    assert unpack(game.record).actions.size == game.length
