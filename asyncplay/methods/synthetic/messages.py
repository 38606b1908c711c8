"""What the synthetic load sends."""

from dataclasses import dataclass
from typing import ClassVar

from asyncplay.wire.codec import register
from asyncplay.wire.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticSpec(Message):
    """The spec of role "synthetic": slots that think, ask for a row and check the answer."""

    KIND: ClassVar[int] = 32

    slots: int
    features: int  # bytes of a row
    actions: int  # legal actions of a row
    players: int
    law: str  # of the think time: "constant", "exponential" or "lognormal"
    think_s: float  # its mean
    straggler_share: float
    straggler_s: float
    grain_s: float  # rows that get ready within this time share a message
    message_rows: int  # of this many at most
    checked: bool  # compare each answer with the simulated device's checksum


register(SyntheticSpec)
