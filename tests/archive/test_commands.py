"""The commands as a person types them, and the list of runs."""

import json
import shutil
from pathlib import Path

import pytest
from stored import START_S, make_run

from asyncplay import cli
from asyncplay.archive.runs import as_age, list_runs, look
from asyncplay.data import lock
from asyncplay.data.entries import EventEntry
from asyncplay.data.store import FILE


def run_of(folder: Path, n_games: int, last_event: str) -> Path:
    store = make_run(folder, range(n_games))
    store.write([], [EventEntry(START_S + 9, last_event, "said at the end")])
    store.close()
    return folder


def test_stats_are_told_to_people_and_programs(tmp_path, capsys):
    run = run_of(tmp_path / "run", 30, "stop")
    assert cli.main(["data", str(run), "stats"]) == 0
    assert capsys.readouterr().out.startswith("tictactoe: 30 games\ndecisions: mean ")
    assert cli.main(["data", str(run), "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 30


def test_verify_ends_with_0_when_all_is_well_and_with_1_when_it_is_not(tmp_path, capsys):
    run = run_of(tmp_path / "run", 30, "stop")
    assert cli.main(["data", str(run), "verify"]) == 0
    assert capsys.readouterr().out == "30 games played again with the stored result\n"

    data = bytearray((run / FILE).read_bytes())
    data[:100] = bytes(100)
    (run / FILE).write_bytes(data)
    assert cli.main(["data", str(run), "verify"]) == 1
    assert f"`asyncplay data {run} verify --repair` saves what can be saved" in capsys.readouterr().out
    assert cli.main(["data", str(run), "verify", "--repair", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["repaired"]["games"] == 30
    assert Path(told["old"]).read_bytes() == data
    assert cli.main(["data", str(run), "verify"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["data", "{tmp}/nowhere", "stats"], "{tmp}/nowhere/run.sqlite: there is no store"),
        (["data", "{tmp}/nowhere", "verify"], "{tmp}/nowhere/run.sqlite: there is no store"),
        (["data", "{tmp}/junk", "stats"], "{tmp}/junk/run.sqlite is damaged"),
        (["data", "{tmp}", "stast"], "stast cannot be done to the data of a run; did you mean stats?"),
        (["runs", "{tmp}/nowhere"], "{tmp}/nowhere: no such folder"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(words, told, tmp_path, capsys):
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / FILE).write_bytes(b"junk" * 1000)
    assert cli.main([word.format(tmp=tmp_path) for word in words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"asyncplay: {told.format(tmp=tmp_path)}")


def test_every_state_of_a_run_is_told(tmp_path, capsys):
    run_of(tmp_path / "stopped", 20, "stop")
    run_of(tmp_path / "killed", 30, "start")
    run_of(tmp_path / "damaged", 10, "stop")
    (tmp_path / "damaged" / FILE).write_bytes(b"junk" * 1000)
    rolled_back = run_of(tmp_path / "rolled", 10, "stop")
    shutil.copyfile(rolled_back / FILE, tmp_path / "old")
    run_of(rolled_back, 20, "stop")
    shutil.copyfile(tmp_path / "old", rolled_back / FILE)
    run_of(tmp_path / "running", 10, "start")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.toml").write_text('[game]\nname = "synthetic"\n')
    (tmp_path / "no run").mkdir()

    with lock.hold(tmp_path / "running"):
        assert cli.main(["runs", str(tmp_path), "--json"]) == 0
    told = {Path(run["run"]).name: run for run in json.loads(capsys.readouterr().out)}

    assert {name: (run["state"], run["games"]) for name, run in told.items()} == {
        "stopped": ("stopped", 20),
        "killed": ("killed", 30),
        "damaged": ("damaged", None),
        "rolled": ("damaged", 10),
        "running": ("running", 10),
        "empty": ("empty", None),
    }
    assert "10 games are lost" in told["rolled"]["note"]
    assert told["stopped"]["version"] == 2


def test_the_list_is_a_table_newest_first(tmp_path, capsys):
    run_of(tmp_path / "one", 10, "stop")
    assert cli.main(["runs", str(tmp_path)]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    assert heads.split() == ["run", "state", "game", "games", "version", "age"]
    assert row.split()[1:5] == ["stopped", "tictactoe", "10", "2"]
    assert list_runs(tmp_path, now_s=0.0)[0].age_s == 0.0


def test_looking_at_a_run_changes_nothing_of_it(tmp_path):
    run = run_of(tmp_path / "run", 10, "stop")
    before = (run / FILE).read_bytes()
    look(run, now_s=0.0)
    assert (run / FILE).read_bytes() == before
    assert not (run / "lock").exists()


@pytest.mark.parametrize(("seconds", "told"), [(5, "5 s"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")])
def test_ages_are_told_in_the_largest_unit(seconds, told):
    assert as_age(seconds) == told


def test_games_are_listed_with_their_sizes(capsys):
    """Tic-tac-toe: 9 cells, two planes of them; connect four: 7 columns, two planes of 42."""
    assert cli.main(["games", "--json"]) == 0
    sizes = {
        one["game"]: (one["players"], one["actions"], one["features"]) for one in json.loads(capsys.readouterr().out)
    }
    assert (sizes["tictactoe"], sizes["connect4"]) == ((2, 9, 18), (2, 7, 84))
    assert cli.main(["games"]) == 0
    assert "tictactoe" in capsys.readouterr().out
