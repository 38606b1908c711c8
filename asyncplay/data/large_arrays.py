"""Arrays of gigabytes as files: written, hashed and checked piece by piece, and mapped when they are read.

A file has an array's bytes and nothing else; a manifest has its type, its shape and the SHA-256 of each of its pieces,
which are all of one size but the last. A piece is copied before it is hashed and written, so that an array may change
meanwhile and no second copy of it is ever held. Hashing is slower than a disk: several threads do it, and where the
processor has no instructions for it, a batch of pieces at a time (solve/sha256.py, which says so by ``hash_by``).
"""

import hashlib
import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from asyncplay.data import files as disk
from asyncplay.machine import usable_cores
from asyncplay.payloads import Array

LEAST_BYTES = 1 << 26  # of an array that gets a file of its own
PIECE_BYTES, MOST_PIECE_BYTES = 1 << 20, 1 << 28
BATCH_PIECES, HASHED_BYTES = 16, 64
FILES = "array-"  # what their names begin with
KINDS = {"float32", "float64", "uint8", "int32", "int64", "float16", "uint16", "uint64", "bool", "int8"}


HashBatch = Callable[[memoryview], list[str]]
"""The SHA-256 of each of BATCH_PIECES pieces of one length, a multiple of HASHED_BYTES."""
_faster: list[HashBatch] = []


def hash_by(faster: HashBatch) -> None:
    """Hash whole batches in this way from now on."""
    _faster[:] = [faster]


def write(folder: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write each as a file; return what a manifest says of them. OSError if one cannot be written."""
    listed = {}
    with ThreadPoolExecutor(usable_cores(), "hash") as hashing:
        for number, (name, array) in enumerate(arrays.items()):
            digests: list[str] = []
            file = f"{FILES}{number}"
            disk.stream(folder / file, _hashed(array, digests, hashing))
            kind = {"dtype": array.dtype.name, "shape": list(array.shape)}
            listed[name] = {"file": file, **kind, "piece_bytes": PIECE_BYTES, "sha256": digests}
    return listed


def _hashed(array: Array, digests: list[str], hashing: ThreadPoolExecutor) -> Iterator[bytes]:
    """An array in batches of pieces, each copied; the digests of the pieces come in the same order."""
    content, under_way = array.reshape(-1).data.cast("B"), deque[Future[list[str]]]()
    for start in range(0, len(content), BATCH_PIECES * PIECE_BYTES):
        batch = bytes(content[start : start + BATCH_PIECES * PIECE_BYTES])
        under_way.append(hashing.submit(digests_of, batch, PIECE_BYTES))
        if len(under_way) > usable_cores():
            digests.extend(under_way.popleft().result())
        yield batch
    for future in under_way:
        digests.extend(future.result())


def read(folder: Path, listed: Mapping[str, Any]) -> dict[str, Array]:
    """Map the arrays of a manifest, each of its pieces checked. OSError, or ValueError and its like if a file is not
    what was written; the text says which."""
    arrays: dict[str, Array] = {}
    with ThreadPoolExecutor(usable_cores(), "hash") as hashing:
        for name, facts in listed.items():
            path, shape = folder / Path(facts["file"]).name, tuple(int(n) for n in facts["shape"])
            if facts["dtype"] not in KINDS or min(shape, default=0) < 1:
                raise ValueError(f"{name} is no array")
            dtype = np.dtype(facts["dtype"])
            n_bytes = dtype.itemsize * int(np.prod(shape, dtype=object))
            disk.check_file(path, n_bytes)
            if path.stat().st_size != n_bytes:
                raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes, {n_bytes:,} were written")
            piece_bytes = int(facts["piece_bytes"])
            if not 0 < piece_bytes <= MOST_PIECE_BYTES or len(facts["sha256"]) != -(-n_bytes // piece_bytes):
                raise ValueError(f"{name} has {len(facts['sha256'])} pieces of {piece_bytes:,} bytes")
            _check(path, piece_bytes, facts["sha256"], hashing)
            arrays[name] = np.memmap(path, dtype, "c", shape=shape)
    return arrays


def _check(path: Path, piece_bytes: int, digests: list[str], hashing: ThreadPoolExecutor) -> None:
    descriptor = disk.open_file(path, os.O_RDONLY)
    try:
        step = BATCH_PIECES * piece_bytes
        starts = range(0, len(digests) * piece_bytes, step)
        batches = hashing.map(lambda start: digests_of(os.pread(descriptor, step, start), piece_bytes), starts)
        found = [digest for batch in batches for digest in batch]
    finally:
        os.close(descriptor)
    if found != digests:
        raise ValueError(f"{path.name} is not what was written")


def blocks(array: Array) -> Iterator[tuple[int, Array]]:
    """The places and pieces of an array of one dimension. Of a mapped one, what was read is dropped again: it would
    count as memory of this process."""
    n = PIECE_BYTES // array.itemsize
    for start in range(0, len(array), n):
        block = array[start : start + n]
        yield start, block
        if isinstance(array, np.memmap):
            array._mmap.madvise(mmap.MADV_DONTNEED, start * array.itemsize, block.nbytes)  # type: ignore[attr-defined]


def digests_of(batch: bytes, piece_bytes: int) -> list[str]:
    """Of each piece."""
    is_whole = len(batch) == BATCH_PIECES * piece_bytes and piece_bytes % HASHED_BYTES == 0
    if is_whole and _faster:
        return _faster[0](memoryview(batch))
    pieces = (batch[start : start + piece_bytes] for start in range(0, len(batch), piece_bytes))
    return [hashlib.sha256(piece).hexdigest() for piece in pieces]
