"""Saving and loading a large table against a plain write and read of as many bytes, in turn, each with fsync.

A save is a whole checkpoint: hashed, written, synced, renamed. A load checks it and puts it into memory, as a resumed
run does. Plain reads and loads both begin without what the system remembers of the file. A process for itself does
each save and load, so that its memory peak is its own; the table counts once.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from asyncplay.config.sections import CheckpointSettings
from asyncplay.data import checkpoint, large_arrays
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.methods.mccfr import hashing
from asyncplay.payloads import Array

ROUNDS = 3
MEGABYTES = 1024
BLOCK_BYTES = 1 << 23
NAMES = ("regrets", "sums")


def measure(*, megabytes: int = MEGABYTES, where: Path | None = None) -> dict[str, Any]:
    """``where``: the folder whose disk is measured; without one, the present one's."""
    with tempfile.TemporaryDirectory(dir=where or Path.cwd()) as place:
        folder, plain = Path(place), Path(place) / "plain"
        found: dict[str, list[float]] = {"save": [], "load": []}
        peaks = dict.fromkeys(found, 0.0)
        write, read = [], []
        for _ in range(ROUNDS):
            write.append(_timed(lambda: _write_plainly(plain, megabytes)))
            read.append(_timed(lambda: _read_plainly(plain)))
            plain.unlink()
            for step, seconds_of in found.items():
                command = [sys.executable, "-m", "asyncplay.bench.tables", step, str(folder), str(megabytes)]
                seconds, peak = map(float, subprocess.check_output(command, text=True).split())
                seconds_of.append(seconds)
                peaks[step] = max(peaks[step], peak)
    return {
        "table_mb": megabytes,
        "plain_write_s": statistics.median(write),
        "save_s": statistics.median(found["save"]),
        "save_ratio": statistics.median(a / b for a, b in zip(found["save"], write, strict=True)),
        "plain_read_s": statistics.median(read),
        "load_s": statistics.median(found["load"]),
        "load_ratio": statistics.median(a / b for a, b in zip(found["load"], read, strict=True)),
        "save_peak": peaks["save"],
        "load_peak": peaks["load"],
        "hash_mb_per_s": _hash_rate(),
    }


def _timed(step: Callable[[], object]) -> float:
    begin_s = time.perf_counter()
    step()
    return time.perf_counter() - begin_s


def _write_plainly(path: Path, megabytes: int) -> None:
    block = bytes(new_table(BLOCK_BYTES >> 20)[NAMES[0]].data.cast("B")) * 2
    with path.open("xb") as file:
        for _ in range((megabytes << 20) // len(block)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _read_plainly(path: Path) -> None:
    with _forgotten(path) as descriptor:
        block = bytearray(BLOCK_BYTES)
        while os.readv(descriptor, [block]):
            pass


@contextmanager
def _forgotten(path: Path) -> Iterator[int]:
    """A file of which the system has nothing in memory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        yield descriptor
    finally:
        os.close(descriptor)


def new_table(megabytes: int) -> dict[str, Array]:
    """Two arrays of half the size each, of numbers that differ."""
    half = (megabytes << 20) // 2 // 4
    return {name: np.resize(np.random.default_rng(1).random(1 << 16, np.float32), half) for name in NAMES}


def save(folder: Path, megabytes: int) -> float:
    """Seconds."""
    snapshot = Checkpoint(new_table(megabytes), {})
    hashing.prepare()
    return _timed(lambda: checkpoint.save(folder / "kept", snapshot, CheckpointSettings(keep_last=1)))


def load(folder: Path, megabytes: int) -> float:
    """Seconds."""
    (path,) = (folder / "kept").iterdir()
    for file in path.iterdir():
        with _forgotten(file):
            pass
    hashing.prepare()
    table = new_table(megabytes)  # memory that is there already, as a shared table's is

    def step() -> None:
        for name, array in checkpoint.load(path).arrays.items():
            for start, block in large_arrays.blocks(array):
                table[name][start : start + len(block)] = block

    return _timed(step)


def _hash_rate() -> float:
    """Of one thread, by its own time."""
    hashing.prepare()
    batch = bytes(large_arrays.BATCH_PIECES * large_arrays.PIECE_BYTES)
    begin_s = time.thread_time()
    for _ in range(4):
        large_arrays.digests_of(batch, large_arrays.PIECE_BYTES)
    return 4 * len(batch) / 2**20 / (time.thread_time() - begin_s)


def _as_process(step: str, folder: str, megabytes: str) -> None:
    """Seconds of a save or load, and the most memory of this process beyond what it began with, in tables."""
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = {"save": save, "load": load}[step](Path(folder), int(megabytes))
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    sys.stdout.write(f"{seconds} {peak_kb / 1024 / int(megabytes)}\n")


if __name__ == "__main__":
    _as_process(*sys.argv[1:])
