"""Stored games read back by the examples they hold, to fill a replay window again."""

from pathlib import Path

from asyncplay.data.reader import StoredGame, reading
from asyncplay.data.schema import GAME_COLUMNS
from asyncplay.data.store import FILE, StoreError

SELECT = f"""
SELECT {GAME_COLUMNS} FROM games
WHERE number >= ifnull((SELECT number FROM games WHERE first_row <= ? ORDER BY first_row DESC, number DESC LIMIT 1), 0)
    AND first_row < ? AND first_row + rows > ?
ORDER BY number
"""
COUNT = f"SELECT ifnull(sum(min(first_row + rows, ?) - max(first_row, ?)), 0) FROM ({SELECT})"


def count_rows(folder: Path, first_row: int, stop_row: int) -> int:
    """How many of these examples the store has; one that was repaired may lack some."""
    with reading(folder, is_live=True) as connection:
        found = connection.execute(COUNT, (stop_row, first_row, first_row, stop_row, first_row)).fetchone()
        return int(found[0])


def read_part(folder: Path, first_row: int, stop_row: int) -> list[StoredGame]:
    """The games with examples from ``first_row`` to ``stop_row``, in order; StoreError names one that is damaged.

    Blocks; may run on any thread, as it opens the store for itself.
    """
    with reading(folder, is_live=True) as connection:
        games = [StoredGame(*entry) for entry in connection.execute(SELECT, (first_row, stop_row, first_row))]
    for game in games:
        if game.flaw is not None:
            raise damaged(folder, f"game {game.number} is not what was stored")
    return games


def damaged(folder: Path, what: str) -> StoreError:
    return StoreError(f"{folder / FILE}: {what}; `asyncplay data {folder} verify --repair` saves the others")
