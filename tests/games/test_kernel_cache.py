"""The cache of kernels: nobody else's code runs, and what is damaged is compiled again."""

import errno
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import int64, njit

from asyncplay.doctor import machine
from asyncplay.games import kernel_cache
from asyncplay.games.kernel_cache import KernelCache, UnsafeFolder, make_private
from asyncplay.rundir import detach

SCRIPT = """
import os, subprocess, sys
from numba import int64
from asyncplay.games.kernels import kernel, ready
from asyncplay.games.kernel_cache import cache_folder

@kernel(int64(int64))
def twice(number):
    return 2 * number

ready(twice)
print(twice(21), sum(twice.stats.cache_hits.values()), cache_folder(), flush=True)
if sys.argv[1:]:
    subprocess.run([sys.executable, __file__], check=True)
"""


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def play(tmp_path: Path, *words: str, **environment: str) -> tuple[list[list[str]], list[str]]:
    """Run the script: what it and the process it started said (result, hits, folder), and the lines of complaint."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    known["PYTHONPATH"] = str(Path(kernel_cache.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(script), *words], env=known | environment, capture_output=True, text=True, check=True
    )
    return [line.split() for line in done.stdout.splitlines()], done.stderr.splitlines()


def share(folder: Path) -> None:
    folder.chmod(0o770)


def share_above(folder: Path) -> None:
    folder.parent.parent.chmod(0o777)


def link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def give_away(folder: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a folder away")
    os.chown(folder, 12345, 12345)


def give_away_above(folder: Path) -> None:
    give_away(folder.parent)


SPOILED = [share, share_above, link, give_away, give_away_above]


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_folder_that_others_could_change_is_refused(spoil, tmp_path):
    folder = tmp_path / "above" / "place" / "kernels"
    assert make_private(folder) == folder.resolve()
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3
    spoil(folder)
    with pytest.raises(UnsafeFolder, match=r"is a link; remove|belongs to user 12345; set XDG|others can write to .*;"):
        make_private(folder)


def test_a_private_folder_is_made_so_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        folder = make_private(tmp_path / "above" / "kernels")
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700


def test_a_sticky_folder_above_is_as_good_as_a_private_one(tmp_path):
    """Like the temporary directory: whoever writes there cannot rename what is ours."""
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(0o1777)
    make_private(tmp_path / "above" / "kernels")
    (tmp_path / "above" / "kernels").chmod(0o1777)
    with pytest.raises(UnsafeFolder, match="others can write to"):
        make_private(tmp_path / "above" / "kernels")


def test_a_folder_that_cannot_be_made_is_refused():
    with pytest.raises(UnsafeFolder, match="cannot be written: Not a directory; set XDG_CACHE_HOME"):
        make_private(Path(os.devnull) / "asyncplay")


@pytest.mark.process
@pytest.mark.parametrize("spoil", [share, give_away])
def test_what_others_have_put_into_the_cache_is_never_unpickled(spoil, tmp_path):
    place, trace, temporary = tmp_path / "place", tmp_path / "trace", tmp_path / "temporary"
    temporary.mkdir()
    ((_, _, folder),), _ = play(tmp_path, XDG_CACHE_HOME=str(place))
    evil = pickle.dumps(Evil(trace))
    indexes = list(Path(folder).rglob("*.nbi"))
    for index in indexes:
        index.write_bytes(hashlib.sha256(evil).digest() + evil)
    spoil(Path(folder))

    ((result, hits, used),), complaints = play(tmp_path, XDG_CACHE_HOME=str(place), TMPDIR=str(temporary))

    assert len(indexes) == 1
    assert not trace.exists()
    assert (result, hits) == ("42", "0")
    assert Path(used).parent.parent == temporary
    (complaint,) = complaints
    assert complaint.startswith("asyncplay: warning: kernels are compiled for this run alone: ")


@pytest.mark.process
def test_without_a_home_kernels_are_shared_in_a_temporary_folder_that_is_ours_and_ends_with_us(tmp_path):
    temporary, numbas = tmp_path / "temporary", tmp_path / "numba"
    temporary.mkdir()
    numbas.mkdir()
    numbas.chmod(0o777)
    (first, second), complaints = play(
        tmp_path,
        "again",
        HOME=os.devnull,
        TMPDIR=str(temporary),
        NUMBA_CACHE_DIR=str(numbas),
        NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator",
    )
    assert (first[:2], second[:2]) == (["42", "0"], ["42", "1"]), "the second process compiles nothing"
    assert first[2] == second[2]
    assert Path(first[2]).parent.parent == temporary
    assert f"asyncplay-{os.getuid()}/" not in first[2]
    assert len(complaints) == 1
    assert list(temporary.iterdir()) == list(numbas.iterdir()) == []


@pytest.mark.process
def test_where_no_folder_is_safe_every_process_compiles_for_itself_and_one_of_them_says_so(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o777)
    said, (complaint,) = play(tmp_path, "again", HOME=os.devnull, TMPDIR=str(temporary))
    assert said == [["42", "0", "None"]] * 2
    assert "kernels are compiled for each process alone: " in complaint
    assert list(temporary.iterdir()) == []


def test_a_detached_run_has_a_temporary_folder_of_its_own(tmp_path, monkeypatch):
    """The one of the command that detaches it is removed when that ends."""
    seen = {}

    def start(*words, env, pass_fds, **rest):
        seen.update(env)
        os.write(pass_fds[0], b"ready\n")
        return SimpleNamespace(pid=7)

    monkeypatch.setenv(kernel_cache.TEMPORARY, str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", start)
    assert detach.start(tmp_path, []) == 7
    assert kernel_cache.TEMPORARY not in seen
    assert detach.READY in seen


def thrice(number):
    return 3 * number


def compiled(folder: Path) -> int:
    """Declare the kernel anew and use it; return how often the disk was of use."""
    dispatcher = njit()(thrice)
    dispatcher._cache = KernelCache(thrice, folder)
    dispatcher.compile(int64(int64))
    assert dispatcher(14) == 42
    return sum(dispatcher.stats.cache_hits.values())


@pytest.fixture
def heard(capsys):
    """A function that returns the complaints since it was last called."""
    kernel_cache._warn_once.cache_clear()

    def complaints() -> list[str]:
        return capsys.readouterr().err.splitlines()

    return complaints


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "bit": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    "pickle": lambda content: pickle.dumps("0.68.1") + pickle.dumps((None, {})),
}


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again_with_one_warning(kind, damage, tmp_path, heard):
    assert [compiled(tmp_path), compiled(tmp_path)] == [0, 1]
    (file,) = tmp_path.rglob(f"*.{kind}")
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert kernel_cache.is_damaged(file)
    assert heard() == []

    assert compiled(tmp_path) == 0
    assert heard() == [f"asyncplay: warning: damaged kernels in {file.parent} are compiled again"]
    assert compiled(tmp_path) == 1
    assert heard() == []


def test_a_disk_that_takes_nothing_costs_the_cache_and_not_the_run(tmp_path, monkeypatch, heard):
    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kernel_cache.SealedFiles, "_open_for_write", full)
    assert [compiled(tmp_path), compiled(tmp_path)] == [0, 0]
    (complaint,) = heard()
    assert complaint.endswith("No space left on device")


def test_kernels_of_another_source_are_not_used(tmp_path, monkeypatch, heard):
    assert compiled(tmp_path) == 0
    (file,) = tmp_path.rglob("*.nbi")
    stamp, overloads = pickle.loads(file.read_bytes()[kernel_cache.SEAL_BYTES :])
    content = pickle.dumps((b"another", overloads))
    file.write_bytes(hashlib.sha256(content).digest() + content)
    assert stamp != b"another"
    assert [compiled(tmp_path), compiled(tmp_path)] == [0, 1]
    assert heard() == []


def test_the_doctor_tells_where_kernels_are_kept_and_what_is_wrong_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    empty = machine.look_at_kernels()
    assert (empty.grade, "none there yet" in empty.words) == ("fine", True)

    folder = kernel_cache.usual_folder()
    compiled(folder)
    assert machine.look_at_kernels().words == f"kept in {folder}, which is private"

    (file,) = folder.rglob("*.nbc")
    file.write_bytes(b"garbage")
    damaged = machine.look_at_kernels()
    assert damaged.grade == "slow"
    assert f"1 of 2 files are damaged, {file.name} for one" in damaged.words
    assert damaged.cure.startswith(f"rm -r {folder}")

    folder.chmod(0o777)
    shared = machine.look_at_kernels()
    assert (shared.grade, f"others can write to {folder}" in shared.words) == ("slow", True)
    assert shared.cure == f"remove {folder}: they may have written there"
