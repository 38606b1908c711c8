"""One table of a blueprint for all workers of a machine, in memory that they map and change in place.

Layout: HEADER_BYTES of JSON, padded with spaces; the strategy sums of the first two streets, float64; the regrets of
all entries, float32; the sums of the last two streets, float32. The first two streets are met so often that float32
sums would stop growing, after 2**24 visits; a regret grows with the root of the visits only.

Workers add to it without locks. When two of them change a number at the same moment, one of the changes may be lost;
a number is never torn. So bits do not repeat, and what a worker that was killed had changed stays.
"""

import json
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, typeof, types, uint8
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.holdem.layout import TURN
from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.solve.abstraction.betting_tree import TreeSizes
from asyncplay.solve.abstraction.blueprint import Blueprint

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

FORMAT, HEADER_BYTES = "asyncplay table", 4096
FILE = "table.shared"  # in the run's folder, where the system has no memory without a name
BLOCK_ENTRIES = 1 << 21  # of what is read at a time


class StrategySums(NamedTuple):
    """Of all entries, the first streets first."""

    long: Array  # float64[entries before the turn]
    late: Array  # float32[the other entries]


def no_sums() -> StrategySums:
    return StrategySums(np.zeros(0), np.zeros(0, np.float32))


class SharedArrays(NamedTuple):
    """A table as kernels know it."""

    regrets: Array  # float32[E]
    sums: StrategySums


class SharedLayout(NamedTuple):
    """How much there is of everything."""

    n_long: int
    n_entries: int

    @property
    def n_bytes(self) -> int:
        return HEADER_BYTES + 8 * self.n_long + 4 * self.n_entries + 4 * (self.n_entries - self.n_long)

    def header(self, digest: str) -> bytes:
        """``digest``: of the abstraction."""
        return json.dumps({"format": FORMAT, **self._asdict(), "sha256": digest}).encode().ljust(HEADER_BYTES)

    def arrays(self, memory: mmap.mmap) -> SharedArrays:
        """Views of the mapped memory."""
        place, found = HEADER_BYTES, []
        counts = (self.n_long, np.float64), (self.n_entries, np.float32), (self.n_entries - self.n_long, np.float32)
        for count, dtype in counts:
            found.append(np.frombuffer(memory, dtype, count, place))
            place += found[-1].nbytes
        long, regrets, late = found
        return SharedArrays(regrets, StrategySums(long, late))


def bytes_by_street(sizes: TreeSizes) -> tuple[int, ...]:
    """Of a table without its header."""
    return tuple(n * (12 if street < TURN else 8) for street, n in enumerate(sizes.entries))


def layout_of_table(sizes: TreeSizes) -> SharedLayout:
    return SharedLayout(sum(sizes.entries[:TURN]), sizes.n_entries)


def map_table(path: str, n_bytes: int, game: Blueprint) -> SharedArrays:
    """The table at a path, in a process that walks on it; AsyncplayError if it is not that of the game."""
    layout = layout_of_table(game.tree.sizes)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            if not n_bytes == size == layout.n_bytes:
                raise AsyncplayError(f"the shared table {path} has {size:,} bytes, {layout.n_bytes:,} are wanted")
            memory = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise AsyncplayError(f"the shared table {path} cannot be mapped: {error.strerror}") from None
    if memory[:HEADER_BYTES] != layout.header(game.digest):
        raise AsyncplayError(f"the shared table {path} is of another abstraction than {game.digest[:16]}")
    return layout.arrays(memory)


class MappedMemory(NamedTuple):
    """Memory that processes can map by its path."""

    path: str
    descriptor: int
    is_file: bool  # in the run's folder; otherwise without a name, and gone with the last process that has it


def reserve(folder: Path, n_bytes: int) -> MappedMemory:
    """Take so much memory, all of it zero, or OSError. It has no name where the system can do that, so that nothing is
    left whatever ends the run, and the size of /dev/shm does not matter; otherwise it is a file in ``folder``."""
    try:
        descriptor = os.memfd_create("asyncplay-table", os.MFD_CLOEXEC)
        path, is_file = f"/proc/{os.getpid()}/fd/{descriptor}", False
        if not os.path.exists(path):
            os.close(descriptor)
            raise OSError
    except (AttributeError, OSError):
        path, is_file = str((folder / FILE).resolve()), True
        Path(path).unlink(missing_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, n_bytes)  # or a full disk would kill whoever writes to it
        else:
            os.truncate(descriptor, n_bytes)
    except OSError:
        _release(descriptor, path if is_file else None)
        raise
    return MappedMemory(path, descriptor, is_file)


def _release(descriptor: int, path: str | None) -> None:
    os.close(descriptor)
    if path is not None:
        Path(path).unlink(missing_ok=True)


ARRAYS = typeof(SharedArrays(np.zeros(1, np.float32), no_sums()))
_BASES, _WIDTHS = int64[::1], uint8[::1]


@helper
def sum_at(table, entry):
    """The strategy sum of an entry."""
    n_long = len(table.sums.long)
    return table.sums.long[entry] if entry < n_long else np.float64(table.sums.late[entry - n_long])


