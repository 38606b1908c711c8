"""Looking at a run that nobody works on: nothing in its folder changes, and the disk may be read only."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from trained import N_GAMES, answer, looks, resume

from asyncplay.data import lock
from asyncplay.data.entries import EventEntry
from asyncplay.data.reader import reading
from asyncplay.data.store import FILE, StoreError, open_store, read_kept

pytestmark = pytest.mark.timeout(900)


def state_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that can be seen of a folder but when it was looked at."""
    seen: dict[str, tuple[object, ...]] = {}
    for path in [folder, *folder.rglob("*")]:
        facts = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        seen[str(path.relative_to(folder))] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ino, digest)
    return seen


@pytest.fixture(params=["stopped", "killed", "killed without -shm", "tabular"])
def run(request, trained, tmp_path) -> Path:
    """In each state in which a run can lie about; a killed one has games and events only in its log."""
    folder, alive = tmp_path / "place" / "run", tmp_path / "alive"
    shutil.copytree(trained.tabular if request.param == "tabular" else trained.neural, alive)
    if request.param.startswith("killed"):
        with closing(open_store(alive, {})) as store:
            store.write([], [EventEntry(2e9, "arena", "only in the log")])
            shutil.copytree(alive, folder)
        assert (folder / f"{FILE}-wal").stat().st_size > 0
        if request.param.endswith("-shm"):
            (folder / f"{FILE}-shm").unlink()
    else:
        shutil.copytree(alive, folder)
    return folder


def look_at(run: Path, elsewhere: Path) -> None:
    is_tabular = not (run / "weights").exists()
    for words in looks(run, elsewhere, is_tabular=is_tabular):
        status, said = answer(*words)
        has_no_games = is_tabular and "export" in words
        assert status == (2 if has_no_games else 0), said
        assert "damaged" not in said
    assert "stopped" in answer("runs", run.parent)[1] or (run / f"{FILE}-wal").exists()


def test_no_command_that_looks_changes_anything(run, tmp_path):
    before = state_of(run)
    look_at(run, tmp_path)
    assert answer("tune", run)[0] == 2
    assert answer("watch", run)[0] == 2
    assert state_of(run) == before


def test_what_only_the_log_has_is_seen(trained, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(trained.neural, folder)
    with closing(open_store(folder, {})) as store:
        store.write([], [EventEntry(2e9, "arena", "only in the log")])
        shutil.copytree(folder, tmp_path / "killed")
    with reading(tmp_path / "killed") as connection:
        (last,) = connection.execute("SELECT text FROM events ORDER BY number DESC LIMIT 1").fetchone()
        assert (last, read_kept(connection).games) == ("only in the log", N_GAMES)


def test_a_run_that_begins_while_it_is_read_is_told(trained, tmp_path):
    """Without locks the reader may have read what was just being written; beside a run it sees one moment."""
    folder = tmp_path / "run"
    shutil.copytree(trained.neural, folder)
    with (
        ExitStack() as stack,
        pytest.raises(StoreError, match="the run went on while it was read"),
        reading(folder),
    ):
        stack.enter_context(lock.hold(folder))
    with lock.hold(folder), reading(folder) as connection:
        assert read_kept(connection).games == N_GAMES


@contextmanager
def mounted_read_only(folder: Path, place: Path) -> Iterator[Path]:
    place.mkdir()
    if subprocess.run(["mount", "--bind", folder, place], check=False, capture_output=True, timeout=60).returncode:
        pytest.skip("this root cannot mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True, timeout=60)
        yield place
    finally:
        subprocess.run(["umount", place], check=True, timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_run_on_a_disk_that_is_read_only_is_sound(run, tmp_path):
    with mounted_read_only(run.parent, tmp_path / "disk") as place:
        with pytest.raises(OSError, match="Read-only"):
            (place / "run" / "new").touch()
        look_at(place / "run", tmp_path)
        for words in (resume(place / "run"), ["report", place / "run"]):
            status, said = answer(*words)
            assert (status, len([line for line in said.splitlines() if line.startswith("asyncplay: ")])) == (2, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_run_that_one_may_only_read_is_sound(run, tmp_path):
    paths = [run, *run.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        look_at(run, tmp_path)
    finally:
        for path in paths:
            path.chmod(0o755)
