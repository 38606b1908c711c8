"""Published weights in a run folder: a file for each version, and one with the shape of their network.

This room knows names and bytes; the caller knows what they mean.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from asyncplay.data import files as disk
from asyncplay.errors import AsyncplayError
from asyncplay.rundir.layout import NET, WEIGHTS

MOST_DIGITS, MOST_BYTES = 19, 1 << 34  # of a version's number, of a version

Weights = TypeVar("Weights")


def save(folder: Path, version: int, weights: bytes, net: bytes) -> None:
    """Write a version whole or not at all, from any thread."""
    place = folder / WEIGHTS
    place.mkdir(exist_ok=True)
    draft = place / f"draft-{threading.get_ident()}"
    disk.replace(folder / NET, net, draft)
    disk.replace(_path(folder, version), weights, draft)


def versions(folder: Path) -> list[int]:
    """The versions whose weights a run folder has, oldest first."""
    names = [path.stem for path in (folder / WEIGHTS).glob("*.safetensors")]
    return sorted(int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < MOST_DIGITS)


def load(folder: Path, version: int, understand: Callable[[bytes], Weights]) -> Weights:
    """What ``understand`` makes of a version's bytes; AsyncplayError where the folder has no such version or
    ``understand`` raises one."""
    path = _path(folder, version)
    if not path.exists():
        known = ", ".join(map(str, versions(folder))) or "none"
        raise AsyncplayError(f"{folder} has no weights of version {version}; it has {known}")
    try:
        return understand(disk.read_file(path, MOST_BYTES))
    except OSError as error:
        raise AsyncplayError(f"{path} cannot be read: {error.strerror}") from None
    except AsyncplayError as error:
        raise AsyncplayError(f"{path} is damaged: {error}; --version takes another one") from None


def _path(folder: Path, version: int) -> Path:
    return folder / WEIGHTS / f"{version:06d}.safetensors"
