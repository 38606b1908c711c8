"""Files that survive a power cut; and checked reading, as anything may be in the place of a file."""

import errno
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """On return all data is on the disk; the name is durable once the folder is synced. Nothing is left of a file that
    does not fit."""
    stream(path, [data])


def stream(path: Path, blocks: Iterable[bytes | memoryview]) -> None:
    """The same of blocks that are made one by one."""
    path.unlink(missing_ok=True)  # left over, or a link that would lead elsewhere
    try:
        with path.open("xb") as file:
            for block in blocks:
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def replace(path: Path, data: bytes, draft: Path) -> None:
    """Write a file whole or not at all; ``draft`` is a name of the same file system for the time being."""
    replace_by(path, [data], draft)


def replace_by(path: Path, blocks: Iterable[bytes | memoryview], draft: Path) -> None:
    """The same of blocks that are made one by one."""
    stream(draft, blocks)
    draft.rename(path)


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it; of a link only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make the content of a file durable, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_file(path: Path, flags: int, mode: int = 0o644) -> int:
    """A descriptor of a regular file, never of a link or a pipe in its place; OSError says why not."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} is a symbolic link")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is no regular file")
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)


def check_file(path: Path, most_bytes: int) -> None:
    """OSError unless the path is a regular file or a link to one, of at most ``most_bytes``."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if found.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, too many to be read")


def read_file(path: Path, most_bytes: int) -> bytes:
    """All of a regular file; OSError where there is none, or a larger one than ``most_bytes``."""
    check_file(path, most_bytes)
    return path.read_bytes()
