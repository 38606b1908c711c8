"""Folders and files that are there already: what is another's, a link or no file is left alone or refused."""

import os
import stat
from pathlib import Path

import pytest
from stored import make_run

from asyncplay import cli
from asyncplay.data import checkpoint, lock
from asyncplay.data import files as disk
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.store import FILE
from asyncplay.data.watermark import Watermark

SMOKE = Path(__file__).parent.parent.parent / "configs" / "smoke.toml"
QUICK = ["--headless", "--pool.kind", "inline", "--train.units", "40", "--no-tensorboard", "--game.name", "synthetic"]


def train(*words: str) -> int:
    return cli.main(["train", str(SMOKE), *QUICK, *words])


def told(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture
def run(tmp_path) -> Path:
    make_run(tmp_path / "run", range(10)).close()
    return tmp_path / "run"


@pytest.mark.parametrize("mode", [0o750, 0o755, 0o1777])
def test_a_folder_that_was_there_keeps_its_mode(tmp_path, mode):
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    assert train("--run", str(folder)) == 0
    assert stat.S_IMODE(folder.stat().st_mode) == mode


def test_a_folder_of_our_own_is_ours_alone(tmp_path):
    assert train("--run", str(tmp_path / "run")) == 0
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700


@pytest.mark.parametrize("words", [["--run", ""], ["--run="], ["--resume", ""]])
def test_a_run_without_a_name_is_refused(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", *words]) == 2
    assert "is empty" in told(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["lock", "run.log"])
def test_a_link_in_the_place_of_a_file_is_refused_and_its_target_left_alone(tmp_path, capsys, name):
    (tmp_path / "precious").write_text("do not touch")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(tmp_path / "precious")
    assert train("--run", str(tmp_path / "run")) == 2
    assert f"{name} is a symbolic link" in told(capsys)
    assert (tmp_path / "precious").read_text() == "do not touch"


@pytest.mark.parametrize("name", ["lock", "run.log"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_keeps_nobody(tmp_path, capsys, name):
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / name)
    assert lock.holder(tmp_path / "run") is None
    assert train("--run", str(tmp_path / "run")) == 2
    assert f"{name} is no regular file" in told(capsys)


def test_a_link_in_the_place_of_the_mark_is_refused(tmp_path):
    (tmp_path / "precious").write_text("do not touch")
    (tmp_path / "run.sqlite-mark").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic link"):
        Watermark(tmp_path)
    assert (tmp_path / "precious").read_text() == "do not touch"


def test_a_draft_that_is_a_link_is_replaced_and_its_target_left_alone(tmp_path):
    (tmp_path / "precious").write_text("do not touch")
    (tmp_path / "draft").symlink_to(tmp_path / "precious")
    disk.write(tmp_path / "draft", b"mine")
    assert (tmp_path / "precious").read_text() == "do not touch"
    assert not (tmp_path / "draft").is_symlink()
    assert (tmp_path / "draft").read_bytes() == b"mine"


@pytest.mark.parametrize("has_target", [True, False])
def test_a_checkpoints_draft_that_is_a_link_is_replaced(tmp_path, has_target):
    precious = tmp_path / "precious"
    if has_target:
        precious.mkdir()
        (precious / "file").write_text("do not touch")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "draft").symlink_to(precious)
    assert checkpoint.save(tmp_path / "checkpoints", Checkpoint({}, {"kind": "test"})) == 1
    assert checkpoint.load(tmp_path / "checkpoints" / "000001").state == {"kind": "test"}
    assert not has_target or [path.name for path in precious.iterdir()] == ["file"]


def own_names(run: Path, tmp_path: Path) -> list[Path]:
    """The store of a run under other names, and names that would become part of a run."""
    (tmp_path / "link.npz").symlink_to(run / FILE)
    (tmp_path / "hard.npz").hardlink_to(run / FILE)
    (tmp_path / "folder").symlink_to(run)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.toml").touch()
    inside = [FILE, f"{FILE}-wal", f"{FILE}-mark", "config.toml", "lock", "weights/000001.safetensors", "checkpoints/x"]
    return [
        *(run / name for name in inside),
        tmp_path / "link.npz",
        tmp_path / "hard.npz",
        tmp_path / "folder" / FILE,
        run / ".." / "run" / FILE,
        tmp_path / "other" / FILE,
    ]


@pytest.mark.parametrize("command", [["report"], ["export", "--format", "npz"]])
def test_nothing_is_written_over_a_runs_own_files(run, tmp_path, capsys, command):
    before = {path: path.read_bytes() for path in run.iterdir()}
    for target in own_names(run, tmp_path):
        words = ["report", str(run)] if command == ["report"] else ["data", str(run), *command]
        assert cli.main([*words, "--out", str(target)]) == 2
        assert f"--out {target}: it belongs to the run in" in told(capsys)
    assert {path: path.read_bytes() for path in run.iterdir()} == before


def test_other_names_in_the_folder_of_a_run_are_free(run):
    assert cli.main(["data", str(run), "export", "--out", str(run / "games.npz")]) == 0
    assert cli.main(["report", str(run)]) == 0
    assert cli.main(["report", str(run)]) == 0
    assert (run / "games.npz").exists()


def test_an_exports_draft_that_is_a_link_is_replaced(run, tmp_path):
    (tmp_path / "precious").write_text("do not touch")
    (tmp_path / "games.npz.part").symlink_to(tmp_path / "precious")
    assert cli.main(["data", str(run), "export", "--out", str(tmp_path / "games.npz")]) == 0
    assert (tmp_path / "precious").read_text() == "do not touch"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(path.parent.parent / "precious")])
def test_a_report_is_not_written_into_what_is_no_file(run, tmp_path, capsys, make):
    make(run / "report.html")
    assert cli.main(["report", str(run)]) == 2
    assert "is no regular file" in told(capsys)
    assert not (tmp_path / "precious").exists()


@pytest.mark.parametrize("name", ["weights", "checkpoints", "policies", "tensorboard"])
def test_a_file_in_the_place_of_a_folder_is_told_before_anything_begins(tmp_path, capsys, name):
    (tmp_path / name).touch()
    assert train("--run", str(tmp_path)) == 2
    assert told(capsys) == f"asyncplay: --run {tmp_path}: cannot be written: {name} is no folder"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["net.json", "run.sqlite-mark"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("nowhere")])
def test_something_else_in_the_place_of_a_file_is_told_before_anything_begins(tmp_path, capsys, name, make):
    make(tmp_path / name)
    assert train("--run", str(tmp_path)) == 2
    assert told(capsys) == f"asyncplay: --run {tmp_path}: cannot be written: {name} is no regular file"
