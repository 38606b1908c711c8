"""The two ends of a pipe: a protocol for the event loop, a blocking end for the worker."""

import asyncio
import select
import socket
from collections.abc import Callable
from typing import cast

from asyncplay.errors import WireError
from asyncplay.wire.codec import HEADER, frame_length

_SMALL_BYTES = 256 << 10
_LARGE_BYTES = 4 << 20


class FrameBuffer:
    """Cuts a stream of bytes into frame bodies, in place.

    Owns one buffer which grows only after a frame's announced length was checked, and shrinks again.
    """

    def __init__(self) -> None:
        self._data = bytearray(_SMALL_BYTES)
        self._start = self._end = 0

    def space(self) -> memoryview:
        """Return where the next bytes go; never empty."""
        return memoryview(self._data)[self._end :]

    def filled(self, n_bytes: int) -> None:
        self._end += n_bytes

    @property
    def has_part(self) -> bool:
        """Whether the bytes so far end in the middle of a frame."""
        return self._end > self._start

    def next(self) -> memoryview | None:
        """Return the next whole body, valid until ``space`` is asked for again, or None."""
        held = self._end - self._start
        if held < HEADER.size:
            self._make_room(HEADER.size)
            return None
        length = frame_length(memoryview(self._data)[self._start : self._end])
        if held < HEADER.size + length:
            self._make_room(HEADER.size + length)
            return None
        first = self._start + HEADER.size
        self._start = first + length
        return memoryview(self._data)[first : self._start]

    def _make_room(self, wanted: int) -> None:
        """Move the part of a frame to the front if the whole would not fit behind it."""
        held = self._end - self._start
        if held == 0 and len(self._data) > _LARGE_BYTES:
            self._data = bytearray(_SMALL_BYTES)
        elif wanted > len(self._data):
            self._data = self._data[self._start : self._end] + bytearray(wanted - held)
        elif held == 0 or self._start + wanted > len(self._data):
            self._data[:held] = self._data[self._start : self._end]
        else:
            return
        self._start, self._end = 0, held


class Channel(asyncio.BufferedProtocol):
    """The event loop's end of a pipe.

    Lifetime: from ``connect`` until either end closes. Order: frames are handed over in order of arrival,
    on the loop. Limit: ``pause`` stops reading, and the worker's next send waits. End: ``on_lost`` is called
    once, with the reason.
    """

    def __init__(self, on_frame: Callable[[memoryview], None], on_lost: Callable[[str], None]) -> None:
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._buffer = FrameBuffer()
        self._transport: asyncio.Transport | None = None
        self._fault: str | None = None

    def send(self, frame: bytes) -> None:
        """Queue a frame; one to a closed pipe is dropped, as it would be a moment later."""
        if self._transport is not None:
            self._transport.write(frame)

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def close(self) -> None:
        """Hang up at once; what was not written yet is lost."""
        if self._transport is not None:
            self._transport.abort()

    def refuse(self, why: str) -> None:
        """Hang up because of what came in; ``on_lost`` will give this reason."""
        self._fault = self._fault or why
        self.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own class is none by name

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer.space()

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer.filled(nbytes)
        try:
            while self._fault is None and (body := self._buffer.next()) is not None:
                self._on_frame(body)
        except WireError as error:
            self.refuse(str(error))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        torn = "hung up in the middle of a frame" if self._buffer.has_part else "hung up"
        self._on_lost(self._fault or (f"pipe failed: {exc}" if exc else torn))


async def connect(
    sock: socket.socket, on_frame: Callable[[memoryview], None], on_lost: Callable[[str], None]
) -> Channel:
    """Give the loop its end of a socket pair; the channel owns ``sock`` from here on."""
    sock.setblocking(False)  # uvloop takes it as it is, and a blocking one would stop the loop
    loop = asyncio.get_running_loop()
    channel = Channel(on_frame, on_lost)
    await loop.create_unix_connection(lambda: channel, sock=sock)
    return channel


class BlockingPipe:
    """The worker's end. One thread sends and receives; EOFError when the other end is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock.dup()  # the lowest free number: select, the only wait finer than 1 ms, ends at 1023
        sock.close()
        self._sock.setblocking(True)
        self._buffer = FrameBuffer()

    def send(self, frame: bytes) -> None:
        try:
            self._sock.sendall(frame)
        except OSError as error:
            raise EOFError(str(error)) from None

    def receive(self, timeout_s: float | None) -> memoryview | None:
        """Return the next body, valid until the next call, or None when the time is up first."""
        while (body := self._buffer.next()) is None:
            if timeout_s is not None and not select.select([self._sock], [], [], timeout_s)[0]:
                return None
            try:
                n_bytes = self._sock.recv_into(self._buffer.space())
            except OSError as error:
                raise EOFError(str(error)) from None
            if n_bytes == 0:
                raise EOFError("the coordinator hung up")
            self._buffer.filled(n_bytes)
        return body

    def close(self) -> None:
        self._sock.close()
