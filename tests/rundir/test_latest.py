"""Which run is meant where none is named."""

import os
from pathlib import Path

import pytest

from asyncplay.errors import AsyncplayError
from asyncplay.rundir.latest import latest_run


def make_run(below: Path, name: str, begun_s: float) -> Path:
    (below / name).mkdir(parents=True)
    (below / name / "config.toml").touch()
    os.utime(below / name / "config.toml", (begun_s, begun_s))
    return below / name


def test_the_run_that_was_begun_or_resumed_last_is_meant(tmp_path):
    make_run(tmp_path, "blob-1", 100.0)
    newest = make_run(tmp_path, "connect4-1", 300.0)
    make_run(tmp_path, "zebra", 200.0)
    (tmp_path / "no-run").mkdir()
    assert latest_run(below=tmp_path) == newest


def test_of_runs_that_go_on_the_latest_is_meant_and_without_any_the_latest_of_all(tmp_path):
    older, newer = make_run(tmp_path, "older", 100.0), make_run(tmp_path, "newer", 200.0)
    assert latest_run(is_running=True, below=tmp_path) == newer
    (older / "control.sock").touch()
    assert latest_run(is_running=True, below=tmp_path) == older
    assert latest_run(below=tmp_path) == newer


def test_without_runs_there_is_one_line_with_the_cure(tmp_path):
    with pytest.raises(
        AsyncplayError, match=r"^no RUN is named, and .*nothing/ has none here; `asyncplay train` makes"
    ):
        latest_run(below=tmp_path / "nothing")
