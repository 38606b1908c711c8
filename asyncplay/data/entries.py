"""What is put into the store, and what came of it."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from asyncplay.payloads import Array, Floats, Ints


class FinishedGame(Protocol):
    """What the store reads of a finished game; the message that brought it has more."""

    @property
    def unit(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def returns(self) -> Array: ...
    @property
    def outcome(self) -> Floats: ...
    @property
    def actions(self) -> Ints: ...
    @property
    def decisions(self) -> Ints: ...
    @property
    def seats(self) -> Array: ...
    @property
    def versions(self) -> Ints: ...
    @property
    def legal(self) -> Ints: ...
    @property
    def offsets(self) -> Ints: ...
    @property
    def targets(self) -> Floats: ...


class GameEntry(NamedTuple):
    """A finished game as it came in."""

    game: FinishedGame
    worker: int
    time_s: float


class VersionEntry(NamedTuple):
    """Weights that began to answer."""

    version: int
    time_s: float
    step: int
    games: int  # stored until then


class EventEntry(NamedTuple):
    """Something that people look for later."""

    time_s: float
    kind: str  # one word: start, stop, death, arena, trouble ...
    text: str
    data: str = "{}"  # JSON


class MetricsEntry(NamedTuple):
    """Figures of one moment."""

    time_s: float
    values: Mapping[str, float]


Note = VersionEntry | EventEntry | MetricsEntry


class StorePosition(NamedTuple):
    """Where a store stands."""

    number: int = 0  # of the last game; they count from 1
    games: int = 0
    rows: int = 0  # training rows of all games


class Written(NamedTuple):
    """What a commit made of the games it was given."""

    kept: StorePosition
    is_new: list[bool]  # for each game; a repeat of a unit that is there already is left out
