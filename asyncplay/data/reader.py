"""Reading a run's store, also while the run goes on: a consistent snapshot, and nothing in the folder changes."""

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from asyncplay.data import lock
from asyncplay.data.schema import GAME_COLUMNS
from asyncplay.data.store import FILE, Malformed, StoreError, open_read_only, row_crc, text, unusable, whole

LATEST_S = 253_402_300_800  # the end of the year 9999
MOST_SEATS = 64
LARGEST = 1e30  # figure; its square is one too


class StoredGame(NamedTuple):
    """An entry of the table games as it is stored."""

    number: int
    unit: int
    time_s: float
    worker: int
    seed: int
    seats: int
    length: int
    reason: str
    returns: str  # JSON
    outcome: str  # JSON
    lowest_version: int | None
    highest_version: int | None
    first_row: int
    rows: int
    record: bytes
    crc: int

    @property
    def is_intact(self) -> bool:
        """Whether the entry is the one that was written; in a damaged file a column may hold anything."""
        try:
            return row_crc(self[:-1]) == self.crc
        except TypeError:
            return False

    @property
    def flaw(self) -> str | None:
        """What is wrong with the entry by itself; a checksum does not prove which program wrote it."""
        if not self.is_intact:
            return "its checksum is wrong: the file has changed since it was written"
        counts = (self.number, self.unit, self.worker, self.length, self.first_row, self.rows)
        if type(self.seed) is not int or self.seed < 0:
            return f"{self.seed!r:.80} is no seed"
        try:
            for count in (*counts, *(version for version in (self.lowest_version, self.highest_version) if version)):
                whole(count)
            text(self.reason)
            timestamp(self.time_s)
            if not (n_paid := len(gains(self.returns))) == len(gains(self.outcome)) == self.seats:
                return f"its seats is stored as {self.seats}, its returns are {n_paid}"
        except Malformed as error:
            return str(error)
        return None

    @property
    def end_row(self) -> int:
        return self.first_row + self.rows


class GameFilter(NamedTuple):
    """Which games; a field that is None restricts nothing."""

    first_version: int | None = None
    last_version: int | None = None
    seats: int | None = None
    reason: str | None = None
    since_s: float | None = None  # since 1970
    until_s: float | None = None
    limit: int | None = None  # the first so many

    def clause(self) -> tuple[str, list[Any]]:
        """SQL after FROM games, and its values."""
        tests = {
            "highest_version >= ?": self.first_version,
            "lowest_version <= ?": self.last_version,
            "seats = ?": self.seats,
            "reason = ?": self.reason,
            "time >= ?": self.since_s,
            "time < ?": self.until_s,
        }
        used = {test: value for test, value in tests.items() if value is not None}
        where = f" WHERE {' AND '.join(used)}" if used else ""
        values: list[Any] = list(used.values())
        if self.limit is None:
            return f"{where} ORDER BY number", values
        return f"{where} ORDER BY number LIMIT ?", [*values, self.limit]


ALL = GameFilter()


class Tallies(NamedTuple):
    """Counts over all games, by value."""

    games: int
    lengths: dict[int, int]
    reasons: dict[str, int]
    returns: dict[tuple[float, ...], int]  # by seat
    first_s: float  # 0 where there are no games
    last_s: float
    periods: dict[int, int]  # by which of equal periods from the first to the last game
    versions: tuple[int, int] | None  # lowest and highest that played


@contextmanager
def reading(folder: Path, *, is_live: bool = False) -> Iterator[sqlite3.Connection]:
    """A snapshot of a run's store; StoreError where it cannot be read, now or on the way.

    ``is_live``: the run goes on in this process. The folder of any other run that no process works on stays unchanged.
    """
    is_at_rest = not is_live and sys.platform != "win32" and lock.holder(folder) is None
    connection = open_read_only(folder, is_at_rest=is_at_rest)
    try:
        connection.execute("BEGIN")
        yield connection
        _check_rest(folder, is_at_rest)
    except (sqlite3.DatabaseError, Malformed) as error:
        _check_rest(folder, is_at_rest)
        raise unusable(folder / FILE, error) from None
    finally:
        connection.close()


def _check_rest(folder: Path, was_at_rest: bool) -> None:
    """A reader without locks may have read what a run that began meanwhile was writing."""
    if was_at_rest and lock.holder(folder) is not None:
        raise StoreError(f"{folder / FILE}: the run went on while it was read; ask again")


def timestamp(value: object) -> float:
    """Seconds since 1970 that a calendar has, or Malformed."""
    if isinstance(value, int | float) and 0 <= value < LATEST_S:
        return float(value)
    raise Malformed(f"{value!r:.80} is no time")


def gains(value: object) -> tuple[float, ...]:
    """Numbers by seat, out of JSON, or Malformed."""
    try:
        numbers = json.loads(text(value))
    except (ValueError, RecursionError):
        numbers = None
    if isinstance(numbers, list) and 0 < len(numbers) <= MOST_SEATS and all(map(is_figure, numbers)):
        return tuple(numbers)
    raise Malformed(f"{value!r:.80} are no returns")


