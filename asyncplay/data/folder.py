"""A run folder as it may be found: whoever can write there may have put anything in the place of a file."""

import errno
import os
import stat
from pathlib import Path

from asyncplay.config import Config, Overrides, load
from asyncplay.errors import AsyncplayError

CONFIG = "config.toml"
CONFIG_BYTES = 1 << 20
FOLDERS = {"weights", "checkpoints", "policies", "tensorboard"}
OWN = {CONFIG, "run.log", "out.log", "lock", "net.json", "control.sock", *FOLDERS}
STORE = "run.sqlite"  # with its log, its watermark and what repairs have kept


def open_file(path: Path, flags: int, mode: int = 0o644) -> int:
    """A descriptor of a regular file, never of what a link or a pipe puts in its place; OSError says why not."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} is a symbolic link")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is no regular file")
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)


def check_places(run: Path) -> None:
    """OSError if something else is where a run will have folders or files."""
    for path in (run / name for name in sorted(FOLDERS)):
        if os.path.lexists(path) and not path.is_dir():
            raise OSError(errno.ENOTDIR, f"{path.name} is no folder")
    for path in (run / name for name in ("net.json", f"{STORE}-mark")):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, f"{path.name} is no regular file")


def check_file(path: Path, most_bytes: int) -> None:
    """OSError unless it can be read to its end: a regular file or a link to one, and not larger than it can be."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if found.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, too many to be read")


def read_file(path: Path, most_bytes: int) -> bytes:
    """All of a regular file; OSError where there is none, or one larger than it can be."""
    check_file(path, most_bytes)
    return path.read_bytes()


def read_config(folder: Path, flags: Overrides | None = None) -> Config:
    """The configuration of the run in ``folder``, with flags laid over it."""
    path = folder / CONFIG
    try:
        check_file(path, CONFIG_BYTES)
    except FileNotFoundError:
        raise AsyncplayError(f"{folder} is no folder of a run: it has no {CONFIG}") from None
    except OSError as error:
        raise AsyncplayError(f"{path}: cannot be read: {error.strerror}") from None
    return load(path, flags)


def refuse_own(target: Path, run: Path) -> None:
    """AsyncplayError if writing ``target`` would replace something of ``run``, or of the run in whose folder it is."""
    place = Path(os.path.realpath(target))
    homes = [folder for folder in place.parents if (folder / CONFIG).exists() or (folder / STORE).exists()]
    for home in [Path(os.path.realpath(run)), *homes]:
        is_inside = place.is_relative_to(home) and _is_own(place.relative_to(home))
        if is_inside or any(target.exists() and target.samefile(path) for path in _own_files(home)):
            raise AsyncplayError(f"--out {target}: it belongs to the run in {home}; take another name")


def _is_own(inside: Path) -> bool:
    return not inside.parts or inside.parts[0] in OWN or inside.parts[0].startswith(STORE)


def _own_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and _is_own(path.relative_to(folder))]
