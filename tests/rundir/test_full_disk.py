"""Whole runs whose disk becomes full: they wait, go on when there is room, and lose nothing that was called stored.

Two ways to fill a disk. Everybody may forbid a process to make any file longer (what is open can then not be written
either); root also mounts a small file system and fills it with another file.
"""

import contextlib
import errno
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rundir.test_resume import LEG, same_memory, stored, tiny, train

from asyncplay.data import checkpoint
from asyncplay.data.reader import integrity, reading
from asyncplay.data.store import Store, read_kept
from asyncplay.data.watermark import Watermark, read_watermark
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.rundir.layout import CHECKPOINTS

resource = pytest.importorskip("resource")

SMOKE = Path(__file__).parents[2] / "configs" / "smoke.toml"
ENTRY = "import sys; from asyncplay.cli import main; sys.exit(main())"
PATIENCE_S = 120.0
DISK_KB = 16_384
NEURAL = {
    "search.games": 16,
    "search.simulations": 4,
    "net.width": 16,
    "net.blocks": 1,
    "learn.batch-rows": 32,
    "learn.minimum-rows": 64,
    "learn.samples-per-insert": 0.25,
    "device.backend": "torch",
    "device.threads": 1,
    "pool.workers": 1,
    "checkpoint.every-s": 0.5,
    "train.interval-s": 0.5,
}
ARENA = NEURAL | {"arena.every-s": 0.5, "arena.games": 2, "arena.simulations": 2}
INLINE = NEURAL | {"pool.kind": "inline", "arena.every-s": 0}
SOLVER = {"game.name": "kuhn", "solve.method": "external", "pool.workers": 1, "checkpoint.every-s": 0.2}


