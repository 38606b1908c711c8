"""What lies in a run folder, by name, and checks of a folder as it is found: anything may be in the place of a file."""

import errno
import os
from pathlib import Path

from asyncplay.config.loading import Overrides, load
from asyncplay.config.sections import Config
from asyncplay.data import lock, policies, store, tensorboard, watermark
from asyncplay.data.files import check_file
from asyncplay.errors import AsyncplayError

CONFIG = "config.toml"
LOG = "run.log"  # what the run logs
OUT = "out.log"  # what a detached run prints
SOCKET = "control.sock"  # where a run listens; monitor/address.py, which may not import this room, has the same name
NET = "net.json"  # the shape of the network
WEIGHTS, CHECKPOINTS = "weights", "checkpoints"
FOLDERS = {WEIGHTS, CHECKPOINTS, policies.FOLDER, tensorboard.FOLDER}
OWN = {CONFIG, LOG, OUT, SOCKET, NET, lock.FILE, *FOLDERS}
"""All names but those that begin with the store's: its log, its watermark and what repairs have kept."""

CONFIG_BYTES = 1 << 20


def check_places(run: Path) -> None:
    """OSError if something else is where a run will have folders or files."""
    for path in (run / name for name in sorted(FOLDERS)):
        if os.path.lexists(path) and not path.is_dir():
            raise OSError(errno.ENOTDIR, f"{path.name} is no folder")
    for path in (run / name for name in (NET, watermark.FILE)):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, f"{path.name} is no regular file")


def read_config(folder: Path, flags: Overrides | None = None) -> Config:
    """The configuration of the run in ``folder``, overridden by flags."""
    path = folder / CONFIG
    try:
        check_file(path, CONFIG_BYTES)
    except FileNotFoundError:
        raise AsyncplayError(f"{folder} is no folder of a run: it has no {CONFIG}") from None
    except OSError as error:
        raise AsyncplayError(f"{path}: cannot be read: {error.strerror}") from None
    return load(path, flags)


def refuse_own(target: Path, run: Path, option: str = "--out") -> None:
    """AsyncplayError if writing ``target`` would replace a file of ``run``, or of the run in whose folder it is."""
    place = Path(os.path.realpath(target))
    homes = [folder for folder in place.parents if (folder / CONFIG).exists() or (folder / store.FILE).exists()]
    for home in [Path(os.path.realpath(run)), *homes]:
        own = (path for path in home.rglob("*") if path.is_file() and _is_own(path.relative_to(home)))
        is_inside = place.is_relative_to(home) and _is_own(place.relative_to(home))
        if is_inside or (target.exists() and any(target.samefile(path) for path in own)):
            raise AsyncplayError(f"{option} {target}: it belongs to the run in {home}; take another name")


def _is_own(inside: Path) -> bool:
    return not inside.parts or inside.parts[0] in OWN or inside.parts[0].startswith(store.FILE)
