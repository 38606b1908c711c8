"""What lasts through a power cut."""

import os
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """All of it is on the disk on return; its name lasts once the folder is synced."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Make a file's content last, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
