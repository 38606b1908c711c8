"""What a real run leaves behind for those who look later: figures in its store and for TensorBoard, and a page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from archive.report.test_page import OTHERS, PLOTS, browse, drawn, needs_browser
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from asyncplay import cli
from asyncplay.archive.runs import look
from asyncplay.data.reader import read_events, read_metrics, reading

CONFIGS = Path(__file__).parent.parent / "configs"


def train(config: str, run: Path, *words: str) -> None:
    command = [str(Path(sys.executable).with_name("asyncplay")), "train", str(CONFIGS / config), "--run", str(run)]
    done = subprocess.run([*command, "--headless", *words], capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr


def board(run: Path) -> list[Event]:
    """The events of the only file, without its head."""
    (path,) = (run / "tensorboard").iterdir()
    return [Event.FromString(raw) for raw in RawEventFileLoader(str(path)).Load()][1:]


@pytest.mark.process
def test_tensorboard_is_told_what_the_store_is_told(tmp_path):
    run = tmp_path / "run"
    train("synthetic.toml", run, "--time-budget", "3", "--train.interval-s", "0.2")
    with reading(run) as connection:
        metrics, events = read_metrics(connection), read_events(connection)
    told: dict[str, list[float]] = {}
    for event in board(run):
        for value in event.summary.value:
            told.setdefault(value.tag, []).append(value.simple_value)
    assert told.keys() == metrics.keys() >= {"throughput/rows_per_s", "batch/mean_rows", "workers/ready"}
    for name, points in metrics.items():
        assert told[name] == pytest.approx([value for _, value in points], rel=1e-6)
    assert [event.kind for event in events] == ["start", "stop"]
    assert look(run, now_s=0.0).state == "stopped"


@pytest.mark.process
def test_without_tensorboard_there_is_no_such_folder(tmp_path):
    train("synthetic.toml", tmp_path / "run", "--train.units", "2000", "--no-tensorboard")
    assert not (tmp_path / "run" / "tensorboard").exists()


@needs_browser
@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_the_page_of_a_real_run_is_shown_whole_by_a_browser(tmp_path):
    """What a run certainly has, games and figures, is drawn; matches and trials have their place if there were none."""
    run = tmp_path / "run"
    train("smoke.toml", run, "--train.units", "1500", "--train.interval-s", "0.1", "--train.time-budget-s", "0")
    assert cli.main(["report", str(run)]) == 0
    shown, logged = browse(run / "report.html", tmp_path / "profile")
    assert logged == []
    plots = drawn(shown)
    assert plots.keys() == {*PLOTS, *OTHERS}
    assert {name for name, is_drawn in plots.items() if is_drawn == "yes"} >= set(PLOTS) - {
        "strength",
        "trials",
        "solving",
        "visited",
    }
    assert re.search(r"tictactoe: 1,5\d\d games", shown)
    assert cli.main(["data", str(run), "verify"]) == 0
