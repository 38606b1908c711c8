"""Saving what can be saved of a damaged store into a sound one.

Games are dug out page by page and believed only if their checksum is right, so that none comes back altered. The
small tables have no checksums; what SQLite can read of them comes over, up to the first place where it cannot.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from asyncplay.data import disk
from asyncplay.data.folder import check_file
from asyncplay.data.pages import Row, dig
from asyncplay.data.reader import COLUMNS, StoredGame
from asyncplay.data.store import FILE, open_store
from asyncplay.errors import AsyncplayError

NOTES = ("versions", "events", "metrics")
DRAFT = "repair"
MOST_BYTES = 1 << 44  # of a database, as SQLite has it by its usual page


class Saved(NamedTuple):
    """What became of a store."""

    games: int
    lost: list[int]  # numbers of games that are known to have been there
    notes: dict[str, int]  # rows of each small table
    cut_short: list[str]  # small tables that could not be read to their end
    old: Path  # the damaged file, kept


def repair(folder: Path, *, last_number: int, meta: dict[str, str]) -> Saved:
    """Put a sound store in the place of a damaged one, which is kept beside it under another name.

    ``last_number`` of a game that was ever acknowledged; ``meta`` for where the old file has lost its own. The caller
    holds the run's lock. A process that dies on the way leaves the damaged store where it was.
    """
    old = _keep(folder / FILE)
    draft = folder / DRAFT
    disk.remove(draft)
    draft.mkdir()
    store = open_store(draft, _read_meta(old) or meta)
    with closing(store.connection) as target:
        target.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, before it takes its place
        numbers = _save_games(old, target)
        notes, cut_short = _save_notes(old, target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file to move; the next run takes up its log again
    _put_in_place(draft / FILE, folder / FILE)
    draft.rmdir()
    lost = sorted(set(range(1, max([last_number, *numbers], default=0) + 1)) - numbers)
    return Saved(len(numbers), lost, notes, cut_short, old)


def whole_games(path: Path) -> Iterator[StoredGame]:
    """Every game in a database file and its log that is as it was written; some come more than once."""
    for row in dig(path):
        game = _as_game(row)
        if game is not None and game.is_intact:
            yield game


def _as_game(row: Row) -> StoredGame | None:
    """The row as one of games, if it looks like one; SQLite keeps a whole REAL as an integer, its own number not
    at all."""
    number, columns = row
    if len(columns) != len(StoredGame._fields) or not isinstance(columns[-2], bytes):
        return None
    time_s = columns[2]
    if not isinstance(time_s, int | float):
        return None
    return StoredGame(number, columns[1], float(time_s), *columns[3:])  # type: ignore[arg-type]  # the checksum decides


def _save_games(old: Path, target: sqlite3.Connection) -> set[int]:
    places = ", ".join("?" * len(StoredGame._fields))
    target.execute("BEGIN")
    for game in whole_games(old):
        target.execute(f"INSERT OR IGNORE INTO games ({COLUMNS}) VALUES ({places})", game)
    target.execute("COMMIT")
    return {number for (number,) in target.execute("SELECT number FROM games")}


def _save_notes(old: Path, target: sqlite3.Connection) -> tuple[dict[str, int], list[str]]:
    saved, cut_short = {}, []
    for table in NOTES:
        target.execute("BEGIN")
        try:
            for row in _read(old, f"SELECT * FROM {table}"):
                target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        except sqlite3.DatabaseError:
            cut_short.append(table)
        target.execute("COMMIT")
        saved[table] = int(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    return saved, cut_short


def _read_meta(old: Path) -> dict[str, str]:
    """Empty where it cannot be read."""
    with suppress(sqlite3.DatabaseError):
        return {str(key): str(value) for key, value in _read(old, "SELECT key, value FROM meta")}
    return {}


def _read(path: Path, query: str) -> Iterator[tuple[object, ...]]:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source:
        yield from source.execute(query)


def _keep(path: Path) -> Path:
    """Copy the file and its log to names of their own."""
    old = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        _copy(path, old)
    except FileExistsError:
        raise AsyncplayError(f"{old} is there already: a repair a second ago; look at what it did first") from None
    with suppress(FileNotFoundError):
        _copy(Path(f"{path}-wal"), Path(f"{old}-wal"))
    return old


def _copy(path: Path, new: Path) -> None:
    check_file(path, MOST_BYTES)
    with path.open("rb") as source, new.open("xb") as target:
        shutil.copyfileobj(source, target)


def _put_in_place(new: Path, path: Path) -> None:
    """The old log goes first: it would be taken for the new file's."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    disk.sync(new)
    os.replace(new, path)
    disk.sync(path.parent)
