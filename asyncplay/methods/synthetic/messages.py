"""What the synthetic load sends."""

from dataclasses import dataclass
from typing import ClassVar

from asyncplay.wire.codec import register
from asyncplay.wire.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticSpec(Message):
    """The spec of role "synthetic": slots that think, ask for a row and check the answer."""

    KIND: ClassVar[int] = 32

    load: str  # LoadSettings as JSON, with the slots of one worker
    players: int


register(SyntheticSpec)
