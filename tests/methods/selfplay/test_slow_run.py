"""Runs of other people's games, by the commands that people use."""

import contextlib
import io
import json

import pytest

from asyncplay import cli
from asyncplay.rundir.weights import versions

pytest.importorskip("pyspiel")
pytestmark = pytest.mark.filterwarnings("ignore")  # of other people's packages

SMALL = {
    "search.games": "4",
    "search.simulations": "6",
    "search.cache-positions": "1000",
    "net.kind": "mlp",
    "net.width": "16",
    "net.blocks": "1",
    "learn.minimum-rows": "40",
    "learn.batch-rows": "32",
    "learn.publish-steps": "2",
    "device.backend": "torch",
    "device.threads": "1",
    "arena.every-s": "0",
    "store.durability": "process",
    "pool.workers": "2",
}


def answer(*words: object) -> tuple[int, str]:
    """Exit status and what was printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = cli.main([str(word) for word in words])
    return status, out.getvalue()


def flags(**changes: str) -> list[str]:
    settings = SMALL | {name.replace("__", "."): value for name, value in changes.items()}
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


@pytest.mark.slow
@pytest.mark.process
def test_a_game_of_openspiel_is_trained_verified_resumed_and_met_like_our_own(tmp_path):
    """With dice, through real processes; another process goes on where the first one stopped."""
    run = tmp_path / "run"
    game = ["--game", "openspiel:pig(winscore=15)", "--option", "longest=60"]
    status, told = answer("train", "smoke", *game, "--run", run, "--headless", "--games", 30, *flags())
    assert status == 0, told
    assert answer("data", run, "verify")[0] == 0
    status, told = answer("train", "--resume", run, "--headless", "--games", 40)
    assert status == 0, told
    status, told = answer("data", run, "stats", "--json")
    assert json.loads(told)["games"] == 40
    status, told = answer("data", run, "verify")
    assert status == 0, told
    for rival in ("mcts-10", "openspiel:mcts-10", min(versions(run))):
        status, told = answer("eval", run, "--against", rival, "--games", 4, "--simulations", 4, "--json")
        assert status == 0, told
        assert json.loads(told[told.index("{") :])["games"] == 4


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("pettingzoo:pettingzoo.classic.tictactoe_v3", marks=pytest.mark.slow),
        pytest.param("openspiel:leduc_poker", marks=pytest.mark.slow),
        pytest.param("openspiel:connect_four(rows=4,columns=4,x_in_row=3)", marks=pytest.mark.slow),
        "python:games.nim:LuckyNim",
    ],
)
def test_every_door_of_the_slow_lane_leads_to_a_run_that_verifies(name, tmp_path):
    kind = "resnet" if "connect_four" in name else "mlp"
    words = ["--headless", "--games", 12, *flags(pool__kind="inline", net__kind=kind)]
    status, told = answer("train", "smoke", "--game", name, "--run", tmp_path / "run", *words)
    assert status == 0, told
    assert answer("data", tmp_path / "run", "verify")[0] == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--game", "openspiel:breaktrough"], "did you mean 'breakthrough'?"),
        (["--game=openspiel:liars_dice"], "openspiel:liars_dice has no tree search: OpenSpiel cannot draw"),
        (["--game", "openspiel:goofspiel"], "its players move at the same time"),
        (["--game", "openspiel:hex(board_size=3)", "--game.name", "hex"], "game.name"),
        (["--game", "openspiel:nim", "--net.kind", "resnet"], "openspiel:nim has no board; use mlp"),
        (["--game", "openspiel:hex", "--option", "longest=x"], "option longest of openspiel:hex is x"),
    ],
)
def test_a_mistake_about_such_a_game_is_one_line_and_status_2(words, line, tmp_path):
    status, told = answer("train", "smoke", *words, "--run", tmp_path / "run", "--headless")
    assert status == 2
    assert len(told.strip().splitlines()) == 1
    assert line in told
    assert not (tmp_path / "run").exists()


def test_a_small_game_of_openspiel_is_solved_by_table(tmp_path):
    run = tmp_path / "run"
    words = ["--game", "openspiel:kuhn_poker", "--pool.kind", "inline", "--pool.workers", 1, "--headless"]
    status, told = answer("train", "kuhn", *words, "--iters", 4000, "--run", run)
    assert status == 0, told
    status, told = answer("eval", run, "--json")
    assert status == 0, told
    assert json.loads(told[told.index("{") :])["nash_conv"] < 0.2
