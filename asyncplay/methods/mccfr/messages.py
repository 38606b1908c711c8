"""What the rounds of a sampling solver send."""

from dataclasses import dataclass
from typing import ClassVar

from asyncplay.wire.codec import register
from asyncplay.wire.messages import Count, Doubles, Ints, JobResult, Message, ToRole


@dataclass(frozen=True, slots=True, eq=False)
class Delta(JobResult):
    """Worker → coordinator: what a job changed at the infosets of a table, or a part of it."""

    KIND: ClassVar[int] = 8

    is_last: bool  # the job is finished with this part; before it, nothing of the job counts
    iterations: Count  # that were done for the job; 0 in all parts but the last
    nodes: Count  # visited for them; likewise
    utility: float  # of the first player, over the job's iterations; likewise
    infosets: Ints  # [m], those that were touched
    regrets: Doubles  # [sum of their actions], differences
    sums: Doubles  # likewise, of the strategy sums

    @property
    def ends_thinking(self) -> bool:
        return self.is_last

    def flaw(self) -> str | None:
        if len(self.regrets) != len(self.sums):
            return "regrets and sums differ in length"
        if not self.is_last and (self.iterations or self.nodes or self.utility or len(self.infosets) == 0):
            return "a part before the last that has no rows or says what the whole job did"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Merged(ToRole):
    """Coordinator → worker, before a job: the regrets of infosets that changed since the worker last got them."""

    KIND: ClassVar[int] = 20

    period: int  # discounts of the whole table so far, these infosets included
    infosets: Ints  # [m]
    regrets: Doubles  # [sum of their actions], as they are now


@dataclass(frozen=True, slots=True, eq=False)
class TraverseSpec(Message):
    """The spec of role "traverse": iterations of a sampling solver over a game's table."""

    KIND: ClassVar[int] = 40

    game: str
    options: str  # of the game, as JSON
    solve: str  # SolveSettings as JSON
    abstraction: str = "{}"  # AbstractionSettings as JSON
    table: str = ""  # the path of a table that all workers of the machine share; without one each has its own
    table_bytes: Count = 0  # of the shared table
    digest: str = ""  # SHA-256 of its abstraction, which the worker's own must have


register(Delta, Merged, TraverseSpec)
