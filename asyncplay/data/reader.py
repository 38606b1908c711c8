"""What others read of a run's store, also while the run goes on: one moment of it, and nothing changes."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from asyncplay.data.store import FILE, open_read_only, row_crc, unusable

COLUMNS = (
    "number, unit, time, worker, seed, seats, length, reason, returns, outcome, "
    "lowest_version, highest_version, first_row, rows, record, crc"
)


class StoredGame(NamedTuple):
    """A row of games as it is stored."""

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
        """Whether the row is the one that was written; in a damaged file a column may hold anything."""
        try:
            return row_crc(self[:-1]) == self.crc
        except TypeError:
            return False


class Choice(NamedTuple):
    """Which games; what is None does not matter."""

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


ALL = Choice()


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
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """One moment of a run's store; StoreError where it cannot be read, now or on the way."""
    connection = open_read_only(folder)
    try:
        connection.execute("BEGIN")
        yield connection
    except sqlite3.DatabaseError as error:
        raise unusable(folder / FILE, error) from None
    finally:
        connection.close()


def count_games(connection: sqlite3.Connection, choice: Choice = ALL) -> int:
    clause, values = choice.clause()
    return int(connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM games{clause})", values).fetchone()[0])


def read_games(connection: sqlite3.Connection, choice: Choice = ALL) -> Iterator[StoredGame]:
    """In the order of storing."""
    clause, values = choice.clause()
    for row in connection.execute(f"SELECT {COLUMNS} FROM games{clause}", values):
        yield StoredGame(*row)


def read_tallies(connection: sqlite3.Connection, n_periods: int) -> Tallies:
    first_s, last_s = connection.execute("SELECT ifnull(min(time), 0), ifnull(max(time), 0) FROM games").fetchone()
    period_s = (last_s - first_s) / n_periods or 1.0
    lowest, highest = connection.execute("SELECT min(lowest_version), max(highest_version) FROM games").fetchone()
    by_period = "SELECT min(CAST((time - ?) / ? AS INTEGER), ?), count(*) FROM games GROUP BY 1"
    returns = connection.execute("SELECT returns, count(*) FROM games GROUP BY 1")
    return Tallies(
        games=count_games(connection),
        lengths=dict(connection.execute("SELECT length, count(*) FROM games GROUP BY 1")),
        reasons=dict(connection.execute("SELECT reason, count(*) FROM games GROUP BY 1")),
        returns={tuple(json.loads(text)): count for text, count in returns},
        first_s=first_s,
        last_s=last_s,
        periods=dict(connection.execute(by_period, (first_s, period_s, n_periods - 1))),
        versions=None if lowest is None else (lowest, highest),
    )


class Event(NamedTuple):
    """A row of events."""

    time_s: float
    kind: str
    text: str
    data: dict[str, Any]


def read_events(connection: sqlite3.Connection) -> list[Event]:
    rows = connection.execute("SELECT time, kind, text, data FROM events ORDER BY number")
    return [Event(time_s, kind, text, json.loads(data)) for time_s, kind, text, data in rows]


def read_metrics(connection: sqlite3.Connection) -> dict[str, list[tuple[float, float]]]:
    """By name: (time, value), in order of time; what was no number is left out."""
    found: dict[str, list[tuple[float, float]]] = {}
    for name, time_s, value in connection.execute("SELECT name, time, value FROM metrics ORDER BY name, time"):
        if value is not None:
            found.setdefault(name, []).append((time_s, value))
    return found


def last_event(connection: sqlite3.Connection) -> str | None:
    """The kind of the newest event."""
    row = connection.execute("SELECT kind FROM events ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def last_version(connection: sqlite3.Connection) -> int | None:
    version = connection.execute("SELECT max(version) FROM versions").fetchone()[0]
    return None if version is None else int(version)


def integrity(connection: sqlite3.Connection) -> list[str]:
    """What SQLite itself finds wrong with the file; empty when nothing."""
    lines = [line for (line,) in connection.execute("PRAGMA integrity_check")]
    return [] if lines == ["ok"] else lines
