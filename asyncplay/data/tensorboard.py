"""Event files that TensorBoard opens, written by hand.

TensorBoard's own writer takes half a second to import and a thread; an event is a few bytes of protobuf in a record
with two checksums. ``tensorboard --logdir RUN`` reads them while the run goes on.
"""

import contextlib
import errno
import logging
import math
import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = "tensorboard"
FORMAT = b"brain.Event:2"
MASK_DELTA, WORD = 0xA282EAD8, 0xFFFFFFFF
DOUBLE, BYTES, FLOAT = 1, 2, 5  # wire types of protobuf; that of a whole number is 0
LARGEST_FLOAT = 3.4028234663852886e38
POLYNOMIAL = 0x82F63B78  # Castagnoli's, with its bits reversed


class EventFile:
    """One file of a run; a resumed run writes another one, and TensorBoard shows them as one.

    An event is written whole or not at all: a full disk costs the event, never the run. A file that cannot be created
    is created with a later event.
    """

    def __init__(self, run: Path) -> None:
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}"
        self._path, self._descriptor = run / FOLDER / name, -1
        self._end, self._is_well = 0, True
        self._append(b"")

    def write(self, time_s: float, step: int, values: Mapping[str, float]) -> None:
        """Figures of one time; ``step`` is what TensorBoard draws them over."""
        summary = b""
        for name, value in values.items():
            fitting = math.copysign(math.inf, value) if abs(value) > LARGEST_FLOAT else value
            summary += _bytes(1, _bytes(1, name.encode()) + _varint(2 << 3 | FLOAT) + struct.pack("<f", fitting))
        number = _varint(2 << 3) + _varint(step)
        self._append(record(_double(1, time_s) + number + _bytes(5, summary)))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def _append(self, event: bytes) -> None:
        """The part of an event that does not fit is cut off again, or overwritten by the next event that does."""
        try:
            if self._descriptor < 0:
                self._path.parent.mkdir(exist_ok=True)
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if self._end == 0:
                event = record(_double(1, time.time()) + _bytes(3, FORMAT)) + event
            if os.pwrite(self._descriptor, event, self._end) != len(event):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._end += len(event)
            self._is_well = True
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            if self._is_well:
                log.warning("TensorBoard's events cannot be written and are left out: %s", error.strerror)
            self._is_well = False


def record(data: bytes) -> bytes:
    """Length and data, each with its checksum."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum, which zlib does not have."""
    crc = WORD
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ WORD


def _masked(data: bytes) -> bytes:
    """The checksum rotated and shifted by a constant: one of data that contains checksums would be poor."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + MASK_DELTA) & WORD)


_TABLE = list(range(256))
for _ in range(8):
    _TABLE = [entry >> 1 ^ (POLYNOMIAL if entry & 1 else 0) for entry in _TABLE]


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | DOUBLE) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
