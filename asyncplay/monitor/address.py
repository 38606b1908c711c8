"""Where a run listens: ``control.sock`` in its folder, reached by a short path.

A unix socket's path has at most 107 bytes, a run's folder may have more: both ends go through a symbolic link that
exists only while they bind or connect.
"""

import os
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncplay.errors import AsyncplayError

NAME = "control.sock"
SO_PEERCRED, LOCAL_PEERCRED = 17, 1  # of Linux and of macOS
WHY: dict[type[OSError], str] = {
    FileNotFoundError: "no run goes on here: it has no control.sock",
    BlockingIOError: "the run lets nobody in: too many wait at its control.sock already",
    ConnectionRefusedError: "the run has ended without a word: nobody listens at its control.sock any more",
}


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """Yield a path of the socket, valid inside the ``with``."""
    with tempfile.TemporaryDirectory(prefix="asyncplay-") as place:
        link = Path(place) / "run"
        link.symlink_to(folder.resolve(), target_is_directory=True)
        yield str(link / NAME)


def connect(folder: Path) -> socket.socket:
    """Return a connection to the run in ``folder``; AsyncplayError says why there is none."""
    if not folder.is_dir():
        raise AsyncplayError(f"{folder}: no such run folder")
    try:
        link = _connect(folder)
    except OSError as error:
        why = WHY.get(type(error), f"its control.sock cannot be reached: {error.strerror}")
        raise AsyncplayError(f"{folder}: {why}") from None
    if (user := peer_uid(link.fileno())) == os.geteuid():
        return link
    link.close()
    raise AsyncplayError(f"{folder}: the run is another user's, of number {user}")


def is_heard(folder: Path) -> bool:
    """Whether a process listens at the socket of ``folder``."""
    try:
        _connect(folder).close()
    except ConnectionRefusedError:
        return False
    return True


def _connect(folder: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.setblocking(False)  # a process that listens but never accepts would block us for ever
    try:
        with short_path(folder) as path:
            link.connect(path)
    except OSError:
        link.close()
        raise
    return link


def peer_uid(descriptor: int) -> int:
    """The user at the other end of a connection, as the kernel knows it."""
    with socket.socket(fileno=os.dup(descriptor)) as link:
        if sys.platform == "linux":
            return int(struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, SO_PEERCRED, 12))[1])
        return int(struct.unpack("2i", link.getsockopt(0, LOCAL_PEERCRED, 8))[1])
