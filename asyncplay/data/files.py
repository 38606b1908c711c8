"""Files that last through a power cut, and files as they may be found: anything may be in the place of one."""

import errno
import os
import shutil
import stat
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """All of it is on the disk on return; its name lasts once the folder is synced. What does not fit takes no room."""
    path.unlink(missing_ok=True)  # left over, or a link that would lead elsewhere
    try:
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Whatever it is and all that is in it; of a link only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make a file's content last, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_file(path: Path, flags: int, mode: int = 0o644) -> int:
    """A descriptor of a regular file, never of what a link or a pipe puts in its place; OSError says why not."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} is a symbolic link")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is no regular file")
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)


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