def is_figure(value: object) -> bool:
    """Whether it is a number that can be drawn and added up."""
    return isinstance(value, int | float) and abs(value) < LARGEST


def count_games(connection: sqlite3.Connection, choice: GameFilter = ALL) -> int:
    clause, values = choice.clause()
    return int(connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM games{clause})", values).fetchone()[0])


def read_games(connection: sqlite3.Connection, choice: GameFilter = ALL) -> Iterator[StoredGame]:
    """In the order in which they were stored."""
    clause, values = choice.clause()
    for entry in connection.execute(f"SELECT {GAME_COLUMNS} FROM games{clause}", values):
        yield StoredGame(*entry)


def count_reasons(connection: sqlite3.Connection) -> dict[str, int]:
    """How many games ended for each reason."""
    return {text(reason): n for reason, n in connection.execute("SELECT reason, count(*) FROM games GROUP BY 1")}


def read_tallies(connection: sqlite3.Connection, n_periods: int) -> Tallies:
    span = connection.execute("SELECT ifnull(min(time), 0), ifnull(max(time), 0) FROM games").fetchone()
    first_s, last_s = map(timestamp, span)
    period_s = (last_s - first_s) / n_periods or 1.0
    lowest, highest = connection.execute("SELECT min(lowest_version), max(highest_version) FROM games").fetchone()
    by_period = "SELECT min(CAST((time - ?) / ? AS INTEGER), ?), count(*) FROM games GROUP BY 1"
    returns = connection.execute("SELECT returns, count(*) FROM games GROUP BY 1")
    return Tallies(
        games=count_games(connection),
        lengths={whole(length): n for length, n in connection.execute("SELECT length, count(*) FROM games GROUP BY 1")},
        reasons=count_reasons(connection),
        returns={gains(paid): count for paid, count in returns},
        first_s=first_s,
        last_s=last_s,
        periods=dict(connection.execute(by_period, (first_s, period_s, n_periods - 1))),
        versions=None if lowest is None else (whole(lowest), whole(highest)),
    )


class StoredEvent(NamedTuple):
    """An entry of the table events."""

    time_s: float
    kind: str
    text: str
    data: dict[str, Any]


def as_event(entry: Sequence[object]) -> StoredEvent:
    """Malformed where no run has written it."""
    number, time_s, kind, words, data = entry
    whole(number)
    try:
        facts = json.loads(text(data))
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise Malformed(f"{data!r:.80} are no facts of an event")
    return StoredEvent(timestamp(time_s), text(kind), text(words), facts)


def as_metric(entry: Sequence[object]) -> tuple[str, float, float | None]:
    """(name, time, value); Malformed where no run has written it."""
    name, time_s, value = entry
    if isinstance(value, int | float | None):
        return text(name), timestamp(time_s), value if is_figure(value) else None
    raise Malformed(f"{value!r:.80} is no number")


def as_version(entry: Sequence[object]) -> int:
    """Malformed where no run has written it."""
    version, time_s, step, games = entry
    timestamp(time_s)
    whole(step)
    whole(games)
    return whole(version)


NOTES: dict[str, tuple[str, Callable[[Sequence[object]], object]]] = {
    "versions": ("SELECT version, time, step, games FROM versions", as_version),
    "events": ("SELECT number, time, kind, text, data FROM events", as_event),
    "metrics": ("SELECT name, time, value FROM metrics", as_metric),
}
"""The small tables: the query of their entries, and what checks one."""


def read_events(connection: sqlite3.Connection) -> list[StoredEvent]:
    return [as_event(entry) for entry in connection.execute(f"{NOTES['events'][0]} ORDER BY number")]


def read_metrics(connection: sqlite3.Connection) -> dict[str, list[tuple[float, float]]]:
    """By name: (time, value), in order of time; values that are no numbers are left out."""
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in connection.execute(f"{NOTES['metrics'][0]} ORDER BY name, time"):
        name, time_s, value = as_metric(entry)
        if value is not None:
            found.setdefault(name, []).append((time_s, value))
    return found


def malformed_notes(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with entries of the small tables."""
    for table, (query, understand) in NOTES.items():
        for entry in connection.execute(query):
            try:
                understand(entry)
            except Malformed as error:
                yield f"{table}: {error}"


def last_event(connection: sqlite3.Connection) -> str | None:
    """The kind of the newest event."""
    newest = connection.execute("SELECT kind FROM events ORDER BY number DESC LIMIT 1").fetchone()
    return None if newest is None else text(newest[0])


def last_version(connection: sqlite3.Connection) -> int | None:
    version = connection.execute("SELECT max(version) FROM versions").fetchone()[0]
    return None if version is None else whole(version)


def integrity(connection: sqlite3.Connection) -> list[str]:
    """What SQLite itself finds wrong with the file; empty when nothing."""
    lines = [line for (line,) in connection.execute("PRAGMA integrity_check")]
    return [] if lines == ["ok"] else lines
