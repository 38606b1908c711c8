"""What actors of a population send."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from asyncplay.payloads import Floats as FloatArray
from asyncplay.payloads import Ints as IntArray
from asyncplay.wire.codec import register
from asyncplay.wire.messages import Bytes, Count, Doubles, FeatureRows, Floats, Ints, Longs, Message, UnitResult


@dataclass(frozen=True, slots=True, eq=False)
class Episode(UnitResult):
    """Worker → coordinator: a finished episode of T decisions, which the store keeps as a game."""

    KIND: ClassVar[int] = 64

    seed: Count
    reason: str  # why it ended
    returns: Doubles  # [P], by agent
    outcome: Floats  # [P], on a scale of -1 to 1
    actions: Ints  # [T]
    seats: Bytes  # [T], the agent that decided
    versions: Ints  # [T], of the weights that answered last
    frames: FeatureRows  # [T, F / frames], what it saw then and not before
    choices: FeatureRows  # uint8[T, A], 1 for a legal action
    rewards: Floats  # [T], what the agent got from here until its next decision

    def flaw(self) -> str | None:
        lengths = {len(part) for part in (self.actions, self.seats, self.versions, self.frames, self.choices)}
        if lengths != {len(self.rewards)} or len(self.outcome) != len(self.returns):
            return "parts that belong together are of different lengths"
        return None

    @property
    def decisions(self) -> IntArray:
        """All of them are trained on."""
        return np.arange(len(self.actions), dtype=np.int32)

    @property
    def legal(self) -> IntArray:
        """No policy is stored."""
        return np.empty(0, np.int32)

    @property
    def offsets(self) -> IntArray:
        return np.zeros(len(self.actions) + 1, np.int32)

    @property
    def targets(self) -> FloatArray:
        return np.empty(0, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class ActSpec(Message):
    """The spec of role "act": episodes of a population, a unit each."""

    KIND: ClassVar[int] = 65

    game: str
    options: str  # as JSON
    environments: int  # under way at a time, in two blocks if they are many
    model: int  # that is asked
    epsilon: float  # part of the random decisions in unit 0,
    epsilon_factor: float  # what is left of it a unit later,
    epsilon_least: float  # and at least


@dataclass(frozen=True, slots=True, eq=False)
class RedoSpec(Message):
    """The spec of role "redo": stored episodes, whose decisions are made again in the order of the units."""

    KIND: ClassVar[int] = 66

    game: str
    options: str
    seeds: Longs  # [n], of the episodes
    records: bytes  # packed, one after another
    record_ends: Longs  # [n]

    def flaw(self) -> str | None:
        return None if len(self.seeds) == len(self.record_ends) else "seeds and records differ in number"


register(Episode, ActSpec, RedoSpec)
