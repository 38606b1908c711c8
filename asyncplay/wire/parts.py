"""Puts messages together that came in parts."""

from asyncplay.errors import WireError
from asyncplay.wire.codec import decode
from asyncplay.wire.messages import MOST_MESSAGE_BYTES, Message, MessagePart


class Joiner:
    """One end's memory of the message that is coming.

    Lifetime: as long as its pipe. Order: the parts of one message after another. Limit: ``most_bytes`` of a message;
    what its first part announces beyond is refused before a byte is kept. End: what is not whole is dropped with it.
    """

    def __init__(self, most_bytes: int = MOST_MESSAGE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._body = bytearray()
        self._total = 0
        self.joined = 0  # messages that came in parts

    @property
    def held_bytes(self) -> int:
        """Of a message that is not whole yet."""
        return len(self._body)

    def take(self, part: MessagePart) -> Message | None:
        """Return the message if this was its last part; WireError if it is no part of the message that is coming."""
        first, stop = part.first, part.first + len(part.data)
        if part.total > self._most_bytes:
            most = f"at most {self._most_bytes:,} are allowed: see pool.message_mb"
            raise WireError(f"a message of {part.total:,} bytes is coming, {most}")
        if first != len(self._body) or (first and part.total != self._total) or not first < stop <= part.total:
            held = f"after {len(self._body)} of {self._total}"
            raise WireError(f"a part has the bytes {first} to {stop} of {part.total}, {held}")
        self._body += part.data
        self._total = part.total
        if stop < part.total:
            return None
        body, self._body = self._body, bytearray()
        message = decode(memoryview(body))
        if isinstance(message, MessagePart):
            raise WireError("a part is itself in parts")
        self.joined += 1
        return message
