"""What building buckets sends."""

from dataclasses import dataclass
from typing import ClassVar

from asyncplay.wire.codec import register
from asyncplay.wire.messages import Count, Ints, Longs, Message, UnitResult


@dataclass(frozen=True, slots=True, eq=False)
class BoardsSpec(Message):
    """The spec of role "boards": canonical boards, several a unit, and what to do with them.

    "rank": half wins of all pairs beside full boards. "sample": cumulative histograms of some pairs beside each board.
    "assign": the nearest center of every pair beside each board.
    """

    KIND: ClassVar[int] = 50

    task: str
    deck: Count  # a set of cards
    boards: Longs  # sets of cards, all units' one after another
    weights: Longs  # of each board: how many boards it stands for
    ends: Longs  # [n], where each unit's boards end
    halves: str  # the file of half wins on all canonical full boards; "rank" makes it
    sample: int  # pairs that are taken of each board
    flop_centers: Ints  # [k * BINS]
    turn_centers: Ints  # [k * BINS]

    def flaw(self) -> str | None:
        if len(self.weights) != len(self.boards) or (len(self.ends) and self.ends[-1] != len(self.boards)):
            return f"{len(self.boards)} boards, {len(self.weights)} weights, units up to {self.ends[-1:]}"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class BoardsResult(UnitResult):
    """Worker → coordinator: what came of a unit's boards."""

    KIND: ClassVar[int] = 51

    data: bytes  # "rank": int16 half wins, "sample": int16[n, BINS], "assign": uint16 buckets
    totals: Longs  # "assign": statistics of each bucket, then of each class of hole cards on the flop


register(BoardsSpec, BoardsResult)
