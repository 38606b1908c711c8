"""Entries of tables dug out of a SQLite file page by page, whatever has become of the rest of it.

The file's format is at sqlite.org/fileformat2.html. An entry is a cell in a leaf page of its table and, where it is
long, a chain of overflow pages. Leaves are known by their first byte; nothing else of the file is trusted: neither its
header, nor the way down to the leaves, nor the order of the log. A cell may be old, torn or no entry at all, so the
caller must be able to recognise its entries by a checksum.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

LEAF = b"\x0d"
DOUBLE = struct.Struct(">d")
LEAF_HEAD_BYTES, FIRST_PAGE_HEAD_BYTES = 8, 100
WAL_HEAD_BYTES, FRAME_HEAD_BYTES = 32, 24
USUAL_PAGE_BYTES = 4096
NULL, REAL, ZERO, ONE, FIRST_BLOB = 0, 7, 8, 9, 12
NUMBER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, REAL: 8}

Value = int | float | str | bytes | None
Cell = tuple[int, list[Value]]
"""The entry's number, and its columns; a column that is the number itself is None."""


def dig(path: Path) -> Iterator[Cell]:
    """Every cell of every leaf in a database and in the log beside it."""
    data = path.read_bytes()
    log_path = path.with_name(path.name + "-wal")
    log = log_path.read_bytes() if log_path.exists() else b""
    in_file, in_log = int.from_bytes(data[16:18], "big"), int.from_bytes(log[8:12], "big")
    sizes = (65536 if in_file == 1 else in_file, in_log, USUAL_PAGE_BYTES)
    size = next(size for size in sizes if 512 <= size <= 65536 and size & (size - 1) == 0)
    pages = {number + 1: data[start : start + size] for number, start in enumerate(range(0, len(data), size))}
    frame_bytes = FRAME_HEAD_BYTES + size
    frames = [
        (int.from_bytes(log[start : start + 4], "big"), log[start + FRAME_HEAD_BYTES : start + frame_bytes])
        for start in range(WAL_HEAD_BYTES, len(log) - frame_bytes + 1, frame_bytes)
    ]
    latest = pages | dict(frames)
    for number, page in [*pages.items(), *frames]:
        head = FIRST_PAGE_HEAD_BYTES if number == 1 else 0
        if page[head : head + 1] != LEAF:
            continue
        first, n_cells = head + LEAF_HEAD_BYTES, int.from_bytes(page[head + 3 : head + 5], "big")
        for pointer in range(first, min(first + 2 * n_cells, len(page) - 1), 2):
            try:
                yield _cell(page, int.from_bytes(page[pointer : pointer + 2], "big"), latest)
            except (IndexError, ValueError):
                continue  # torn, or no cell at all


def _cell(page: bytes, place: int, pages: dict[int, bytes]) -> Cell:
    """Join the part in the leaf with the chain of overflow pages; ValueError if the chain is broken."""
    n_bytes, place = _varint(page, place)
    number, place = _varint(page, place)
    usable = len(page)
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    here = n_bytes
    if n_bytes > most:
        fitting = least + (n_bytes - least) % (usable - 4)
        here = fitting if fitting <= most else least
    parts, missing = [page[place : place + here]], n_bytes - here
    following = int.from_bytes(page[place + here : place + here + 4], "big")
    while missing > 0 and following in pages and len(parts) <= len(pages):  # the chain of a torn file may be a ring
        page = pages[following]
        following, part = int.from_bytes(page[:4], "big"), page[4 : 4 + missing]
        parts.append(part)
        missing -= len(part)
    if missing:
        raise ValueError("the chain is broken")
    return number, _columns(b"".join(parts))


def _columns(payload: bytes) -> list[Value]:
    """The kinds of all columns come first, then their contents in the same order."""
    head_bytes, place = _varint(payload, 0)
    values, content = [], head_bytes
    while place < head_bytes:
        kind, place = _varint(payload, place)
        width = (kind - FIRST_BLOB) // 2 if kind >= FIRST_BLOB else NUMBER_BYTES.get(kind, 0)
        if content + width > len(payload):
            raise ValueError("a column beyond the end of its entry")
        values.append(_value(kind, payload[content : content + width]))
        content += width
    return values


def _value(kind: int, content: bytes) -> Value:
    if kind >= FIRST_BLOB:
        return content if kind % 2 == 0 else content.decode()
    if kind == REAL:
        return float(DOUBLE.unpack(content)[0])
    if kind in (ZERO, ONE):
        return kind - ZERO
    return None if kind == NULL else int.from_bytes(content, "big", signed=True)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends; negative numbers do not occur here."""
    value = 0
    for count in range(8):
        byte = data[place + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    return value << 8 | data[place + 8], place + 9
