"""What is put into the store, and what came of it."""

from collections.abc import Mapping
from typing import NamedTuple

from asyncplay.payloads import Array
from asyncplay.records import Record


class GameEntry(NamedTuple):
    """A finished game."""

    unit: int
    time_s: float  # when it came in
    worker: int
    seed: int
    reason: str
    returns: Array  # float64[P]
    outcome: Array  # float32[P]
    record: Record


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
