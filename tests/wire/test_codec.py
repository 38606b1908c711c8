import dataclasses
import random
import typing
import warnings

import msgpack
import numpy as np
import pytest
from hypothesis import given
from strategies import messages

from asyncplay.errors import WireError
from asyncplay.methods.mccfr.messages import Delta
from asyncplay.wire import codec
from asyncplay.wire.codec import HEADER, MAX_FRAME_BYTES, decode, encode, frame_length, register
from asyncplay.wire.messages import PROTOCOL, Answer, Ask, Crash, Hello, JobResult, Message, Ping, Stop, Within


def same(one: Message, other: Message) -> None:
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right, strict=True)
        else:
            assert left == right


def ask(n_rows: int = 3) -> Ask:
    return Ask(
        ticket=7,
        model=0,
        slots=n_rows,
        thinking=2,
        features=np.arange(n_rows * 4, dtype=np.float32).reshape(n_rows, 4),
        legal=np.arange(2 * n_rows, dtype=np.int32),
        offsets=np.arange(0, 2 * n_rows + 1, 2, dtype=np.int32),
    )


@given(messages())
def test_a_message_survives_the_wire(message):
    frame = encode(message)

    assert frame_length(frame) == len(frame) - HEADER.size
    same(decode(frame[HEADER.size :]), message)


def test_a_view_of_every_second_row_travels_as_its_own_rows():
    block = ask(8)
    halved = dataclasses.replace(
        block, slots=4, features=block.features[::2], legal=block.legal[::4], offsets=np.arange(5, dtype=np.int32)
    )

    np.testing.assert_array_equal(decode(encode(halved)[4:]).features, block.features[::2])


def test_a_row_costs_its_bytes_and_little_more():
    """64 rows of 4 floats and 2 actions: 64 * (16 + 8 + 4) bytes, all the rest is under 60."""
    assert 64 * 28 < len(encode(ask(64))) < 64 * 28 + 60


@pytest.mark.parametrize("length", [0, MAX_FRAME_BYTES + 1, 2**32 - 1])
def test_a_length_out_of_range_is_refused_before_anything_is_read(length):
    with pytest.raises(WireError, match=str(length)):
        frame_length(HEADER.pack(length))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "no msgpack"),
        (b"\xc1", "no msgpack"),
        (msgpack.packb({}), "begins with its kind"),
        (msgpack.packb([]), "begins with its kind"),
        (msgpack.packb([True]), "begins with its kind"),
        (msgpack.packb([99]), "unknown kind 99"),
        (msgpack.packb([Stop.KIND, 1]), "Stop has 1 fields, wanted 0"),
        (msgpack.packb([Hello.KIND, PROTOCOL, 0]), "Hello has 2 fields, wanted 3"),
        (msgpack.packb([Hello.KIND, PROTOCOL, 0, True]), "Hello.pid is bool, wanted int"),
        (msgpack.packb([Hello.KIND, PROTOCOL, 0, "1"]), "Hello.pid is str, wanted int"),
        (msgpack.packb([Crash.KIND, b"x", "y"]), "Crash.reason is bytes, wanted str"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [2], b"1234"], None]), "Answer.priors has the shape"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [-1], b""], None]), "no size"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [2**62, 4], b""], None]), "has not 1 dimensions"),
        (msgpack.packb([Answer.KIND, 1, 1, [4, [1], b"1234"], None]), "no array of float32"),
        (b"\xdd\xff\xff\xff\xff", "no msgpack"),
        (b"\x91" * 2000, "no msgpack"),
        (b"\xdd\x00\x00\x00\x20" + b"\x00" * 32, "no msgpack: 32 exceeds"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [0], b""], [7, [0, 2**63], b""]]), "Answer.values has a dimension that"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [0], b""], [7, [2**26 + 1, 0], b""]]), "Answer.values has a dimension"),
        (msgpack.packb([Answer.KIND, 1, 1, [7, [True], b"1234"], None]), "no size"),
        (msgpack.packb([Ping.KIND, 2**63]), "Ping.ticket is 9223372036854775808, wanted -92"),
        (msgpack.packb([Ping.KIND, 1.0]), "Ping.ticket is float, wanted int"),
        (msgpack.packb([Crash.KIND, "x"]) + b"\xa1\xff", "no msgpack"),
        (b"\x93" + bytes([Crash.KIND]) + b"\xa1\xff\xa1x", "no msgpack"),  # no UTF-8
        (b"\x92" + bytes([Ping.KIND]) + b"\xc7\x00\x05", "Ping.ticket is ExtType, wanted int"),
        (b"\x92" + bytes([Ping.KIND]) + b"\xc7\x00\xff", "no msgpack"),  # a timestamp of no bytes
        (b"\x92" + bytes([Ping.KIND]) + b"\xd6\xff" + bytes(4), "no msgpack"),
    ],
)
def test_a_malformed_frame_is_named(body, complaint):
    with pytest.raises(WireError, match=complaint):
        decode(body)