@kernel(int64(ARRAYS, _BASES, _WIDTHS, int64, int64, float64[::1]))
def look_over(table, bases, widths, first, stop, total):  # noqa: PLR0917
    """Return how many infosets of decisions ``first`` to ``stop`` were ever changed; the largest regret of each, where
    it is above 0, is added to ``total[0]``."""
    touched = 0
    for decision in range(first, stop):
        n = np.int64(widths[decision])
        for entry in range(bases[decision], bases[decision + 1], n):
            largest, is_touched = np.float64(0.0), False
            for k in range(n):
                regret = table.regrets[entry + k]
                largest = max(largest, np.float64(regret))
                is_touched |= regret != 0.0 or sum_at(table, entry + k) != 0.0
            total[0] += largest
            touched += is_touched
    return touched


@kernel(types.void(ARRAYS, _BASES, _WIDTHS, int64, int64, float32[::1]))
def average(table, bases, widths, first, stop, policy):  # noqa: PLR0917
    """Write the average policy of decisions ``first`` to ``stop``; uniform where nothing was summed."""
    start = bases[first]
    for decision in range(first, stop):
        n = np.int64(widths[decision])
        for entry in range(bases[decision], bases[decision + 1], n):
            total = 0.0
            for k in range(n):
                total += sum_at(table, entry + k)
            for k in range(n):
                policy[entry + k - start] = sum_at(table, entry + k) / total if total > 0.0 else 1.0 / n


KERNELS = (look_over, average)


class SharedTable:
    """The coordinator's view of the table.

    Lifetime: the memory is given back when nobody refers to the object any more. What is read of it is as it is at that
    moment: workers go on.
    """

    def __init__(self, game: Blueprint, folder: Path) -> None:
        """AsyncplayError if there is not enough memory."""
        self.layout = layout_of_table(game.tree.sizes)
        self.n_infosets, self.n_known, self.digest = game.n_infosets, 0, game.digest
        try:
            self.memory = reserve(folder, self.layout.n_bytes)
            mapped = mmap.mmap(self.memory.descriptor, self.layout.n_bytes)
        except OSError as error:
            size = f"{self.layout.n_bytes / 2**20:,.0f} MB"
            raise AsyncplayError(f"there is no room for a shared table of {size}: {error.strerror}") from None
        weakref.finalize(self, _release, self.memory.descriptor, self.memory.path if self.memory.is_file else None)
        mapped[:HEADER_BYTES] = self.layout.header(game.digest)
        self.arrays = self.layout.arrays(mapped)
        nodes = game.tree.nodes[game.decisions]
        self._bases = np.append(nodes["base"], game.n_entries)
        self._widths = np.ascontiguousarray(nodes["n"])
        cuts = np.searchsorted(self._bases, np.arange(0, game.n_entries, BLOCK_ENTRIES))
        self._cuts = [*dict.fromkeys(cuts.tolist()), len(nodes)]  # of decisions, each block about as long
        self._seen: dict[int, tuple[int, float]] = {}  # by block: changed infosets, and what their regrets add up to
        self._next = 0

    @property
    def n_bytes(self) -> int:
        return self.layout.n_bytes

    def __iter__(self) -> Iterator[NDArray[np.float16]]:
        """The average policy, block by block; every time anew."""
        for first, stop in zip(self._cuts, self._cuts[1:], strict=False):
            block = np.empty(self._bases[stop] - self._bases[first], np.float32)
            ready(average)(self.arrays, self._bases, self._widths, first, stop, block)
            yield block.astype(np.float16)

    def look(self, most_entries: int) -> float:
        """Read on from where the last look ended, about so many entries; return what the largest regrets of all
        infosets add up to, each as it was last seen. ``n_known`` is how many were ever changed, likewise."""
        blocks, total = list(zip(self._cuts, self._cuts[1:], strict=False)), np.zeros(1)
        for _ in range(min(-(-most_entries // BLOCK_ENTRIES), len(blocks))):
            first, stop = blocks[self._next]
            total[0] = 0.0
            n_touched = ready(look_over)(self.arrays, self._bases, self._widths, first, stop, total)
            self._seen[self._next] = n_touched, float(total[0])
            self._next = (self._next + 1) % len(blocks)
        self.n_known = sum(n_touched for n_touched, _ in self._seen.values())
        return sum(regret for _, regret in self._seen.values())

    def restore(self, arrays: Mapping[str, Iterable[tuple[int, NDArray[Any]]]]) -> None:
        """Take over what ``capture`` gave: of each array the places and numbers of its parts. ValueError if a number is
        not finite."""
        for name, own in self.capture().items():
            for start, block in arrays[name]:
                if not np.isfinite(block).all():
                    raise ValueError(f"{name} has numbers that are not finite")
                own[start : start + len(block)] = block
        self.look(self.layout.n_entries)

    def capture(self) -> dict[str, NDArray[Any]]:
        """The table itself: what is saved of it is as it is when it is written."""
        return {"regrets": self.arrays.regrets, "long_sums": self.arrays.sums.long, "late_sums": self.arrays.sums.late}
