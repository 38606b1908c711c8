"""Rows dug out of pages against what SQLite says they are."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asyncplay.data.pages import dig

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, -1, 127, -128, 2**15, 2**23, 2**31, 2**47]),
    st.floats(allow_nan=False).filter(lambda value: not value.is_integer()),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.binary(max_size=50),
    st.integers(0, 30_000).map(lambda size: bytes([size % 251]) * size),
)
ROWS = st.lists(st.lists(VALUES, min_size=3, max_size=3), max_size=30)


def build(path, rows, page_bytes: int, *, is_logged: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page_bytes}")
    connection.execute(f"PRAGMA journal_mode = {'WAL' if is_logged else 'DELETE'}")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE things (a, b, c)")
    for start in range(0, len(rows), 7):
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO things VALUES (?, ?, ?)", rows[start : start + 7])
        connection.execute("COMMIT")
    return connection


@given(rows=ROWS, page_bytes=st.sampled_from([512, 4096, 65536]), is_logged=st.booleans())
@settings(max_examples=60)
def test_every_row_is_dug_out_as_it_went_in(rows, page_bytes, is_logged, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "some.sqlite"
    connection = build(path, rows, page_bytes, is_logged=is_logged)
    found = {number: columns for number, columns in dig(path) if len(columns) == 3}
    connection.close()
    assert found == {number + 1: row for number, row in enumerate(rows)}


@pytest.mark.parametrize(
    "junk", [b"", b"x", bytes(100), b"\x0d" * 4096, bytes(range(256)) * 64, b"\x0d\x00\x00\xff\xff" * 3000]
)
def test_whatever_the_bytes_are_nothing_breaks(junk, tmp_path):
    path = tmp_path / "junk"
    path.write_bytes(junk)
    (tmp_path / "junk-wal").write_bytes(junk)
    assert all(isinstance(columns, list) for _, columns in dig(path))


def test_rows_are_found_though_the_header_and_the_root_are_gone(tmp_path):
    path = tmp_path / "some.sqlite"
    rows = [[number, "text" * 10, bytes(300)] for number in range(200)]
    build(path, rows, 4096, is_logged=False).close()
    data = bytearray(path.read_bytes())
    data[: 2 * 4096] = bytes(2 * 4096)  # the header, and the table's root
    path.write_bytes(data)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(path).execute("SELECT * FROM things").fetchall()
    assert sorted(columns for _, columns in dig(path) if len(columns) == 3) == rows
