"""What self-play, matches and the refill of a window send."""

from dataclasses import dataclass
from typing import ClassVar

from asyncplay.wire.codec import register
from asyncplay.wire.messages import (
    Bytes,
    Count,
    Doubles,
    FeatureRows,
    FloatRows,
    Floats,
    Ints,
    LongRows,
    Longs,
    Message,
    Small,
    UnitResult,
    rows_flaw,
)


@dataclass(frozen=True, slots=True, eq=False)
class Game(UnitResult):
    """Worker → coordinator: a finished game, its record and its training examples."""

    KIND: ClassVar[int] = 6

    seed: Count
    reason: str  # why it ended
    returns: Doubles  # [P], by seat, in the game's own units
    outcome: Floats  # [P], by seat, -1 to 1: on the network's scale, or the winners of a game of several stages
    actions: Ints  # [all decisions]
    decisions: Ints  # [n], which decision each row is
    seats: Bytes  # [n], the seat that decided
    versions: Ints  # [n], of the weights that estimated
    features: FeatureRows  # [n, F]
    legal: Ints  # [L]
    offsets: Ints  # [n + 1]
    targets: Floats  # [L], the search's policy
    values: FloatRows  # [n, P], entry k for the seat k places to the left of the one that decided; -1 to 1
    states: LongRows  # [n, S], the positions where turning an action depends on them; else [n, 0]
    shortened: Small = 0  # searches that ended early because their tree was full
    unrecorded: Small = 0  # decisions whose policy found no space

    def flaw(self) -> str | None:
        n_rows = len(self.features)
        if not len(self.decisions) == len(self.seats) == len(self.versions) == len(self.states) == n_rows:
            counts = f"{len(self.decisions)} decisions, {len(self.seats)} seats, {len(self.states)} states"
            return f"{n_rows} rows, but {counts}"
        if len(self.targets) != len(self.legal) or len(self.outcome) != len(self.returns):
            return "targets or outcome of another length than what they belong to"
        if self.values.shape != (n_rows, len(self.outcome)):
            return f"values of shape {self.values.shape} for {n_rows} rows of {len(self.outcome)} seats"
        if n_rows and int(self.legal.min()) < 0:
            return "a negative action"
        return rows_flaw(n_rows, self.legal, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class SelfplaySpec(Message):
    """The spec of role "selfplay": games against oneself, recorded with their training examples."""

    KIND: ClassVar[int] = 34

    game: str
    options: str  # of the game, as JSON
    games: int  # under way at a time, in two groups if they are many
    search: str  # SearchSettings as JSON
    cache: int = 0  # positions whose answers are remembered,
    cache_bytes: Count = 1 << 62  # in at most so many bytes
    shows_hidden: bool = False  # rows have the game's hidden features


@dataclass(frozen=True, slots=True, eq=False)
class MatchSpec(Message):
    """The spec of role "match": unit u is game u of a match, its opening shared with the game beside it."""

    KIND: ClassVar[int] = 35

    game: str
    options: str
    games: int  # under way at a time
    search: str  # SearchSettings as JSON
    hero: str  # "model:NUMBER"
    rival: str  # "model:NUMBER" or an agent of agents/catalogue.py
    opening: int  # random decisions before the two begin
    rival_search: str = ""  # likewise, where the rival does not think as the hero does
    shows_hidden: bool = False  # rows for the hero's model have the game's hidden features
    shows_rival_hidden: bool = False  # rows for the rival's model


@dataclass(frozen=True, slots=True, eq=False)
class RebuildSpec(Message):
    """The spec of role "rebuild": stored games whose training examples are rebuilt, in the order of the units."""

    KIND: ClassVar[int] = 48

    game: str
    options: str
    seeds: Longs  # [n], of the games
    returns: Doubles  # by seat, in the game's own units, all games' one after another
    return_ends: Longs  # [n], where each game's returns end
    records: bytes  # packed, one after another
    record_ends: Longs  # [n]
    shows_hidden: bool = False  # rows have the game's hidden features

    def flaw(self) -> str | None:
        if not len(self.seeds) == len(self.return_ends) == len(self.record_ends):
            return f"{len(self.seeds)} seeds, {len(self.return_ends)} returns, {len(self.record_ends)} records"
        return None


register(Game, SelfplaySpec, MatchSpec, RebuildSpec)
