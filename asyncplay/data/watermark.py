"""A mark beside the database: how far it had come when games were last acknowledged.

The mark is written after a commit and before its acknowledgements. So a database that is behind its mark has lost
games that somebody was told were safe: it was rolled back, cut or copied from an older one.
"""

import errno
import os
import zlib
from pathlib import Path

from asyncplay.data.entries import StorePosition
from asyncplay.data.files import open_file, read_file

FILE = "run.sqlite-mark"


class Watermark:
    """The writing end; ``write`` is one write of a few bytes in place, which a killed process leaves whole."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = open_file(folder / FILE, os.O_RDWR | os.O_CREAT)

    def write(self, kept: StorePosition) -> None:
        line = _line(kept)
        if os.pwrite(self._descriptor, line, 0) != len(line):
            raise OSError(errno.ENOSPC, "there is no room for the mark")

    def close(self) -> None:
        os.close(self._descriptor)


def read_watermark(folder: Path) -> StorePosition | None:
    """What was acknowledged last; None where there is no mark or only part of one."""
    try:
        line = read_file(folder / FILE, len(_line(StorePosition())))
        kept = StorePosition(*map(int, line.split()[:-1]))
    except (OSError, ValueError, TypeError):
        return None
    return kept if line == _line(kept) else None


def loss(kept: StorePosition, mark: StorePosition | None) -> str | None:
    """Say what a database has lost of what was acknowledged, or None."""
    if mark is None or kept.number >= mark.number:
        return None
    return (
        f"run.sqlite ends with game {kept.number:,}, but game {mark.number:,} had been stored: the database was rolled "
        f"back or damaged, and {mark.games - kept.games:,} games are lost; they are played again"
    )


def _line(kept: StorePosition) -> bytes:
    """Always of the same length, its checksum last."""
    text = b"%019d %019d %019d" % kept
    return text + b" %08x\n" % zlib.crc32(text)
