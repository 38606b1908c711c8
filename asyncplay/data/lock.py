"""One coordinator a run folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncplay.data.files import open_file
from asyncplay.errors import AsyncplayError

if sys.platform != "win32":
    import fcntl


class InUse(AsyncplayError):
    """Another process works on this run."""


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep others out while inside; InUse names who is there already.

    The system lets go of the lock when its process ends, however it ends: a lock file that is left over is no
    obstacle. It stays in the folder, as removing it would let two in at once.
    """
    descriptor = open_file(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        _take(descriptor, folder)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def holder(folder: Path) -> str | None:
    """Who works on this run now, by pid, or None; changes nothing."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = open_file(folder / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(descriptor, 32).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
    return None


def _take(descriptor: int, folder: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(descriptor, 32).decode(errors="replace").strip() or "that has just started"
        raise InUse(f"{folder} is in use by process {owner}; stop it first, or take another folder") from None