class Run:
    """A run as a process, what it says, and a disk that can be filled."""

    def __init__(self, place: Path, settings: dict[str, object]) -> None:
        self.folder, self.said, self._place = place / "run", "", place
        flags = [str(word) for key, value in settings.items() for word in (f"--{key}", value)]
        command = [sys.executable, "-c", ENTRY, "train", str(SMOKE), "--run", str(self.folder), "--headless", *flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.said += line

    def until(self, is_so: Callable[[], object]) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline_s, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)

    def until_said(self, words: str, times: int = 1) -> None:
        self.until(lambda: self.said.count(words) >= times)

    def until_saved(self) -> None:
        """Until another checkpoint is there than now."""
        before = self.checkpoints()
        self.until(lambda: set(self.checkpoints()) - set(before))

    def checkpoints(self) -> list[int]:
        return checkpoint.numbers(self.folder / CHECKPOINTS)

    def games(self) -> int:
        mark = read_watermark(self.folder)
        return 0 if mark is None else mark.games

    def end(self) -> int:
        status = self.process.wait(timeout=PATIENCE_S)
        self._reader.join()
        return status

    def fill(self) -> None:
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def free(self) -> None:
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class MountedRun(Run):
    """On a small file system of its own."""

    def fill(self) -> None:
        with (self._place / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            for size in (1 << 16, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(bytes(size))

    def free(self) -> None:
        (self._place / "filler").unlink()


@pytest.fixture(params=["limit", pytest.param("mount", marks=pytest.mark.slow)])
def begin(request, tmp_path) -> Iterator[Callable[[dict[str, object]], Run]]:
    if not hasattr(resource, "prlimit"):
        pytest.skip("only Linux changes another process's limits or mounts a file system in memory")
    if request.param == "mount" and os.geteuid() != 0:
        pytest.skip("only root may mount the small file system that this fills up")
    runs: list[Run] = []

    def make(settings: dict[str, object]) -> Run:
        runs.append((MountedRun if request.param == "mount" else Run)(tmp_path, settings))
        return runs[-1]

    with mounted(tmp_path) if request.param == "mount" else contextlib.nullcontext():
        try:
            yield make
        finally:
            for run in runs:
                run.process.kill()
                run.end()


@contextlib.contextmanager
def mounted(place: Path) -> Iterator[None]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def check_store(run: Run, at_least: int) -> None:
    """Sound, and everything that was called stored is there."""
    with reading(run.folder) as connection:
        assert integrity(connection) == []
        assert read_kept(connection).games >= max(run.games(), at_least)
    found, complaints = checkpoint.newest(run.folder / CHECKPOINTS)
    assert found is not None
    assert complaints == []
    assert "Traceback" not in run.said


pytestmark = [pytest.mark.process, pytest.mark.timeout(400)]


@pytest.mark.slow
def test_a_run_with_an_arena_waits_for_room_goes_on_and_can_be_left(begin):
    """Games, weights, checkpoints and events all meet the full disk; it is said once. At the second time it is left by
    Ctrl-C twice, and the status says that something is not saved."""
    run = begin(ARENA)
    run.until(lambda: run.games() and run.checkpoints() and list((run.folder / "weights").glob("0*")))
    run.fill()
    run.until_said("nothing can be stored in")
    n_games = run.games()
    time.sleep(1.5)  # a try, and an arena that is due
    assert (run.process.poll(), run.said.count("nothing can be stored in")) == (None, 1)
    assert run.games() <= n_games + 1  # what was being marked
    run.free()
    run.until_said("can be written again after")
    run.until(lambda: run.games() > n_games + 50)
    run.until_saved()

    run.fill()
    run.until_said("nothing can be stored in", 2)
    n_games = run.games()
    run.process.send_signal(signal.SIGINT)
    run.until_said("the end waits until it can, Ctrl-C again leaves without it")
    time.sleep(1.1)
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGINT)
    assert run.end() == 1
    assert f"asyncplay: not saved in {run.folder}: " in run.said
    assert "checkpoint" in run.said.rpartition("not saved in")[2]
    if isinstance(run, MountedRun):
        run.free()
    check_store(run, n_games)


@pytest.mark.slow
def test_an_inline_run_stands_still_goes_on_and_can_be_left(begin):
    run = begin(INLINE)
    run.until(lambda: run.games() > 10)
    run.fill()
    run.until_said("nothing can be stored in")
    n_games = run.games()
    time.sleep(1.1)
    assert run.process.poll() is None
    run.free()
    run.until_said("can be written again after")
    run.until(lambda: run.games() > n_games + 50)
    run.until_saved()

    run.fill()
    run.until_said("nothing can be stored in", 2)
    n_games = run.games()
    run.process.terminate()
    assert run.end() == 1
    assert "not saved in" in run.said
    if isinstance(run, MountedRun):
        run.free()
    check_store(run, n_games)


@pytest.mark.slow
def test_a_solving_run_ends_when_its_last_checkpoint_is_written(begin):
    """After the first Ctrl-C it waits for room, and then saves and ends as ever."""
    run = begin(SOLVER)
    run.until_saved()
    run.fill()
    run.until_said("nothing can be stored in")
    before = run.checkpoints()
    run.process.send_signal(signal.SIGINT)
    run.until_said("the end waits until it can")
    time.sleep(1.1)
    assert run.process.poll() is None
    run.free()
    assert run.end() == 130
    assert max(run.checkpoints()) > max(before)
    assert list((run.folder / "policies").glob("*.safetensors"))
    assert "Traceback" not in run.said


class Faulty:
    """Lets every so many calls of a function fail, two times each, as a full disk does."""

    def __init__(self, monkeypatch, owner: object, name: str, every: int, error: Callable[[], Exception]) -> None:
        self.calls = self.faults = 0
        work = getattr(owner, name)

        def call(*arguments: object, **more: object) -> object:
            self.calls += 1
            if self.calls % every in (1, 2):
                self.faults += 1
                raise error()
            return work(*arguments, **more)

        monkeypatch.setattr(owner, name, call)


def full() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorname = "SQLITE_FULL"
    return error


def no_room() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_inline_run_on_a_disk_that_is_often_full_is_the_same_bit_for_bit(tmp_path, monkeypatch):
    config = tiny(train={"units": str(2 * LEG)})
    straight = train(config, tmp_path / "straight")
    faults = [
        Faulty(monkeypatch, Store, "write", 9, full),
        Faulty(monkeypatch, Watermark, "write", 11, no_room),
        Faulty(monkeypatch, checkpoint, "save", 3, no_room),
    ]
    said: list[str] = []

    def hurry(run: SelfplayRun) -> None:
        run.folder._retry_s = 0.001

    waiting = train(config, tmp_path / "waiting", says=said, prepare=hurry)

    assert all(fault.faults >= 2 for fault in faults)
    assert waiting.folder.unsaved == {}
    begun, ended = (sum(words in line for line in said) for words in ("nothing can be stored", "can be written again"))
    assert begun == ended >= 10
    assert stored(tmp_path / "waiting") == stored(tmp_path / "straight")
    same_memory(waiting, straight)
