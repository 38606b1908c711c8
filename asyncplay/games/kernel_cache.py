"""The folder of compiled kernels, which only we may write to, and the checksums of its files.

numba unpickles the files of its cache, and LLVM runs them: another user who can write there can run code as us, and a
file that is cut off or overwritten may crash the process. So the folder must be writable for us alone, and every file
carries the SHA-256 of its content: a file that does not agree with it is compiled again and never unpickled.
"""

import atexit
import hashlib
import inspect
import os
import pickle
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config
from numba.core.caching import FunctionCache, IndexDataCacheFile

from asyncplay.errors import AsyncplayError
from asyncplay.games import sources

KEPT_FOLDERS = 16
SEAL_BYTES = hashlib.sha256().digest_size
TEMPORARY = "ASYNCPLAY_KERNELS"
"""The environment variable with the temporary folder of kernels, for processes that this one starts; empty: none."""

config: Any = numba_config  # its names are made while it is imported, so no checker knows them


class UnsafeFolder(AsyncplayError):
    """A folder that cannot be used or that others could change; ``flaw`` says why, ``cure`` what to do."""

    def __init__(self, flaw: str, cure: str) -> None:
        super().__init__(f"{flaw}; {cure}")
        self.flaw, self.cure = flaw, cure


@cache
def cache_folder() -> Path | None:
    """The folder of compiled kernels; None if no place for it is safe, and then every process compiles its own.

    Without a safe place in the user's cache directory it is a temporary folder, removed when this process ends. The
    processes that this one starts share it, so that workers do not compile the same kernels again.
    """
    try:
        return usual_folder()
    except UnsafeFolder as error:
        if TEMPORARY not in os.environ:
            os.environ[TEMPORARY], users = "", "each process alone"
            with suppress(OSError, UnsafeFolder):
                made = Path(tempfile.mkdtemp(prefix="asyncplay-"))
                atexit.register(shutil.rmtree, made, ignore_errors=True)
                os.environ[TEMPORARY], users = str(make_private(made)), "this run alone"
            _warn(f"kernels are compiled for {users}: {error}")
    place = os.environ[TEMPORARY]
    return make_private(Path(place) / f"kernels-{source_hash()}") if place else None


def usual_folder() -> Path:
    """A folder in the user's cache directory, named by the hash of the sources; UnsafeFolder if there is no safe one.

    numba notices a changed file, but not a changed helper in another file: hence the hash in the name. Folders of
    older sources are removed, all but the latest few.
    """
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        place = Path(chosen)
    else:
        try:
            place = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
        except RuntimeError:
            raise UnsafeFolder("there is no home folder", _ELSEWHERE) from None
    folder = make_private(place / "asyncplay" / f"kernels-{source_hash()}")
    with suppress(FileNotFoundError):  # another process may be doing the same
        folders = sorted(folder.parent.glob("kernels-*"), key=lambda one: one.stat().st_mtime)
        for old in folders[:-KEPT_FOLDERS]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def make_private(folder: Path) -> Path:
    """Make a folder that we alone can write to and return its real path; UnsafeFolder if it is not so.

    It must be ours and no link. Of those above it, others may neither be the owners, root apart, nor write there,
    unless the sticky bit keeps them from renaming what is not theirs.
    """
    try:
        _make(folder)
        folder = folder.parent.resolve() / folder.name
        for place in (folder, *folder.parents):
            status = place.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise UnsafeFolder(f"{place} is a link", "remove it")
            if status.st_uid not in ({os.getuid()} if place == folder else {0, os.getuid()}):
                raise UnsafeFolder(f"{place} belongs to user {status.st_uid}", _ELSEWHERE)
            if status.st_mode & 0o022 and (place == folder or not status.st_mode & stat.S_ISVTX):
                cure = f"remove {place}: they may have written there" if place == folder else f"chmod go-w {place}"
                raise UnsafeFolder(f"others can write to {place}", cure)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UnsafeFolder(f"{folder} cannot be written: {error.strerror}", _ELSEWHERE) from None
    return folder


_ELSEWHERE = "set XDG_CACHE_HOME to a folder of your own"


class KernelCache(FunctionCache):
    """numba's cache of one kernel, its files with checksums. If the disk is full, only the cache is lost."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), "UserProvidedCacheLocator"
        try:  # numba looks them up here, and remembers
            super().__init__(function)
        finally:
            config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
        stamp = self._cache_file._source_stamp
        if function.__module__.partition(".")[0] != "asyncplay":  # ours are in the folder's name
            stamp = (stamp, sources.hash_of(function.__module__, inspect.getfile(function)))
        self._cache_file = SealedFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(f"kernels cannot be kept in {self._cache_path}: {error.strerror}")


class SealedFiles(IndexDataCacheFile):
    """The index and the data of one kernel; the index carries the stamp of its source, of a kernel of another package
    also the hash of all sources that it depends on: where they differ it is compiled anew."""

    def _load_index(self) -> Any:
        try:
            stamp, overloads = self._read(self._index_path)
        except OSError:  # not there yet, as a rule
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))  # numba takes an OSError for a file that is not there

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """OSError if it is damaged, as if it were not there."""
        content = Path(path).read_bytes()
        if not _is_whole(content):
            _warn_once(f"damaged kernels in {self._cache_path} are compiled again")
            raise OSError(f"{path} is damaged")
        return pickle.loads(content[SEAL_BYTES:])

    def _write(self, path: str, thing: Any) -> None:
        content = self._dump(thing)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


def _is_whole(content: bytes) -> bool:
    return hashlib.sha256(content[SEAL_BYTES:]).digest() == content[:SEAL_BYTES]


def files(folder: Path) -> list[Path]:
    """Every index and data file in a folder of kernels."""
    return sorted(folder.rglob("*.nb[ic]"))


def is_damaged(file: Path) -> bool:
    """Whether a file of the cache is not as it was written."""
    try:
        return not _is_whole(file.read_bytes())
    except OSError:
        return True


def source_hash() -> str:
    """A hash over the sources of the rooms with kernels and what they take constants and helpers from, names included.

    numba's version is in it: no version can be trusted to unpickle what another one wrote.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    rooms = (path for room in ("games", "search", "solve", "starter") for path in root.glob(f"{room}/**/*.py"))
    for path in sorted([*rooms, root / "rng.py", root / "payloads.py"]):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _make(folder: Path) -> None:
    """Make a folder and its parents with mode 0700; Path.mkdir would give it to the last folder alone."""
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@cache
def _warn_once(line: str) -> None:
    _warn(line)


def _warn(line: str) -> None:
    with suppress(OSError):  # stderr may be closed
        sys.stderr.write(f"asyncplay: warning: {line}\n")
