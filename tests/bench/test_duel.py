"""Two ways to think with the same weights, in this process, every game repeatable."""

from pathlib import Path

import numpy as np
import pytest

from asyncplay import cli
from asyncplay.bench import values
from asyncplay.bench.duel import DuelProgress, measure
from asyncplay.config.loading import load
from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.methods.selfplay.network import load_game, save_weights
from asyncplay.methods.sizes import net_shape
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import snapshot
from asyncplay.rundir.resume import write_config

SMOKE = Path(__file__).parents[2] / "configs" / "smoke.toml"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of tic-tac-toe whose network has learned nothing."""
    sections = {
        "pool": {"kind": "inline", "workers": "2"},
        "search": {"simulations": "10"},
        "device": {"backend": "torch", "threads": "1"},
    }
    config = load(SMOKE, sections)
    shape = net_shape(config, load_game(config))
    write_config(config, tmp_path)
    save_weights(tmp_path, 7, snapshot(build_net(shape, 1)), shape)
    return tmp_path


def test_who_thinks_alike_wins_and_loses_alike(run):
    """Every opening is played from both seats by the same thoughts: nothing is left of luck, but for the last digits
    of an answer, which may depend on who else is in the batch."""
    result = measure(run, rounds=39)

    assert (result["rounds"], result["version"]) == (40, 7)
    assert abs(result["score_difference"]) <= 0.05
    assert result["low"] < 0 < result["high"]


def test_sixty_simulations_beat_two_by_more_than_chance(run):
    few, many = ("search.simulations=2",), ("search.simulations=60",)
    won = measure(run, hero=many, rival=few, rounds=40)
    lost = measure(run, hero=few, rival=many, rounds=40)

    assert won["low"] > 0.2
    assert lost["high"] < -0.2
    assert (won["hero"], won["rival"]) == (many[0], few[0])


def test_each_side_has_its_own_backend(run):
    """Both compute the same network, to the last digits."""
    result = measure(run, hero=["device.backend=onnx-fp32"], rounds=8)

    assert (result["hero_backend"], result["rival_backend"]) == ("onnx-fp32 x1", "torch-cpu x1")
    assert abs(result["score_difference"]) < 0.3


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("search.leaves", "--hero search.leaves: must be KEY=VALUE"),
        ("leaves=8", "--hero leaves=8: must be KEY=VALUE"),
        ("net.width=8", "--hero net.width=8: the sides differ in keys of search and device alone"),
        ("search.leaves=0", "--search.leaves is 0, must be at least 1"),
    ],
)
def test_a_change_that_cannot_be_is_named(run, change, complaint):
    with pytest.raises((AsyncplayError, ConfigError)) as caught:
        measure(run, hero=[change], rounds=2)
    assert complaint in str(caught.value)


@pytest.fixture
def blob_runs(tmp_path: Path) -> dict[bool, Path]:
    """Two runs of small Blob, whose networks have learned nothing: one whose values see hidden hands, and one blind."""
    folders = {hidden: tmp_path / str(hidden) for hidden in (True, False)}
    for hidden, folder in folders.items():
        folder.mkdir()
        text = (
            f'[game]\nname = "blob"\noptions = {{ players = 3, cards = 2 }}\n'
            f"[search]\nsimulations = 6\nworlds = 2\n"
            f'[net]\nkind = "mlp"\nwidth = 8\nblocks = 1\nhidden_features = {str(hidden).lower()}\n'
            f'[pool]\nkind = "inline"\nworkers = 2\n[device]\nbackend = "torch"\nthreads = 1\n'
        )
        (folder / "given.toml").write_text(text)
        config = load(folder / "given.toml", {})
        shape = net_shape(config, load_game(config))
        write_config(config, folder)
        save_weights(folder, 1 + hidden, snapshot(build_net(shape, 1)), shape)
    return folders


def test_a_seeing_run_meets_a_blind_one(blob_runs):
    """Neither has an opinion, and a deal is played from every seat: hardly a difference."""
    result = measure(blob_runs[True], against=blob_runs[False], rounds=12)
    assert (result["rounds"], result["version"], result["against_version"]) == (12, 2, 1)
    assert (result["run"], result["against"]) == (str(blob_runs[True]), str(blob_runs[False]))
    assert abs(result["score_difference"]) < 2


def test_runs_of_two_games_do_not_meet(run, blob_runs):
    with pytest.raises(AsyncplayError, match=f"--against {run}: its game is not that of "):
        measure(blob_runs[True], against=run, rounds=12)
    with pytest.raises(AsyncplayError, match=f"--played-by {run}: its game is not that of "):
        values.measure(blob_runs[True], played_by=run, games=2)


def test_values_that_know_nothing_explain_nothing(blob_runs):
    """An untrained network says 0, which is no better than the mean; both kinds judge the same games."""
    found = [values.measure(blob_runs[hidden], played_by=blob_runs[False], games=40) for hidden in (True, False)]
    assert found[0]["rows"] == found[1]["rows"]
    assert found[0]["examples"] == found[1]["examples"] > 40
    assert [row["seat"] for row in found[0]["rows"]] == [0, 1, 2]
    assert all(row["r2"] <= 0 < row["loss"] for row in found[0]["rows"])


def test_progress_is_told_every_twenty_seconds_and_not_oftener():
    times_s, lines = iter(np.arange(0.0, 60.0, 5.0)), []
    progress = DuelProgress(lines.append, lambda: next(times_s))
    for done in range(1, 11):
        progress(done, 20)
    assert lines == ["4 of 20 rounds, 20 s so far", "8 of 20 rounds, about 60 s to go"]


def test_a_side_whose_trees_do_not_fit_into_memory_is_refused(run, monkeypatch):
    monkeypatch.setattr("asyncplay.machine.at_hand", lambda: 4 << 30)
    for side in ("hero", "rival"):
        with pytest.raises(ConfigError, match=r"^search.simulations is 9000000: it would need .*; \d+ would fit$"):
            measure(run, rounds=8, **{side: ["search.simulations=9000000"]})


def test_a_match_whose_trees_do_not_fit_into_memory_is_refused(run, monkeypatch, capsys):
    monkeypatch.setattr("asyncplay.machine.at_hand", lambda: 4 << 30)
    assert cli.main(["eval", str(run), "--simulations", "9000000"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("asyncplay: --simulations is 9000000: it would need ")
