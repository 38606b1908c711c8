"""Rows of a table dug out of a SQLite file page by page, whatever has become of the rest of it.

The file's format is at sqlite.org/fileformat2.html. A row lies in a leaf page of its table and, where it is long, in
a chain of overflow pages. Leaves are known by their first byte; nothing else of the file is trusted: neither its
header, nor the way down to the leaves, nor the order of the log. What comes out may be old, torn or no row at all, so
that whoever digs must be able to tell his rows by a checksum.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

LEAF = 0x0D
DOUBLE = struct.Struct(">d")
LEAF_HEAD_BYTES, FIRST_PAGE_HEAD_BYTES = 8, 100
WAL_HEAD_BYTES, FRAME_HEAD_BYTES = 32, 24
USUAL_PAGE_BYTES = 4096
INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
NULL, REAL, ZERO, ONE, FIRST_BLOB = 0, 7, 8, 9, 12

Value = int | float | str | bytes | None
Row = tuple[int, list[Value]]
"""The row's number, and its columns; a column that is the number itself is None."""


def dig(path: Path) -> Iterator[Row]:
    """Every row of every leaf in a database and in the log beside it."""
    data = path.read_bytes()
    log_path = path.with_name(path.name + "-wal")
    log = log_path.read_bytes() if log_path.exists() else b""
    size = _page_bytes(data, log)
    pages = {number + 1: data[start : start + size] for number, start in enumerate(range(0, len(data), size))}
    frames = list(_frames(log, size))
    latest = pages | dict(frames)
    for number, page in [*pages.items(), *frames]:
        yield from _rows(page, latest, FIRST_PAGE_HEAD_BYTES if number == 1 else 0)


def _page_bytes(data: bytes, log: bytes) -> int:
    """What the header of the file or of the log says, where that makes sense."""
    in_file, in_log = int.from_bytes(data[16:18], "big"), int.from_bytes(log[8:12], "big")
    for size in (65536 if in_file == 1 else in_file, in_log):
        if 512 <= size <= 65536 and size & (size - 1) == 0:
            return size
    return USUAL_PAGE_BYTES


def _frames(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Page numbers and pages of the log, whole ones."""
    step = FRAME_HEAD_BYTES + size
    for start in range(WAL_HEAD_BYTES, len(log) - step + 1, step):
        head_end = start + FRAME_HEAD_BYTES
        yield int.from_bytes(log[start : start + 4], "big"), log[head_end : start + step]


def _rows(page: bytes, pages: dict[int, bytes], head: int) -> Iterator[Row]:
    if page[head : head + 1] != bytes([LEAF]):
        return
    n_cells = int.from_bytes(page[head + 3 : head + 5], "big")
    first = head + LEAF_HEAD_BYTES
    for place in range(first, min(first + 2 * n_cells, len(page) - 1), 2):
        cell = int.from_bytes(page[place : place + 2], "big")
        try:
            yield _row(page, cell, pages)
        except (IndexError, ValueError):
            continue  # torn, or no row at all


def _row(page: bytes, cell: int, pages: dict[int, bytes]) -> Row:
    n_bytes, place = _varint(page, cell)
    number, place = _varint(page, place)
    return number, _columns(_payload(page, place, n_bytes, pages))


def _payload(page: bytes, place: int, n_bytes: int, pages: dict[int, bytes]) -> bytes:
    """The part that lies here, and what lies in the overflow pages behind it."""
    usable = len(page)
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    if n_bytes <= most:
        return page[place : place + n_bytes]
    fitting = least + (n_bytes - least) % (usable - 4)
    here = fitting if fitting <= most else least
    following = int.from_bytes(page[place + here : place + here + 4], "big")
    return page[place : place + here] + _overflow(following, n_bytes - here, pages)


def _overflow(number: int, n_bytes: int, pages: dict[int, bytes]) -> bytes:
    """Follow the chain until there is enough, or it breaks, or it has been through every page."""
    parts: list[bytes] = []
    while n_bytes > 0 and number in pages and len(parts) < len(pages):
        page = pages[number]
        number, part = int.from_bytes(page[:4], "big"), page[4 : 4 + n_bytes]
        parts.append(part)
        n_bytes -= len(part)
    if n_bytes:
        raise ValueError("the chain is broken")
    return b"".join(parts)


def _columns(payload: bytes) -> list[Value]:
    head_bytes, place = _varint(payload, 0)
    values, content = [], head_bytes
    while place < head_bytes:
        kind, place = _varint(payload, place)
        width = _width(kind)
        if content + width > len(payload):
            raise ValueError("a column beyond the row's end")
        values.append(_value(kind, payload[content : content + width]))
        content += width
    return values


def _width(kind: int) -> int:
    if kind >= FIRST_BLOB:
        return (kind - FIRST_BLOB) // 2
    return 8 if kind == REAL else INTEGER_BYTES.get(kind, 0)


def _value(kind: int, content: bytes) -> Value:
    if kind >= FIRST_BLOB:
        return content if kind % 2 == 0 else content.decode()
    if kind == REAL:
        return float(DOUBLE.unpack(content)[0])
    if kind in (ZERO, ONE):
        return kind - ZERO
    return None if kind == NULL else int.from_bytes(content, "big", signed=True)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends; negative ones are not needed here."""
    value = 0
    for count in range(8):
        byte = data[place + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    return value << 8 | data[place + 8], place + 9
