"""``asyncplay data RUN show``: stored games of every kind, printed, drawn and stepped through."""

import io
import sys
from xml.etree import ElementTree

import pytest
from archive.trained import answer
from stored import make_run

from asyncplay import games
from asyncplay.archive.showing import ShownGame
from asyncplay.cli.dialogue import STEPS, step_through


@pytest.fixture
def tictactoe(tmp_path):
    make_run(tmp_path / "run", range(3)).close()
    return tmp_path / "run"


@pytest.mark.parametrize("name", games.NAMES)
def test_a_stored_game_of_every_kind_is_printed_and_drawn(name, tmp_path):
    run, file = tmp_path / "run", tmp_path / "game.svg"
    make_run(run, range(2), game=name).close()
    shown = ShownGame(run, 2, viewer=0)
    status, said = answer("data", run, "show", "2", "--decision", 1)
    assert status == 0
    assert said.startswith(f"game 2 of {name}, decision 1 of {shown.n_decisions}\n")
    assert answer("data", run, "show", "--game", 2, "--seat", 0) == (0, f"{shown.text(shown.n_decisions)}\n")
    assert answer("data", run, "show", "--svg", file) == (0, f"game 2 in {file}\n")
    ElementTree.fromstring(file.read_text())


def test_a_seat_sees_its_own_cards_alone(tmp_path):
    make_run(tmp_path / "run", range(1), game="blob").close()
    whole, seat = ShownGame(tmp_path / "run", 1), ShownGame(tmp_path / "run", 1, viewer=2)
    assert (whole.text(0).count("??"), seat.text(0).count("??")) == (0, 15)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["7"], "{run}: there is no game 7; `asyncplay data {run} stats` counts them"),
        (["one"], "the number is one, must be a whole number from 1 to 1099511627776"),
        (["--seat", "2"], "--seat is 2, must be 0 to 1"),
        (["1", "--decision", "99"], "--decision is 99, game 1 has 9"),
        (["--svg", "{run}/no/such.svg"], "--svg {run}/no/such.svg: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line(words, said, tictactoe):
    status, found = answer("data", tictactoe, "show", *(word.format(run=tictactoe) for word in words))
    assert (status, found) == (2, f"asyncplay: {said.format(run=tictactoe)}\n")


def test_steps_lead_through_a_game_and_wrong_ones_are_one_line(tictactoe, monkeypatch, capsys):
    shown = ShownGame(tictactoe, 1)
    last = shown.n_decisions
    monkeypatch.setattr(sys, "stdin", io.StringIO("\nnext\nb\n99\nup\nl\nn\nf\nback\n3\nquit\n1\n"))
    step_through(shown, 0)
    parts = capsys.readouterr().out.split(f"{STEPS} > ")
    nowhere = f"; this game has 0 to {last}"
    assert [part.partition("\n")[2].rstrip("\n") for part in parts[1:-1]] == [
        shown.text(1),
        shown.text(2),
        shown.text(1),
        f"there is no position 99{nowhere}",
        f"'up' is no step; wanted is one of: {STEPS}",
        shown.text(last),
        f"there is no position {last + 1}{nowhere}",
        shown.text(0),
        f"there is no position -1{nowhere}",
        shown.text(3),
    ]
    assert parts[0].rstrip("\n") == shown.text(0)
    assert parts[-1] == "quit\n"
