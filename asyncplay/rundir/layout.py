"""A run folder as it may be found: whoever can write there may have put anything in the place of a file."""

import errno
import os
from pathlib import Path

from asyncplay.config.loading import Overrides, load
from asyncplay.config.sections import Config
from asyncplay.data.files import check_file
from asyncplay.errors import AsyncplayError

CONFIG = "config.toml"
CONFIG_BYTES = 1 << 20
FOLDERS = {"weights", "checkpoints", "policies", "tensorboard"}
OWN = {CONFIG, "run.log", "out.log", "lock", "net.json", "control.sock", *FOLDERS}
STORE = "run.sqlite"  # with its log, its watermark and what repairs have kept


def check_places(run: Path) -> None:
    """OSError if something else is where a run will have folders or files."""
    for path in (run / name for name in sorted(FOLDERS)):
        if os.path.lexists(path) and not path.is_dir():
            raise OSError(errno.ENOTDIR, f"{path.name} is no folder")
    for path in (run / name for name in ("net.json", f"{STORE}-mark")):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, f"{path.name} is no regular file")


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
