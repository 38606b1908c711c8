"""Messages longer than a frame: cut, joined, and refused where they are none."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import messages
from test_codec import same

from asyncplay.errors import WireError
from asyncplay.methods.selfplay.messages import Game
from asyncplay.wire import codec
from asyncplay.wire.codec import HEADER, MAX_FRAME_BYTES, PART_BYTES, decode, encode, frames, payload_bytes
from asyncplay.wire.messages import Message, MessagePart, Ping
from asyncplay.wire.parts import Joiner


def joined(frames_of: list[bytes], joiner: Joiner | None = None) -> Message | None:
    """What the last of these frames completes; none before it does."""
    joiner, message = joiner or Joiner(), None
    for frame in frames_of:
        assert message is None
        part = decode(frame[HEADER.size :])
        assert isinstance(part, MessagePart)
        message = joiner.take(part)
    return message


def game(n_rows: int, n_features: int) -> Game:
    counts = np.ones(n_rows, np.int32)
    return Game(
        job=1,
        unit=2,
        seed=3,
        reason="rules",
        returns=np.zeros(2),
        outcome=np.zeros(2, np.float32),
        actions=np.zeros(n_rows, np.int32),
        decisions=np.arange(n_rows, dtype=np.int32),
        seats=np.zeros(n_rows, np.int8),
        versions=counts,
        features=np.random.default_rng(0).integers(0, 256, (n_rows, n_features), np.uint8),
        legal=counts,
        offsets=np.arange(n_rows + 1, dtype=np.int32),
        targets=np.ones(n_rows, np.float32),
        values=np.zeros((n_rows, 2), np.float32),
        states=np.zeros((n_rows, 0), np.int64),
    )


@given(messages().filter(lambda message: not isinstance(message, MessagePart)), st.integers(1, 60))
def test_a_message_survives_the_wire_in_parts_of_any_size(message, part_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "PART_BYTES", part_bytes)
        sent = list(frames(message))
    if len(sent) == 1 and payload_bytes(message) <= part_bytes:
        assert sent == [encode(message)]
    else:
        same(joined(sent), message)


def test_a_message_that_fits_into_a_frame_is_one():
    assert list(frames(Ping(7))) == [encode(Ping(7))]


def test_no_frame_of_a_long_message_is_longer_than_a_part_and_its_head():
    long = game(30, 1 << 20)
    sent = [len(frame) for frame in frames(long)]
    assert len(sent) == 4
    assert max(sent) < PART_BYTES + 40 < MAX_FRAME_BYTES
    same(joined(list(frames(long))), long)


def test_sending_a_long_message_copies_a_few_parts_of_it_and_not_the_whole():
    long = game(100, 1 << 20)
    tracemalloc.start()
    for _ in frames(long):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * PART_BYTES


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([MessagePart(0, 101, b"x")], "a message of 101 bytes is coming, at most 100 are allowed: see pool.message_mb"),
        ([MessagePart(1, 10, b"x")], "bytes 1 to 2 of 10, after 0 of 0"),
        ([MessagePart(0, 10, b"")], "bytes 0 to 0 of 10"),
        ([MessagePart(0, 10, b"x" * 11)], "bytes 0 to 11 of 10"),
        ([MessagePart(0, 10, b"xx"), MessagePart(0, 10, b"xx")], "bytes 0 to 2 of 10, after 2 of 10"),
        ([MessagePart(0, 10, b"xx"), MessagePart(3, 10, b"xx")], "bytes 3 to 5 of 10, after 2 of 10"),
        ([MessagePart(0, 10, b"xx"), MessagePart(2, 11, b"xx")], "bytes 2 to 4 of 11, after 2 of 10"),
        ([MessagePart(0, 10, b"xx"), MessagePart(2, 10, b"")], "bytes 2 to 2 of 10"),
        ([MessagePart(0, 10, b"xx"), MessagePart(2, 10, b"x" * 9)], "bytes 2 to 11 of 10"),
        ([MessagePart(0, 3, b"\xc1\xc1"), MessagePart(2, 3, b"\xc1")], "is no msgpack"),
        ([MessagePart(0, 8, encode(MessagePart(0, 1, b"x"))[HEADER.size :])], "a part is itself in parts"),
    ],
)
def test_a_part_of_no_message_is_refused(parts, complaint):
    joiner = Joiner(100)
    *early, last = parts
    for part in early:
        assert joiner.take(part) is None
    if "itself" in complaint:
        last = MessagePart(0, len(last.data), last.data)
    with pytest.raises(WireError, match=complaint):
        joiner.take(last)
    assert joiner.held_bytes <= 100


def test_messages_in_parts_are_counted_and_leave_nothing_behind(monkeypatch):
    monkeypatch.setattr(codec, "PART_BYTES", 50)
    joiner = Joiner()
    for _ in range(3):
        assert joined(list(frames(game(4, 100))), joiner) is not None
    assert (joiner.joined, joiner.held_bytes) == (3, 0)
