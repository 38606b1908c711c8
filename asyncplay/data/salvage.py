"""Saves what can be saved of a damaged store into a sound one.

Games are dug out page by page. A game is copied only if its checksum is right, so that none comes back altered, and if
it can be played again, so that a run can go on with it; an intact game that cannot is quarantined. The small tables
have no checksums: their valid entries are copied up to the first one that SQLite cannot read.
"""

import os
import shutil
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import psutil

from asyncplay.data import files as disk
from asyncplay.data.files import check_file
from asyncplay.data.pages import dig
from asyncplay.data.reader import NOTES, StoredGame
from asyncplay.data.schema import GAME_COLUMNS
from asyncplay.data.store import FILE, Malformed, open_store
from asyncplay.errors import AsyncplayError

DRAFT = "repair"
MEMORY_SHARE = 1 / 3  # of what is free: a file is read whole and cut into pages


class Salvaged(NamedTuple):
    """What became of a store."""

    games: int
    lost: list[range]  # numbers of games that are known to have been there
    quarantined: list[int]  # of these, the games that are there and cannot be played again; the old file has them
    notes: dict[str, int]  # entries of each small table
    cut_short: list[str]  # small tables that could not be read to their end
    old: Path  # the damaged file, kept


def repair(folder: Path, *, last_number: int, meta: dict[str, str], is_sound: Callable[[StoredGame], bool]) -> Salvaged:
    """Put a sound store in the place of a damaged one, which is kept beside it under another name.

    ``last_number`` of a game that was ever acknowledged; ``meta`` of the run, whatever the old file says; ``is_sound``
    whether a game can be played again. The caller holds the run's lock. A process that dies on the way leaves the
    damaged store where it was.
    """
    old, draft = _keep(folder / FILE), folder / DRAFT
    disk.remove(draft)
    draft.mkdir()
    old_meta: dict[str, str] = {}
    with suppress(sqlite3.DatabaseError):
        old_meta = {str(key): str(value) for key, value in _read(old, "SELECT key, value FROM meta LIMIT 100")}
    with closing(open_store(draft, {**old_meta, **meta}).connection) as target:
        target.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, before it takes its place
        numbers, quarantined = _save_games(old, target, is_sound)
        notes, cut_short = _save_notes(old, target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file to move; the next run makes a new log
    put_in_place(draft / FILE, folder / FILE)
    draft.rmdir()
    lost = gaps(numbers, max([last_number, *numbers]))
    return Salvaged(len(numbers), lost, sorted(quarantined), notes, cut_short, old)


def gaps(numbers: Iterable[int], last: int) -> list[range]:
    """What ascending numbers leave out of 1 to ``last``, as ranges: a forged number may leave out very many."""
    ends = pairwise([0, *numbers, last + 1])
    return [range(before + 1, after) for before, after in ends if after > before + 1]


def whole_games(path: Path) -> Iterator[StoredGame]:
    """Every game in a database file and its log that is as it was written; some come more than once."""
    for number, columns in dig(path):
        if len(columns) != len(StoredGame._fields) or not isinstance(columns[-2], bytes):
            continue
        time_s = columns[2]
        if isinstance(time_s, int | float):  # SQLite stores a whole REAL as an integer
            game = StoredGame(number, columns[1], float(time_s), *columns[3:])  # type: ignore[arg-type]  # the checksum decides
            if game.is_intact:
                yield game


def _save_games(
    old: Path, target: sqlite3.Connection, is_sound: Callable[[StoredGame], bool]
) -> tuple[list[int], set[int]]:
    """The numbers of the games that were copied, ascending, and of those that are quarantined."""
    places = ", ".join("?" * len(StoredGame._fields))
    saved, unsound = set[int](), set[int]()
    target.execute("BEGIN")
    for game in whole_games(old):
        if game.number in saved:
            continue
        if game.flaw is None and is_sound(game):
            target.execute(f"INSERT OR IGNORE INTO games ({GAME_COLUMNS}) VALUES ({places})", game)
            saved.add(game.number)
        else:
            unsound.add(game.number)
    spans = target.execute("SELECT number, first_row, first_row + rows FROM games ORDER BY number").fetchall()
    placed = [number for number, _, _ in in_place(spans)]
    target.execute("CREATE TEMP TABLE placed (number INTEGER PRIMARY KEY)")
    target.executemany("INSERT INTO placed VALUES (?)", [(number,) for number in placed])
    target.execute("DELETE FROM games WHERE number NOT IN (SELECT number FROM placed)")
    target.execute("COMMIT")
    return placed, (unsound | saved).difference(placed)


Span = tuple[int, int, int]
"""A game's number, the number of its first example and the number behind its last."""


def in_place(games: Sequence[Span]) -> list[Span]:
    """As many games as can be, in order of their numbers, each with its examples behind those of the one before: a
    replay window could not be filled again with the others."""
    ends, chains = list[int](), list[int]()  # the least end of a chain of so many games, and its last game
    before = list[int]()  # of each game in its chain
    for number, (_, first_row, end_row) in enumerate(games):
        length = bisect_right(ends, first_row)
        before.append(chains[length - 1] if length else -1)
        if length == len(ends) or end_row < ends[length]:
            ends[length : length + 1], chains[length : length + 1] = [end_row], [number]
    placed, last = list[Span](), chains[-1] if chains else -1
    while last >= 0:
        placed.append(games[last])
        last = before[last]
    placed.reverse()
    while len(placed) > 1 and placed[-1][0] == placed[-2][0] + 1 and placed[-1][1] != placed[-2][2]:
        placed.pop()  # no later game contradicts the last one
    return placed


def _save_notes(old: Path, target: sqlite3.Connection) -> tuple[dict[str, int], list[str]]:
    """How many entries each small table has now, and the tables that could not be read to their end."""
    saved, cut_short = {}, []
    for table, (query, understand) in NOTES.items():
        target.execute("BEGIN")
        try:
            for entry in _read(old, query):
                with suppress(Malformed):
                    understand(entry)
                    target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(entry))})", entry)
        except sqlite3.DatabaseError:
            cut_short.append(table)
        target.execute("COMMIT")
        saved[table] = int(target.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    return saved, cut_short


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
    free = min(MEMORY_SHARE * psutil.virtual_memory().available, shutil.disk_usage(path.parent).free)
    check_file(path, int(free))
    with path.open("rb") as source, new.open("xb") as target:
        shutil.copyfileobj(source, target)


def put_in_place(new: Path, path: Path) -> None:
    """Rename a new store into its place. The old log goes first: SQLite would read it as the new file's."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    disk.sync(new)
    os.replace(new, path)
    disk.sync(path.parent)
