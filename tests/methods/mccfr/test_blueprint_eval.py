"""``asyncplay eval`` of a run of hold'em."""

import json

import numpy as np
import pytest
from methods.mccfr.holdem_runs import small_config
from methods.mccfr.test_tabular import solve

from asyncplay import games
from asyncplay.cli import main
from asyncplay.config.loading import dump
from asyncplay.games.holdem.yardsticks import YARDSTICKS
from asyncplay.rating.hands import result
from asyncplay.solve.abstraction.match import PlayedHands


def ask(capsys, *words: object) -> dict:
    assert main(["eval", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_run_plays_every_simple_player_unless_told_otherwise(holdem_run, capsys):
    found = ask(capsys, holdem_run, "--games", 2001)
    assert (found["game"], found["iterations"], found["purified"]) == ("holdem", 3000, False)
    assert [row["against"] for row in found["rows"]] == list(YARDSTICKS)
    for row in found["rows"]:
        assert row["hands"] == 2002
        assert row["interval"][0] < row["bb_per_100"] < row["interval"][1]
    assert ask(capsys, holdem_run, "--games", 2001) == found


def test_a_run_against_itself_wins_nothing_and_purified_something_else(holdem_run, capsys):
    (row,) = ask(capsys, holdem_run, "--against", holdem_run, "--games", 400)["rows"]
    assert (row["bb_per_100"], row["interval"], row["translated"], row["out_of_step"]) == (0.0, [0.0, 0.0], 0.0, 0.0)
    found = ask(capsys, holdem_run, "--against", holdem_run, "--games", 400, "--purified")
    assert found["purified"]
    assert found["rows"][0]["bb_per_100"] != 0.0


def test_winnings_are_in_big_blinds_a_hundred_hands():
    """Gains of 1 and 3 chips a hand, blinds 1/2: mean 2 chips, one big blind a hand; deviation sqrt(2)."""
    played = PlayedHands(np.array([1.0, 3.0]), np.array([10, 2, 1]), np.zeros(3, np.int64))
    found = result(games.load("holdem"), played)
    assert (found["hands"], found["bb_per_100"], found["translated"], found["out_of_step"]) == (4, 100.0, 0.2, 0.1)
    assert found["interval"] == pytest.approx([100 - 1.96 * 50, 100 + 1.96 * 50])
    assert found["hands_for_10_bb"] == 2 * 193  # (1.96 * 70.71 / 10)^2 = 192.1 deals, each in both seats


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--against", "tigth"], "is no opponent and no folder of a run, did you mean 'tight'?"),
        (["--simulations", "3"], "--simulations: "),
        (["--version", "3"], "is a blueprint, which only looks things up; leave it out"),
        (["--option", "stack=40"], "the table of"),
    ],
)
def test_what_a_blueprint_cannot_be_asked_is_one_line(holdem_run, words, complaint, capsys):
    assert main(["eval", str(holdem_run), *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert complaint in lines[0]


def test_a_run_of_other_stacks_or_another_abstraction_does_not_play(holdem_run, tmp_path, capsys):
    deeper = small_config(holdem_run.parent / "drawn.buckets", units=20, game={"options": {"stack": 16, "deck": 24}})
    solve(deeper, tmp_path / "deeper")
    (tmp_path / "deeper" / "config.toml").write_text(dump(deeper))
    assert main(["eval", str(holdem_run), "--against", str(tmp_path / "deeper")]) == 2
    assert "its blinds, stacks, seats or deck are others" in capsys.readouterr().err
    (tmp_path / "deeper" / "config.toml").write_text((holdem_run / "config.toml").read_text())
    assert main(["eval", str(tmp_path / "deeper")]) == 2
    assert "is of another abstraction than" in capsys.readouterr().err


def test_a_damaged_policy_is_one_line(holdem_run, tmp_path, capsys):
    (tmp_path / "policies").mkdir()
    (tmp_path / "config.toml").write_text((holdem_run / "config.toml").read_text())
    assert main(["eval", str(tmp_path)]) == 2
    assert "has no policy yet" in capsys.readouterr().err
    (whole,) = (holdem_run / "policies").iterdir()
    for data in (b"", whole.read_bytes()[:300], b"\xff" * 400, (2).to_bytes(8, "little") + b"[]"):
        (tmp_path / "policies" / whole.name).write_bytes(data)
        assert main(["eval", str(tmp_path)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert "is damaged: it is no policy of a blueprint" in lines[0]
