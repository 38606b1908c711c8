"""Standard output and error, which may fail: the reader has closed the pipe, or the disk is full.

Text that cannot be written does not stop a command: it is dropped, and the first error is kept, so that the command
can report that its result did not arrive.
"""

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

from asyncplay.errors import printable


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


def say(line: object) -> None:
    """Write a message for people to standard error."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Write a result to standard output."""
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


@contextmanager
def tolerant() -> Iterator[Outlet | None]:
    """Let both streams fail in silence; yield what standard output goes through, None where a caller replaced it.

    The number of a stream that was closed from the start goes to the null device: otherwise the next file to be opened
    would get the number, and with it all output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
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
