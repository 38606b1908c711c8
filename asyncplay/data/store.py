"""run.sqlite: one file with everything a run has stored, and the only way into it.

One connection writes, whoever likes may read meanwhile: the journal is a write-ahead log. All methods of ``Store``
block and belong to one thread at a time.
"""

import contextlib
import itertools
import json
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.sections import Config
from asyncplay.data import schema
from asyncplay.data.entries import (
    EventEntry,
    FinishedGame,
    GameEntry,
    MetricsEntry,
    Note,
    StorePosition,
    VersionEntry,
    Written,
)
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Record, pack, sparse

FILE = "run.sqlite"
Durability = Literal["process", "power"]
SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}
CHECKPOINT_PAGES = 1000
MOST_VALUE_BYTES = 1 << 28  # of one value that is read
MOST_COUNT = 1 << 62
BUSY_S = 60.0  # a reader that copies the log back holds the writer up; longer than this is trouble


class StoreError(AsyncplayError):
    """A database that cannot be used; the message says what can be done."""


class Malformed(ValueError):
    """A value in a database that this program never wrote there."""


class Store:
    """The writing end.

    Lifetime: from ``open_store`` to ``close``. Order: ``write`` is one transaction, on disk as the level of
    durability says when it returns; one that raises leaves nothing behind and may be tried again.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection, self.path = connection, path
        self.kept = read_kept(connection)

    def write(self, games: Sequence[GameEntry], notes: Sequence[Note]) -> Written:
        """Put everything in at once; a game whose unit is there already is left as it is."""
        is_new = self._sift(games)
        kept, rows = self.kept, []
        for entry in itertools.compress(games, is_new):
            rows.append(_game_values(entry, kept))
            kept = StorePosition(kept.number + 1, kept.games + 1, kept.rows + len(entry.game.decisions))
        with _transaction(self.connection):
            self.connection.executemany(schema.INSERT_GAME, rows)
            for note in notes:
                _put_note(self.connection, note)
        self.kept = kept
        return Written(kept, is_new)

    def units(self) -> NDArray[np.int64]:
        """The units of all games, ascending."""
        return read_units(self.connection)

    def close(self) -> None:
        self.connection.close()

    def _sift(self, games: Sequence[GameEntry]) -> list[bool]:
        """Which games are new: not in the database, which has no other writer, and not twice in here."""
        units = [entry.game.unit for entry in games]
        known = {unit for (unit,) in self.connection.execute(schema.KNOWN_UNITS, (json.dumps(units),))}
        is_new = []
        for unit in units:
            is_new.append(unit not in known)
            known.add(unit)
        return is_new


def run_meta(config: Config, players: int) -> dict[str, str]:
    """What a store must know of its run: the games in it mean nothing without."""
    game = config.game
    facts = {"game": game.name, "options": json.dumps(game.options, sort_keys=True)}
    return facts | {"seed": str(config.train.seed), "players": str(players)}


def open_store(folder: Path, meta: Mapping[str, str], durability: Durability = "power") -> Store:
    """Open a run's store for writing, made first where there is none; StoreError says why it cannot be used.

    ``meta`` is written into a new store and must agree with an old one where both name a key.
    """
    path = folder / FILE
    _check_place(path)
    try:
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path, meta, durability)
            return Store(connection, path)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.DatabaseError, Malformed) as error:
        raise unusable(path, error) from None


def open_read_only(folder: Path, *, is_at_rest: bool = False) -> sqlite3.Connection:
    """A reader's connection, which can change nothing; also while the run goes on.

    Beside a writer a reader needs the files of the log, and makes them where they are missing. ``is_at_rest``: there is
    no writer, and the reader makes and locks nothing: the folder stays as it is and may lie on a disk that is read
    only.
    """
    path = folder / FILE
    if not path.exists():
        raise StoreError(f"{path}: there is no store; is {folder} the folder of a run?")
    _check_place(path)
    try:
        connection = sqlite3.connect(_uri(path, is_at_rest), uri=True, timeout=BUSY_S, isolation_level=None)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
            if is_at_rest:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # the log's index stays in memory
            check_schema(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection
    except (sqlite3.DatabaseError, Malformed) as error:
        raise unusable(path, error) from None


def _uri(path: Path, is_at_rest: bool) -> str:
    uri = path.absolute().as_uri()
    if not is_at_rest:
        return f"{uri}?mode=ro"
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return f"{uri}?mode=ro&vfs=unix-none" if has_log else f"{uri}?immutable=1"


def _check_place(path: Path) -> None:
    """SQLite would wait for ever at a pipe."""
    for place in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
        if place.exists() and not place.is_file():
            raise StoreError(f"{place} is no regular file; put it away")


def unusable(path: Path, error: sqlite3.Error | Malformed) -> StoreError:
    """The error in words that name the file and the cure."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or isinstance(error, Malformed):
        folder = path.parent
        return StoreError(f"{path} is damaged ({error}); `asyncplay data {folder} verify --repair` saves what it can")
    return StoreError(f"{path} cannot be used: {error}")


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """StoreError unless the file is ours and of a version that this program knows."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != schema.APPLICATION_ID:
        raise StoreError(f"{path} is a database, but not of a run")
    if version > schema.SCHEMA_VERSION:
        known = schema.SCHEMA_VERSION
        raise StoreError(f"{path} has schema version {version}, this program knows {known}: use a newer asyncplay")
    if version < schema.SCHEMA_VERSION:
        raise StoreError(f"{path} has schema version {version}, which was never released")
    found = dict(connection.execute("SELECT name, sql FROM sqlite_schema"))
    if any(found.get(name) != statement for name, statement in schema.STATEMENTS.items()):
        raise Malformed("a table is missing or is not what was made")
    if connection.execute("SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')").fetchone()[0]:
        raise Malformed("it has views or triggers, which no run makes")


def whole(value: object) -> int:
    """A number as it counts things, or Malformed."""
    if type(value) is int and 0 <= value < MOST_COUNT:
        return value
    raise Malformed(f"{value!r:.80} is no whole number from 0")


def text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise Malformed(f"{value!r:.80} is no text")


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    return {text(key): text(value) for key, value in connection.execute("SELECT key, value FROM meta")}


def read_kept(connection: sqlite3.Connection) -> StorePosition:
    number = whole(connection.execute("SELECT ifnull(max(number), 0) FROM games").fetchone()[0])
    games = whole(connection.execute("SELECT count(*) FROM games").fetchone()[0])
    last = connection.execute("SELECT first_row, rows FROM games ORDER BY number DESC LIMIT 1").fetchone()
    return StorePosition(number, games, sum(map(whole, last)) if last else 0)


def read_units(connection: sqlite3.Connection) -> NDArray[np.int64]:
    cursor = connection.execute("SELECT unit FROM games ORDER BY unit")
    return np.fromiter((whole(unit) for (unit,) in cursor), np.int64)


def _prepare(connection: sqlite3.Connection, path: Path, meta: Mapping[str, str], durability: Durability) -> None:
    is_new = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    if is_new:
        _create(connection, meta)
    check_schema(connection, path)
    _check_meta(read_meta(connection), meta, path)


def _create(connection: sqlite3.Connection, meta: Mapping[str, str]) -> None:
    """All or nothing: a process that dies here leaves an empty database, which is made anew."""
    own = {"schema_version": str(schema.SCHEMA_VERSION), "created": f"{time.time():.3f}"}
    with _transaction(connection):
        for statement in schema.STATEMENTS.values():
            connection.execute(statement)
        connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", {**own, **meta}.items())
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")


def _check_meta(stored: Mapping[str, str], wanted: Mapping[str, str], path: Path) -> None:
    for key, value in wanted.items():
        if stored.get(key, value) != value:
            raise StoreError(f"{path} belongs to a run with {key} {stored[key]}, this one has {value}")


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some failures have rolled it back already
            connection.execute("ROLLBACK")
        raise


def record_of(game: FinishedGame) -> Record:
    """What of a finished game is stored beside its ending."""
    policies = sparse(game.legal, game.offsets, game.targets)
    return Record(game.actions, game.decisions, game.seats, game.versions, *policies)


def _game_values(entry: GameEntry, kept: StorePosition) -> tuple[object, ...]:
    game, versions = entry.game, entry.game.versions.tolist()
    values = (
        kept.number + 1,
        game.unit,
        entry.time_s,
        entry.worker,
        game.seed,
        len(game.returns),
        len(game.actions),
        game.reason,
        json.dumps(game.returns.tolist()),
        json.dumps(game.outcome.tolist()),
        min(versions, default=None),
        max(versions, default=None),
        kept.rows,
        len(game.decisions),
        pack(record_of(game)),
    )
    return (*values, row_crc(values))


def row_crc(values: Sequence[Any]) -> int:
    """Over a row of games without its last column. SQLite has no checksums of its own: a flipped bit in a row reads
    like any other value."""
    *others, record = values
    return zlib.crc32(json.dumps(others).encode(), zlib.crc32(record))


def _put_note(connection: sqlite3.Connection, note: Note) -> None:
    match note:
        case VersionEntry():
            connection.execute(schema.INSERT_VERSION, note)
        case EventEntry():
            connection.execute(schema.INSERT_EVENT, note)
        case MetricsEntry():
            rows = [(name, note.time_s, value) for name, value in note.values.items()]
            connection.executemany(schema.INSERT_METRIC, rows)
