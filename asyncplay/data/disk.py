"""What lasts through a power cut."""

import os
import shutil
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
