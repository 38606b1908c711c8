import asyncio
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncplay.errors import WireError
from asyncplay.wire.codec import HEADER, MAX_FRAME_BYTES, encode
from asyncplay.wire.messages import Crash
from asyncplay.wire.pipe import BlockingPipe, FrameBuffer, connect


def framed(body: bytes) -> bytes:
    return HEADER.pack(len(body)) + body


@given(st.lists(st.integers(1, 300_000), max_size=6), st.lists(st.integers(1, 400_000), min_size=4, max_size=9))
def test_frames_come_out_whole_however_the_stream_is_cut(sizes, cuts):
    bodies = [bytes([index]) * size for index, size in enumerate(sizes)]
    stream, buffer, out, place, turn = b"".join(map(framed, bodies)), FrameBuffer(), [], 0, 0

    while place < len(stream):
        space = buffer.space()
        chunk = stream[place : place + min(len(space), max(cuts) if turn > 50 else cuts[turn % len(cuts)])]
        space[: len(chunk)] = chunk
        buffer.filled(len(chunk))
        place, turn = place + len(chunk), turn + 1
        while (body := buffer.next()) is not None:
            out.append(bytes(body))

    assert out == bodies
    assert not buffer.has_part


def test_the_buffer_does_not_grow_for_a_length_over_the_limit():
    buffer = FrameBuffer()
    before = len(buffer.space())
    buffer.space()[:4] = HEADER.pack(MAX_FRAME_BYTES + 1)
    buffer.filled(4)

    with pytest.raises(WireError):
        buffer.next()
    assert len(buffer.space()) == before - 4


class Ear:
    """Collects what a channel hands over."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def frame(self, body: memoryview) -> None:
        self.bodies.append(bytes(body))


async def hear(payload: bytes) -> tuple[list[bytes], str]:
    """Send raw bytes to a channel, hang up, and return what it made of them."""
    ours, theirs = socket.socketpair()
    ear = Ear()
    await connect(ours, ear.frame, ear.lost.set_result)
    await asyncio.to_thread(lambda: (theirs.sendall(payload), theirs.close()))
    return ear.bodies, await ear.lost


async def test_a_clean_hang_up_is_told_apart_from_half_a_frame():
    assert await hear(framed(b"abc")) == ([b"abc"], "hung up")
    assert await hear(framed(b"abc") + framed(b"defg")[:6]) == ([b"abc"], "hung up in the middle of a frame")


async def test_an_oversize_frame_ends_the_channel_with_its_reason():
    bodies, reason = await hear(framed(b"abc") + HEADER.pack(2**31) + b"xyz")
    assert bodies == [b"abc"]
    assert "announces 2147483648 bytes" in reason


async def test_a_megabyte_goes_through_to_the_blocking_end_and_back():
    ours, theirs = socket.socketpair()
    ear = Ear()
    channel = await connect(ours, ear.frame, ear.lost.set_result)
    frame = encode(Crash("big", "x" * 1_000_000))

    def echo() -> None:
        pipe = BlockingPipe(theirs)
        pipe.send(framed(bytes(pipe.receive(None))))
        pipe.close()

    thread = threading.Thread(target=echo)
    thread.start()
    channel.send(frame)
    await ear.lost
    thread.join()
    assert ear.bodies == [frame[HEADER.size :]]


def test_the_blocking_end_returns_none_when_the_time_is_up_and_says_when_the_other_is_gone():
    ours, theirs = socket.socketpair()
    pipe = BlockingPipe(theirs)
    assert pipe.receive(0) is None
    ours.close()
    with pytest.raises(EOFError):
        pipe.receive(None)
    with pytest.raises(EOFError):
        pipe.send(b"x" * 10)
    pipe.close()
