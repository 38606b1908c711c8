"""One coordinator for each run folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncplay.data.files import open_file
from asyncplay.errors import AsyncplayError

if sys.platform != "win32":
    import fcntl

FILE = "lock"


class InUse(AsyncplayError):
    """Another process works on this run."""


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep other processes out while inside; InUse names the one that is there already.

    The system releases the lock when its process ends, however it ends: a lock file that is left over is no obstacle.
    It stays in the folder, as removing it would let two processes in at once.
    """
    descriptor = open_file(folder / FILE, os.O_RDWR | os.O_CREAT)
    try:
        if sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner(descriptor) or "that has just started"
                message = f"{folder} is in use by process {owner}; stop it first, or take another folder"
                raise InUse(message) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def holder(folder: Path) -> str | None:
    """The pid of the process that works on this run now, or None; changes nothing."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = open_file(folder / FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _owner(descriptor)
    finally:
        os.close(descriptor)
    return None


def _owner(descriptor: int) -> str:
    return os.read(descriptor, 32).decode(errors="replace").strip()
