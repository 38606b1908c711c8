"""The watermark, a small file beside the database: how far the store had come when games were last acknowledged.

It is written after a commit and before its acknowledgements. So a database that is behind its watermark has lost games
that had been acknowledged: it was rolled back, cut or copied from an older one.
"""

import errno
import os
import zlib
from pathlib import Path

from asyncplay.data.entries import StorePosition
from asyncplay.data.files import open_file, read_file
from asyncplay.data.store import FILE as STORE

FILE = f"{STORE}-mark"


class Watermark:
    """The writing end; ``write`` is one write of a few bytes in place, which a killed process leaves whole."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = open_file(folder / FILE, os.O_RDWR | os.O_CREAT)

    def write(self, position: StorePosition) -> None:
        line = _line(position)
        if os.pwrite(self._descriptor, line, 0) != len(line):
            raise OSError(errno.ENOSPC, "there is no room for the mark")

    def close(self) -> None:
        os.close(self._descriptor)


def read_watermark(folder: Path) -> StorePosition | None:
    """The position that was acknowledged last; None where there is no watermark or only part of one."""
    try:
        line = read_file(folder / FILE, len(_line(StorePosition())))
        position = StorePosition(*map(int, line.split()[:-1]))
    except (OSError, ValueError, TypeError):
        return None
    return position if line == _line(position) else None


def loss(position: StorePosition, watermark: StorePosition | None) -> str | None:
    """What a database at ``position`` has lost of what was acknowledged, as a sentence, or None."""
    if watermark is None or position.number >= watermark.number:
        return None
    return (
        f"{STORE} ends with game {position.number:,}, but game {watermark.number:,} had been stored: the database was "
        f"rolled back or damaged, and {watermark.games - position.games:,} games are lost; they are played again"
    )


def _line(position: StorePosition) -> bytes:
    """Always of the same length, its checksum last."""
    text = b"%019d %019d %019d" % position
    return text + b" %08x\n" % zlib.crc32(text)
