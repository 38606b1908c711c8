"""A file of card buckets: which bucket a hand is in, on every street, memory-mapped.

Layout: HEADER_BYTES of JSON, padded with spaces, which say all parameters; the statistics of all buckets street by
street, float64[k, 3] of BucketStats; then for each street the bucket of each hand, uint8, or uint16 where a street has
more than 256. Before the flop hands are the 169 classes, later as ``canonical.hand_number`` numbers them. ``sha256`` of
the header covers the parameters and all that follows the header.
"""

import hashlib
import json
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import CARDS, card_names
from asyncplay.games.holdem.canonical import BOARD_SIZES, CLASSES, class_number, hand_number, index_boards
from asyncplay.games.holdem.layout import FLOP, PREFLOP, STREETS, deck_of
from asyncplay.games.kernels import kernel, ready

FORMAT, VERSION = "asyncplay buckets", 1
HEADER_BYTES, CHUNK_BYTES = 4096, 1 << 22
WEIGHT, MEAN, DEVIATION = range(3)


class BucketParameters(NamedTuple):
    """What a file was built from; the same parameters give the same file."""

    deck: int  # cards
    buckets: tuple[int, ...]  # by street
    seed: int
    method: str  # of the abstraction
    bins: int
    boards: tuple[int, ...]  # canonical boards, by street


class BucketLayout(NamedTuple):
    """Where things lie in a file of these parameters."""

    hands: tuple[int, ...]  # by street
    dtype: type[np.generic]
    offsets: tuple[int, ...]  # in bytes, by street
    n_bytes: int


def bucket_path(deck: int, sizes: str, seed: int) -> Path:
    """Where a file lies that was given no other place."""
    return Path("buckets") / f"{deck}-{sizes.replace('/', '-')}-{seed}.buckets"


def layout_of(parameters: BucketParameters) -> BucketLayout:
    pairs = [comb(CARDS - size, 2) for size in BOARD_SIZES]
    hands = (CLASSES, *(parameters.boards[street] * pairs[street] for street in range(FLOP, STREETS)))
    dtype = np.uint8 if max(parameters.buckets) <= 256 else np.uint16
    place, offsets = HEADER_BYTES + 24 * sum(parameters.buckets), []
    for count in hands:
        offsets.append(place)
        place += count * np.dtype(dtype).itemsize
    return BucketLayout(hands, dtype, tuple(offsets), place)


def header_of(parameters: BucketParameters, digest: str) -> bytes:
    """The first bytes of a finished file."""
    fields = {"format": FORMAT, "version": VERSION, **parameters._asdict(), "sha256": digest}
    return json.dumps(fields).encode().ljust(HEADER_BYTES)


def digest_of(path: Path, parameters: BucketParameters) -> str:
    """SHA-256 of the parameters and of all that follows the header."""
    found = hashlib.sha256(json.dumps(parameters._asdict()).encode())
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        while chunk := file.read(CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


class BucketFile:
    """An open file; its arrays are read from the disk as they are used."""

    def __init__(self, path: Path) -> None:
        """AsyncplayError if it is no whole file of buckets; ``verify`` also reads all of it."""
        self.path = path
        self.parameters, self.digest = _read_header(path)
        places = layout_of(self.parameters)
        if path.stat().st_size != places.n_bytes:
            raise AsyncplayError(f"{path} is damaged: {path.stat().st_size:,} bytes instead of {places.n_bytes:,}")
        mapped = np.memmap(path, np.uint8, "c")  # kernels take no read-only arrays; nothing is written to the file
        self.tables = [
            mapped[first : first + count * np.dtype(places.dtype).itemsize].view(places.dtype)
            for first, count in zip(places.offsets, places.hands, strict=True)
        ]
        rows = mapped[HEADER_BYTES : places.offsets[PREFLOP]].view(np.float64).reshape(-1, 3)
        self.stats: list[NDArray[np.float64]] = np.split(rows, np.cumsum(self.parameters.buckets)[:-1])

    def verify(self) -> None:
        """AsyncplayError unless the file is what was written."""
        if digest_of(self.path, self.parameters) != self.digest:
            raise AsyncplayError(f"{self.path} is damaged: its SHA-256 is not the one that it carries")

    def bucket(self, hole: int, board: int) -> int:
        """The bucket of two cards beside a board of 0, 3, 4 or 5."""
        street, deck = BOARD_SIZES.index(board.bit_count()), deck_of(self.parameters.deck)
        if (hole | board) & ~deck:
            missing = card_names((hole | board) & ~deck)
            raise AsyncplayError(f"{missing} is in no deck of {self.parameters.deck} cards, which {self.path} is for")
        if street == PREFLOP:
            return int(self.tables[PREFLOP][ready(class_of)(hole)])
        index = index_boards(deck, street)
        return int(self.tables[street][ready(number_of)(index.choose, index.numbers, index.n_pairs, hole, board)])


@kernel(int64(int64))
def class_of(hole):
    """See canonical.class_number."""
    return class_number(hole)


@kernel(int64(int32[:, ::1], int32[::1], int64, int64, int64))
def number_of(choose, numbers, n_pairs, hole, board):
    """See canonical.hand_number."""
    return hand_number(choose, numbers, n_pairs, hole, board)


def _read_header(path: Path) -> tuple[BucketParameters, str]:
    try:
        with path.open("rb") as file:
            fields = json.loads(file.read(HEADER_BYTES))
        if not isinstance(fields, dict) or fields.pop("format") != FORMAT:
            raise ValueError
        if (version := fields.pop("version")) != VERSION:
            raise AsyncplayError(f"{path} is of version {version} of its format, known is {VERSION}")
        digest = str(fields.pop("sha256"))
        lists: dict[str, Any] = {name: _whole_numbers(fields.pop(name)) for name in ("buckets", "boards")}
        lists |= {name: _whole_numbers([fields.pop(name)])[0] for name in ("deck", "seed", "bins")}
        return BucketParameters(method=str(fields.pop("method")), **lists), digest
    except OSError as error:
        raise AsyncplayError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise AsyncplayError(f"{path} is no file of buckets; `asyncplay buckets build` makes one") from None


def _whole_numbers(values: Sequence[object]) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value < 1 << 62 for value in values) or len(values) not in (1, STREETS):
        raise ValueError
    return tuple(int(str(value)) for value in values)
