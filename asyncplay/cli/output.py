"""Standard output and error that may fail: nobody reads the pipe any more, or the disk is full.

Words that cannot be written are no reason to stop working: they are dropped, and the first error is kept for whoever
has to know that a result did not arrive.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast


class Outlet(io.FileIO):
    """A descriptor that always takes everything; it stays open when this is closed."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.error: OSError | None = None  # the first

    def write(self, data: object) -> int:
        size = memoryview(cast(bytes, data)).nbytes
        try:
            return super().write(cast(bytes, data)) or size
        except OSError as error:
            self.error = self.error or error
            return size


@contextmanager
def tolerant() -> Iterator[Outlet | None]:
    """Let both streams fail in silence; yields what standard output goes through, None where somebody replaced it.

    Where a stream was closed from the start, its number goes to the null device: the next file that is opened would
    get it, and all that is said.
    """
    for descriptor in (0, 1, 2):
        _occupy(descriptor)
    before = sys.stdout, sys.stderr
    out, sys.stdout = _rewired(sys.stdout, sys.__stdout__)
    _, sys.stderr = _rewired(sys.stderr, sys.__stderr__)
    try:
        yield out
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def complaint(out: Outlet | None) -> str | None:
    """Why a result did not arrive; a reader that has seen enough is no failure."""
    if out is None or out.error is None or out.error.errno == errno.EPIPE:
        return None
    return f"standard output: {out.error.strerror}"


def _occupy(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def _rewired(stream: TextIO | None, own: TextIO | None) -> tuple[Outlet | None, TextIO]:
    if stream is None:
        return None, open(os.devnull, "w")  # for as long as the process lives
    if stream is not own:
        return None, stream
    with suppress(OSError):
        stream.flush()
    outlet = Outlet(stream.fileno())
    made = io.TextIOWrapper(
        io.BufferedWriter(outlet),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )
    return outlet, made
