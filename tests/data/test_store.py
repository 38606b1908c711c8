"""The store: what goes in, what is refused, who may read."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from entry_cases import make_game

from asyncplay.data.entries import EventEntry, MetricsEntry, StorePosition, VersionEntry
from asyncplay.data.schema import SCHEMA_VERSION, STATEMENTS
from asyncplay.data.store import (
    FILE,
    StoreError,
    open_read_only,
    open_store,
    read_kept,
    read_meta,
    read_units,
    record_of,
    row_crc,
)
from asyncplay.payloads import unpack

META = {"game": "connect4", "options": "{}", "seed": "0", "players": "2"}


def test_a_game_comes_back_as_it_went_in(tmp_path):
    store = open_store(tmp_path, META)
    game = make_game(5)
    store.write([make_game(2, rows=4), game], [])

    query = "SELECT number, unit, worker, seed, seats, length, reason, returns, first_row, rows, record FROM games"
    row = store.connection.execute(f"{query} WHERE unit = 5").fetchone()
    assert row[:7] == (2, 5, 2, 35, 2, 3, "rules")
    assert json.loads(row[7]) == [1.0, -1.0]
    assert row[8:10] == (4, 3)
    for column, back in zip(record_of(game.game), unpack(row[10]), strict=True):
        np.testing.assert_array_equal(column, back)
    store.close()


def test_a_unit_that_comes_twice_is_stored_once(tmp_path):
    """In one transaction and in a later one; numbers have no gaps and rows are counted once."""
    store = open_store(tmp_path, META)

    first = store.write([make_game(7), make_game(7), make_game(8)], [])
    second = store.write([make_game(8), make_game(9)], [])

    assert (first.is_new, second.is_new) == ([True, False, True], [False, True])
    assert second.kept == store.kept == StorePosition(number=3, games=3, rows=9)
    assert list(store.connection.execute("SELECT number, unit FROM games")) == [(1, 7), (2, 8), (3, 9)]
    store.close()


def test_a_store_that_is_opened_again_knows_where_it_stands(tmp_path):
    store = open_store(tmp_path, META)
    store.write([make_game(unit) for unit in (4, 0, 2)], [])
    store.close()

    again = open_store(tmp_path, META)

    assert again.kept == StorePosition(3, 3, 9)
    assert again.units().tolist() == [0, 2, 4]
    again.close()


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path):
    store = open_store(tmp_path, META)
    entry = make_game(2)
    broken = entry._replace(game=entry.game._replace(reason=None))

    with pytest.raises(sqlite3.IntegrityError):
        store.write([make_game(1), broken], [EventEntry(1.0, "start", "hello")])

    assert store.kept == read_kept(store.connection) == StorePosition()
    assert store.connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    assert store.write([make_game(1)], []).is_new == [True]
    store.close()


def test_notes_of_every_kind_are_stored(tmp_path):
    store = open_store(tmp_path, META)
    notes = [
        VersionEntry(1, 10.0, 25, 100),
        EventEntry(11.0, "arena", "won", '{"score": 0.9}'),
        MetricsEntry(12.0, {"loss": 0.5, "rows/s": 1000.0}),
    ]
    store.write([], notes)

    assert list(store.connection.execute("SELECT * FROM versions")) == [(1, 10.0, 25, 100)]
    assert list(store.connection.execute("SELECT * FROM events")) == [(1, 11.0, "arena", "won", '{"score": 0.9}')]
    metrics = list(store.connection.execute("SELECT * FROM metrics ORDER BY name"))
    assert metrics == [("loss", 12.0, 0.5), ("rows/s", 12.0, 1000.0)]
    store.close()


def test_pandas_reads_while_the_store_is_being_written(tmp_path):
    store = open_store(tmp_path, META)
    store.write([make_game(unit) for unit in range(20)], [MetricsEntry(5.0, {"loss": 1.0})])
    reader = open_read_only(tmp_path)

    games = pd.read_sql("SELECT unit, length, returns FROM games", reader)
    store.write([make_game(20)], [])
    later = pd.read_sql("SELECT unit FROM games", reader)

    assert (len(games), len(later)) == (20, 21)
    assert games.returns.map(json.loads).map(sum).tolist() == [0.0] * 20
    reader.close()
    store.close()


def test_a_reader_can_change_nothing_and_finds_what_was_said_of_the_run(tmp_path):
    open_store(tmp_path, META).close()
    reader = open_read_only(tmp_path)

    assert {key: value for key, value in read_meta(reader).items() if key != "created"} == {
        **META,
        "schema_version": str(SCHEMA_VERSION),
    }
    assert len(read_units(reader)) == 0
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM games")
    reader.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("PRAGMA user_version = 99", "schema version 99, this program knows 1"),
        ("PRAGMA application_id = 5", "is a database, but not of a run"),
        (
            "UPDATE meta SET value = 'chess' WHERE key = 'game'",
            "belongs to a run with game chess, this one has connect4",
        ),
    ],
)
def test_a_strange_database_is_refused_in_one_line(tmp_path, change, words):
    store = open_store(tmp_path, META)
    store.connection.execute(change)
    store.close()

    with pytest.raises(StoreError, match=words):
        open_store(tmp_path, META)


def test_a_file_that_is_no_database_is_named_with_its_cure(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all, " * 100)
    for attempt in (lambda: open_store(tmp_path, META), lambda: open_read_only(tmp_path)):
        with pytest.raises(StoreError, match=r"run.sqlite is damaged .*verify --repair"):
            attempt()


def test_a_folder_without_a_store_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"there is no store; is .* the folder of a run"):
        open_read_only(tmp_path)


def test_every_column_is_documented():
    text = (Path(__file__).parent.parent.parent / "docs" / "schema.md").read_text()
    memory = sqlite3.connect(":memory:")
    memory.executescript(";".join(STATEMENTS.values()))
    for (table,) in memory.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        assert f"## {table}" in text
        for column in memory.execute(f"PRAGMA table_info({table})"):
            assert f"`{column[1]}`" in text, f"{table}.{column[1]}"
    memory.close()


def test_every_column_of_a_game_is_under_its_checksum(tmp_path):
    """Another value in any column, or any other bit of the record, gives another number."""
    store = open_store(tmp_path, META)
    store.write([make_game(5)], [])
    *values, crc = store.connection.execute("SELECT * FROM games").fetchone()
    store.close()

    assert row_crc(values) == crc
    for place in range(len(values) - 1):
        assert row_crc([*values[:place], "another", *values[place + 1 :]]) != crc
    for bit in range(8 * len(values[-1])):
        flipped = bytearray(values[-1])
        flipped[bit // 8] ^= 1 << bit % 8
        assert row_crc([*values[:-1], bytes(flipped)]) != crc
