"""Messages to bytes and back. The only user of msgpack.

A frame is a little-endian uint32 length and that many bytes of msgpack: ``[KIND, field, field, ...]`` in
the order of the message's fields. An array is ``[dtype code, shape, bytes]``. Nothing is trusted: whatever
comes in, ``decode`` returns a message with the declared types and ranges or raises WireError.

A message of more than PART_BYTES travels as several frames, each a ``MessagePart`` of its body; ``parts.Joiner`` puts
them together. So no message is too long for a frame, and how long one may be is for the receiver to say.

The engine's messages are registered here, those of a method by its own module.
"""

import dataclasses
import struct
import threading
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgpack
import numpy as np

from asyncplay.errors import WireError
from asyncplay.wire.messages import (
    Ack,
    Answer,
    Ask,
    Bye,
    Computed,
    Crash,
    Done,
    Hello,
    Hold,
    Idle,
    Job,
    Layout,
    Message,
    MessagePart,
    Ping,
    PlaceModel,
    Pong,
    Stop,
    Within,
)

HEADER = struct.Struct("<I")
MAX_FRAME_BYTES = 64 << 20
"""No frame of ours comes near this; a longer one is refused before a byte of it is read."""
PART_BYTES = 8 << 20
"""What a longer message is cut into: the loop has other things to do between two parts."""

_DTYPES = {
    code: np.dtype(name)
    for code, name in enumerate(("uint8", "int8", "int16", "int32", "int64", "uint64", "float32", "float64"), start=1)
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}

_BIN = struct.Struct(">BI")  # how msgpack begins bytes of any length,
_BIN_CODE = 0xC6  # with this

_SMALL_BYTES = 16 << 10  # below, copying an array is faster than making a view of it

Reader = Callable[[Any], Any]


class _Own(threading.local):
    """Each thread's packer; a new one for each message would allocate its buffer each time."""

    def __init__(self) -> None:
        self.packer = msgpack.Packer()


class _Field(NamedTuple):
    name: str
    read: Reader
    write: Callable[[Message, Any], None]
    is_array: bool


class _Shape(NamedTuple):
    """How a kind of message is read."""

    cls: type[Message]
    fields: tuple[_Field, ...]


_own = _Own()
_SHAPES: dict[int, _Shape] = {}  # of the registered messages, by KIND
_most_items = 0  # of a list in any of them; msgpack allocates a list before it reads the items


def encode(message: Message) -> bytes:
    """Return the message as one frame, header included: what lies within another message, or is known to be short."""
    return _frame(_values(message)[0])


def frames(message: Message) -> Iterable[bytes]:
    """Return the frames that carry the message; only one part of a long one is copied at a time."""
    values, n_bytes = _values(message)
    return (_frame(values),) if n_bytes <= PART_BYTES else _parts(values)


def payload_bytes(message: Message) -> int:
    """Bytes of a message's arrays."""
    arrays = (field.name for field in _SHAPES[message.KIND].fields if field.is_array)
    return sum(getattr(message, name).nbytes for name in arrays)


def _values(message: Message) -> tuple[list[Any], int]:
    """What msgpack is given, and about how many bytes that is: those of arrays and bytes."""
    values: list[Any] = [message.KIND]
    n_bytes = 0
    for field in _SHAPES[message.KIND].fields:
        value = getattr(message, field.name)
        if field.is_array:
            is_large = value.nbytes > _SMALL_BYTES and value.flags.c_contiguous
            n_bytes += value.nbytes
            value = (_CODES[value.dtype], value.shape, value.data.cast("B") if is_large else value.tobytes())
        elif type(value) is bytes:
            n_bytes += len(value)
        values.append(value)
    return values, n_bytes


def _frame(values: list[Any]) -> bytes:
    body: bytes = _own.packer.pack(values)
    return HEADER.pack(len(body)) + body


def _parts(values: list[Any]) -> Iterator[bytes]:
    pieces = list(_pieces(values))
    total, first = sum(len(piece) for piece in pieces), 0
    for data in _cut(pieces):
        yield _frame([MessagePart.KIND, first, total, data])
        first += len(data)


def _pieces(values: list[Any]) -> Iterator[bytes | memoryview]:
    """The body piece by piece, with the long ones as they lie in memory: a packer would copy them and keep the room."""
    packer = msgpack.Packer()
    yield packer.pack_array_header(len(values))
    for value in values:
        if type(value) is tuple:
            code, shape, data = value
            yield packer.pack_array_header(3) + packer.pack(code) + packer.pack(shape) + _BIN.pack(_BIN_CODE, len(data))
            yield data
        elif type(value) is bytes:
            yield _BIN.pack(_BIN_CODE, len(value))
            yield value
        else:
            yield packer.pack(value)


