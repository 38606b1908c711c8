"""Where a run listens: ``control.sock`` in its folder, reached by a short path.

A unix socket's name ends at 107 bytes, a run's folder does not: both ends go through a link that lives only as long
as it takes to bind or to connect.
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


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """The socket's path, for the time being."""
    with tempfile.TemporaryDirectory(prefix="asyncplay-") as place:
        link = Path(place) / "run"
        link.symlink_to(folder.resolve(), target_is_directory=True)
        yield str(link / NAME)


def connect(folder: Path) -> socket.socket:
    """A connection to the run that goes on in ``folder``; AsyncplayError says why there is none."""
    if not folder.is_dir():
        raise AsyncplayError(f"{folder}: no such run folder")
    try:
        link = _connect(folder)
    except OSError as error:
        raise AsyncplayError(f"{folder}: {_why(error)}") from None
    if (user := peer_uid(link.fileno())) == os.geteuid():
        return link
    link.close()
    raise AsyncplayError(f"{folder}: the run is another user's, of number {user}")


def is_heard(folder: Path) -> bool:
    """Whether somebody listens at the socket that is there."""
    try:
        _connect(folder).close()
    except ConnectionRefusedError:
        return False
    return True


def _connect(folder: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.setblocking(False)  # who listens and takes nobody in would keep us for ever
    try:
        with short_path(folder) as path:
            link.connect(path)
    except OSError:
        link.close()
        raise
    return link


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no run goes on here: it has no control.sock"
    if isinstance(error, BlockingIOError):
        return "the run lets nobody in: too many wait at its control.sock already"
    if isinstance(error, ConnectionRefusedError):
        return "the run has ended without a word: nobody listens at its control.sock any more"
    return f"its control.sock cannot be reached: {error.strerror}"


def peer_uid(descriptor: int) -> int:
    """The user at the other end of a connection, as the kernel knows it."""
    with socket.socket(fileno=os.dup(descriptor)) as link:
        if sys.platform == "linux":
            return int(struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, SO_PEERCRED, 12))[1])
        return int(struct.unpack("2i", link.getsockopt(0, LOCAL_PEERCRED, 8))[1])
