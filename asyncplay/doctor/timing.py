"""Measurements and their judgements: the start of a worker, a frame's round trip, a write that reaches the disk."""

import asyncio
import contextlib
import math
import os
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from asyncplay.doctor.finding import Finding
from asyncplay.methods.roles import be_worker
from asyncplay.pools.birth import Entry
from asyncplay.pools.local import LocalPool
from asyncplay.wire.codec import HEADER
from asyncplay.wire.pipe import BlockingPipe

SYNCS, SYNC_BYTES = 20, 4096
ROUNDS, ROUND_BYTES = 300, 4096
SLOW_SPAWN_S, SLOW_ROUND_US, SLOW_SYNC_MS = 5.0, 1000.0, 20.0
PATIENCE_S = 120.0


def judge_spawn(seconds: float) -> Finding:
    """Infinite: the worker died or sent nothing within ``PATIENCE_S``."""
    if math.isinf(seconds):
        cure = "look for what holds processes up: too little memory, a slow disk, security software"
        return Finding("worker start", "broken", f"no word from a worker within {PATIENCE_S:.0f} s", cure)
    figures, words = {"seconds": round(seconds, 3)}, f"{seconds:.2f} s to a worker's first word"
    if seconds > SLOW_SPAWN_S:
        cure = "the code lies on a slow disk, or the machine is busy: a local disk, fewer neighbours"
        return Finding("worker start", "slow", words, cure, figures)
    return Finding("worker start", "fine", words, figures=figures)


def judge_round_trip(microseconds: float) -> Finding:
    figures, words = {"median_us": round(microseconds, 1)}, f"{microseconds:,.0f} us there and back with 4 KB"
    if microseconds > SLOW_ROUND_US:
        return Finding("pipe", "slow", words, "the cores are taken: see other processes; fewer workers", figures)
    return Finding("pipe", "fine", words, figures=figures)


def judge_sync(milliseconds: list[float], folder: Path) -> Finding:
    median, worst = statistics.median(milliseconds), max(milliseconds)
    figures = {"median_ms": round(median, 3), "worst_ms": round(worst, 3)}
    words = f"{median:.2f} ms to reach the disk at {folder}, {worst:.2f} at worst"
    if median > SLOW_SYNC_MS:
        cure = "a local disk: --run DIR; or --store.durability process, if a power cut may cost some games"
        return Finding("disk sync", "slow", words, cure, figures)
    return Finding("disk sync", "fine", words, figures=figures)


async def first_word_s() -> float:
    """Seconds from starting a worker to its first frame; infinite if it ends or is silent for ``PATIENCE_S``."""
    started_s = time.perf_counter()
    async with _worker(be_worker) as (_, frames):
        try:
            async with asyncio.timeout(PATIENCE_S):
                body = await frames.get()
        except TimeoutError:
            return math.inf
        return time.perf_counter() - started_s if body else math.inf


async def round_trip_us() -> float:
    """The median of many round trips to an echoing worker, one at a time; the first tenth does not count."""
    times_us = []
    async with _worker(echo) as (send, frames):
        for _ in range(ROUNDS):
            started_s = time.perf_counter()
            send(HEADER.pack(ROUND_BYTES) + bytes(ROUND_BYTES))
            await frames.get()
            times_us.append((time.perf_counter() - started_s) * 1e6)
    return statistics.median(times_us[ROUNDS // 10 :])


@contextlib.asynccontextmanager
async def _worker(entry: Entry) -> AsyncIterator[tuple[Callable[[bytes], None], "asyncio.Queue[bytes]"]]:
    """A worker process: how to send to it, and its frames; the last one is empty when the process is gone."""
    frames: asyncio.Queue[bytes] = asyncio.Queue()
    link = await LocalPool(entry).open(
        0, lambda body: frames.put_nowait(bytes(body)), lambda why: frames.put_nowait(b"")
    )
    try:
        yield link.send, frames
    finally:
        link.kill()
        await link.reap()


def echo(number: int, data: socket.socket, control: socket.socket) -> None:
    """A worker's entry: send back each frame."""
    pipe = BlockingPipe(data)
    with contextlib.suppress(EOFError):
        while (body := pipe.receive(None)) is not None:
            pipe.send(HEADER.pack(len(body)) + bytes(body))
    os._exit(0)


def sync_ms(folder: Path) -> list[float]:
    """How long small synced writes take, one after another."""
    times_ms = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(SYNC_BYTES))
            started_s = time.perf_counter()
            os.fsync(file.fileno())
            times_ms.append((time.perf_counter() - started_s) * 1000)
    return times_ms