def _cut(pieces: list[bytes | memoryview]) -> Iterator[bytes]:
    """All bytes in order, PART_BYTES at a time."""
    part = bytearray()
    for piece in pieces:
        start = 0
        while start < len(piece):
            stop = min(start + PART_BYTES - len(part), len(piece))
            part += memoryview(piece)[start:stop]
            start = stop
            if len(part) == PART_BYTES:
                yield bytes(part)
                part.clear()
    if part:
        yield bytes(part)


def decode(body: bytes | memoryview) -> Message:
    """Read a frame's body. Arrays of the result are read-only."""
    try:
        values = msgpack.unpackb(
            body, raw=False, use_list=True, max_array_len=_most_items, max_map_len=0, max_ext_len=0
        )
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise WireError(f"a frame of {len(body)} bytes is no msgpack: {error}") from None
    if not isinstance(values, list) or not values or type(values[0]) is not int:
        raise WireError("a frame is not a list that begins with its kind")
    if values[0] not in _SHAPES:
        raise WireError(f"a frame is of the unknown kind {values[0]}")
    cls, fields = _SHAPES[values[0]]
    if len(values) - 1 != len(fields):
        raise WireError(f"a {cls.__name__} has {len(values) - 1} fields, wanted {len(fields)}")
    message = cls.__new__(cls)
    for field, value in zip(fields, values[1:], strict=True):
        try:
            field.write(message, field.read(value))  # past the frozen constructor, which takes 4 us
        except WireError as error:
            raise WireError(f"{cls.__name__}.{field.name} {error}") from None
    if flaw := message.flaw():
        raise WireError(f"a {cls.__name__} contradicts itself: {flaw}")
    return message


def frame_length(header: bytes | memoryview | bytearray) -> int:
    """Return the length a header announces, checked before anything of it is read or allocated."""
    length: int = HEADER.unpack_from(header)[0]
    if not 0 < length <= MAX_FRAME_BYTES:
        raise WireError(f"a frame announces {length} bytes, allowed are 1 to {MAX_FRAME_BYTES}")
    return length


def register(*classes: type[Message]) -> None:
    """Let messages of these classes travel. Both ends of a pipe register the same ones."""
    global _most_items
    for cls in classes:
        assert cls.KIND not in _SHAPES, f"{cls.__name__} shares its KIND with {_SHAPES[cls.KIND].cls.__name__}"
        hints = typing.get_type_hints(cls, include_extras=True)
        fields = []
        for name in (field.name for field in dataclasses.fields(cls)):  # type: ignore[arg-type]  # all are dataclasses
            marks = (mark for mark in getattr(hints[name], "__metadata__", ()) if isinstance(mark, Layout | Within))
            if isinstance(mark := next(marks, Within()), Layout):
                read = _array_reader(mark)
            else:
                read = _scalar_reader(getattr(hints[name], "__origin__", hints[name]), *mark)
            fields.append(_Field(name, read, getattr(cls, name).__set__, isinstance(mark, Layout)))
        _SHAPES[cls.KIND] = _Shape(cls, tuple(fields))
        _most_items = max(_most_items, 1 + len(fields))


def _array_reader(layout: Layout) -> Reader:
    dtypes = [np.dtype(name) for name in layout.dtypes]
    allowed = {_CODES[dtype]: (dtype, dtype.itemsize) for dtype in dtypes}

    def read(value: object) -> np.ndarray[Any, Any]:
        if type(value) is not list or len(value) != 3:
            raise WireError("is no array")
        code, shape, data = value
        if type(code) is not int or code not in allowed or type(data) is not bytes:
            raise WireError(f"is no array of {' or '.join(layout.dtypes)}")
        if type(shape) is not list or len(shape) != layout.ndim:
            raise WireError(f"has not {layout.ndim} dimensions")
        dtype, n_bytes = allowed[code]
        for side in shape:
            if type(side) is not int or side < 0:
                raise WireError("has a dimension that is no size")
            n_bytes *= side
        if n_bytes == 0 and max(shape) > MAX_FRAME_BYTES:  # where no bytes are counted a side may be anything
            raise WireError("has a dimension that is no size")
        if n_bytes != len(data):
            raise WireError(f"has the shape {shape}, but {len(data)} bytes of {dtype}")
        array = np.frombuffer(data, dtype)
        return array if layout.ndim == 1 else array.reshape(shape)

    return read


def _scalar_reader(wanted: type[Any], low: int, high: int) -> Reader:
    is_number = wanted is int

    def read(value: Any) -> Any:
        if type(value) is not wanted:
            raise WireError(f"is {type(value).__name__}, wanted {wanted.__name__}")
        if is_number and not low <= value <= high:
            raise WireError(f"is {value}, wanted {low} to {high}")
        return value

    return read


register(
    Hello, Job, Ask, Answer, Done, Ack, Ping, Pong, Crash, Stop, Bye, Idle, MessagePart, PlaceModel, Hold, Computed
)
