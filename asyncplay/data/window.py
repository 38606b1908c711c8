"""Stored games read back by the rows they hold, for a replay that is filled again."""

import json
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np

from asyncplay.data.store import FILE, StoreError, open_read_only, row_crc, unusable
from asyncplay.payloads import Array


class StoredGame(NamedTuple):
    """What makes a game's rows again."""

    number: int
    seed: int
    returns: Array  # float64[P], by seat, in the game's own units
    first_row: int
    rows: int
    record: bytes


def read_part(folder: Path, first_row: int, stop_row: int) -> list[StoredGame]:
    """The games with rows among ``first_row`` to ``stop_row``, in order; StoreError names one that is damaged.

    Blocks; belongs to no thread, as it opens the store for itself.
    """
    connection = open_read_only(folder)
    try:
        rows = connection.execute(
            "SELECT * FROM games WHERE number >= ifnull((SELECT number FROM games WHERE first_row <= ?"
            " ORDER BY first_row DESC, number DESC LIMIT 1), 0) AND first_row < ? AND rows > 0 ORDER BY number",
            (first_row, stop_row),
        )
        names = [column[0] for column in rows.description]
        return [_checked(dict(zip(names, row, strict=True)), folder) for row in rows]
    except sqlite3.DatabaseError as error:
        raise unusable(folder / FILE, error) from None
    finally:
        connection.close()


def _checked(row: dict[str, object], folder: Path) -> StoredGame:
    *values, crc = row.values()
    if row_crc(values) != crc:
        raise damaged(folder, f"game {row['number']} is not what was stored")
    returns = np.array(json.loads(str(row["returns"])), np.float64)
    number, seed, first_row, rows = (int(str(row[name])) for name in ("number", "seed", "first_row", "rows"))
    assert isinstance(row["record"], bytes), "a record is a blob"
    return StoredGame(number, seed, returns, first_row, rows, row["record"])


def damaged(folder: Path, what: str) -> StoreError:
    return StoreError(f"{folder / FILE}: {what}; `asyncplay data {folder} verify --repair` saves the others")