@pytest.mark.parametrize(
    "change",
    [
        {"offsets": np.array([0, 2, 4], np.int32)},
        {"offsets": np.array([0, 2, 2, 6], np.int32)},
        {"offsets": np.array([1, 2, 4, 6], np.int32)},
        {"offsets": np.array([0, 2, 4, 5], np.int32)},
        {"slots": 0},
        {"slots": 4},
        {"extra": 4},
    ],
)
def test_an_ask_that_contradicts_itself_is_refused(change):
    with pytest.raises(WireError, match="contradicts itself"):
        decode(encode(dataclasses.replace(ask(), **change))[4:])


@given(messages())
def test_a_number_outside_its_range_is_refused_in_every_field(message):
    """Both ends of the declared range and the first numbers beyond them, as far as msgpack has such numbers."""
    hints = typing.get_type_hints(type(message), include_extras=True)
    body = msgpack.unpackb(encode(message)[HEADER.size :])
    for place, field in enumerate(dataclasses.fields(message), start=1):
        marks = getattr(hints[field.name], "__metadata__", (Within(),))
        if type(getattr(message, field.name)) is int and isinstance(marks[0], Within):
            low, high = marks[0]
            for wild in {low - 1, high + 1, 2**63, 2**64 - 1} - {-(2**63) - 1}:
                with pytest.raises(WireError, match=rf"\.{field.name} is {wild}, wanted {low} to {high}"):
                    decode(msgpack.packb([*body[:place], wild, *body[place + 1 :]]))


PART = Delta(1, False, 0, 0, 0.0, np.arange(1, dtype=np.int32), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize(
    "change",
    [{"iterations": 1}, {"nodes": 1}, {"utility": 0.1}, {"infosets": np.zeros(0, np.int32)}, {"sums": np.zeros(3)}],
)
def test_a_part_of_changes_before_the_last_says_nothing_of_the_whole(change):
    assert decode(encode(PART)[4:]).infosets.tolist() == [0]
    with pytest.raises(WireError, match="a Delta contradicts itself"):
        decode(encode(dataclasses.replace(PART, **change))[4:])


def test_a_message_travels_once_its_class_is_registered():
    @dataclasses.dataclass(frozen=True, slots=True, eq=False)
    class Note(JobResult):
        KIND: typing.ClassVar[int] = 127
        text: str

    body = msgpack.packb([Note.KIND, 3, "hand-made"])
    with pytest.raises(WireError, match="unknown kind 127"):
        decode(body)
    register(Note)
    try:
        same(decode(body), Note(3, "hand-made"))
        assert encode(Note(3, "hand-made"))[HEADER.size :] == body
    finally:
        del codec._SHAPES[Note.KIND]


def test_a_kind_is_registered_once():
    @dataclasses.dataclass(frozen=True, slots=True, eq=False)
    class Impostor(Message):
        KIND: typing.ClassVar[int] = Ask.KIND

    with pytest.raises(AssertionError, match="Impostor shares its KIND with Ask"):
        register(Impostor)


def mutate(body: bytes, dice: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(4):
            case 0 if place < len(data):
                data[place] = dice.randrange(256)
            case 1:
                del data[place : place + dice.randint(1, 8)]
            case 2:
                data[place:place] = dice.randbytes(dice.randint(1, 8))
            case _ if place < len(data):
                data[place] ^= 1 << dice.randrange(8)
    return bytes(data)


def corpus() -> list[bytes]:
    """One frame of every kind, filled with small values."""
    collected: dict[type, bytes] = {}

    @given(messages())
    def collect(message):
        collected.setdefault(type(message), encode(message)[HEADER.size :])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return [encode(ask())[HEADER.size :], *collected.values()]


def test_200_000_random_and_mutated_frames_give_a_message_or_our_own_error():
    dice = random.Random(1)
    bodies = corpus()
    accepted = 0
    for case in range(200_000):
        body = dice.randbytes(dice.randrange(40)) if case % 4 == 0 else mutate(dice.choice(bodies), dice)
        try:
            decode(body)
            accepted += 1
        except WireError:
            pass
    assert accepted > 1_000, "the mutations are too wild to reach the deeper checks"
