"""Runs that version 0.1 left behind: what is installed now reads them and goes on with them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from asyncplay.cli import main

OLD_RUNS = Path(__file__).parent / "golden" / "run-0.1"
N_GAMES, LAST_VERSION = 40, 16  # of the neural run when it ended
N_ITERATIONS, NASH_CONV = 400, 0.16592  # of the tabular one, as its log of events says
pytestmark = pytest.mark.timeout(400)  # kernels may have to be compiled first


@pytest.fixture
def neural(tmp_path) -> Path:
    return Path(shutil.copytree(OLD_RUNS / "neural", tmp_path / "runs" / "neural"))


@pytest.fixture
def tabular(tmp_path) -> Path:
    return Path(shutil.copytree(OLD_RUNS / "tabular", tmp_path / "runs" / "tabular"))


def told(capsys, *words: object):
    """What a command prints as JSON."""
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def resume(run: Path, n_units: int, capsys) -> list[str]:
    """Go on to ``n_units`` in all; return the lines it says."""
    capsys.readouterr()
    assert main(["train", "--resume", str(run), "--headless", "--train.units", str(n_units)]) == 0
    return capsys.readouterr().err.splitlines()


def is_settled(said: list[str], n_units: int) -> bool:
    return any(f": issued {n_units} = done {n_units} + lost 0 + outstanding 0" in line for line in said)


def test_an_old_neural_run_goes_on_from_its_checkpoint_with_all_of_its_games(neural, capsys):
    said = resume(neural, N_GAMES + 8, capsys)

    assert "going on from checkpoint 000001" in said
    assert is_settled(said, N_GAMES + 8)
    assert told(capsys, "data", neural, "verify") == {"run": str(neural), "sound": N_GAMES + 8, "flaws": []}
    (listed,) = told(capsys, "runs", neural.parent)
    assert (listed["state"], listed["games"]) == ("stopped", N_GAMES + 8)
    assert listed["version"] > LAST_VERSION


def test_an_old_tabular_run_goes_on_from_its_checkpoint_with_all_of_its_iterations(tabular, capsys):
    said = resume(tabular, N_ITERATIONS + 100, capsys)

    assert "going on from checkpoint 000001" in said
    assert is_settled(said, N_ITERATIONS + 100)
    found = told(capsys, "eval", tabular)
    assert (found["iterations"], found["checkpoint"]) == (N_ITERATIONS + 100, 2)
    assert 0 < found["nash_conv"] < NASH_CONV


def test_only_the_keys_that_a_flag_changes_are_said_to_differ(neural, capsys):
    """Keys that came or went with a version are no change of the run, and nothing is refused for them."""
    said = resume(neural, N_GAMES + 8, capsys)
    start = said.index("going on from checkpoint 000001")
    assert said[start + 1] == f"train.units: {N_GAMES} -> {N_GAMES + 8}"
    assert [line for line in said if " -> " in line] == [said[start + 1]]


def test_every_game_of_an_old_run_is_sound(neural, capsys):
    assert told(capsys, "data", neural, "verify") == {"run": str(neural), "sound": N_GAMES, "flaws": []}
    assert told(capsys, "data", neural, "stats")["games"] == N_GAMES


def test_every_game_of_an_old_run_is_exported(neural, tmp_path, capsys):
    assert main(["data", str(neural), "export", "--out", str(tmp_path / "games.npz")]) == 0
    assert capsys.readouterr().err == f"{N_GAMES} games in {tmp_path / 'games.npz'}\n"
    with np.load(tmp_path / "games.npz") as arrays:
        assert len(arrays["number"]) == N_GAMES
        assert np.array_equal(np.unique(arrays["returns"]), [-1.0, 0.0, 1.0])


@pytest.mark.parametrize(("kind", "game"), [("neural", "tictactoe"), ("tabular", "kuhn")])
def test_an_old_run_is_reported_as_a_page_that_names_its_game(kind, game, request, tmp_path, capsys):
    assert main(["report", str(request.getfixturevalue(kind)), "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert game in page


def test_the_latest_weights_of_an_old_run_play(neural, capsys):
    found = told(capsys, "eval", neural, "--games", 4, "--simulations", 2)
    assert (found["version"], found["games"]) == (LAST_VERSION, 4)


def test_an_old_policy_is_as_far_from_equilibrium_as_it_was_said_to_be(tabular, capsys):
    found = told(capsys, "eval", tabular)
    assert found["iterations"] == N_ITERATIONS
    assert found["nash_conv"] == pytest.approx(NASH_CONV, abs=1e-5)


def test_old_runs_are_listed_as_stopped_with_their_games(neural, tabular, capsys):
    listed = {Path(one["run"]).name: one for one in told(capsys, "runs", neural.parent)}
    assert {name: (one["state"], one["game"], one["games"], one["version"]) for name, one in listed.items()} == {
        "neural": ("stopped", "tictactoe", N_GAMES, LAST_VERSION),
        "tabular": ("stopped", "kuhn", 0, None),
    }


def test_an_old_run_with_beliefs_about_hidden_cards_is_refused_in_one_line(neural, capsys):
    path = neural / "config.toml"
    path.write_text(path.read_text().replace("belief = false", "belief = true"))
    capsys.readouterr()
    assert main(["train", "--resume", str(neural), "--headless"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"asyncplay: {path}: net.belief is true: beliefs about hidden cards are no longer learned; ")


def test_a_network_with_beliefs_under_a_configuration_without_is_named_as_damage(neural, capsys):
    path = neural / "net.json"
    path.write_text(path.read_text().replace('"beliefs": 0', '"beliefs": 104'))
    capsys.readouterr()
    assert main(["eval", str(neural), "--games", "2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"asyncplay: {path} is damaged: its network is not that of {neural / 'config.toml'}"
