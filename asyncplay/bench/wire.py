"""What a row costs the coordinator, by rows a message and bytes a row.

``coordinator_us_per_row`` is CPU time from a frame's body to the frame of its answer: decoding, queueing, laying
the batch together, cutting the answers and encoding them, by the coordinator's own parts, one call after another.

``with_pipes_us_per_row`` is all that its process spends while a real process asks over a real pipe as fast as it is
answered, with 32 messages under way: reading, writing, waking up and handing the batch to the device's thread
come on top. That process sends the same frame again and again, so that it takes little from the core it may share.

The device answers at once with nothing. The best of several windows counts: other processes slow the rest down.
"""

import asyncio
import contextlib
import os
import socket
import time
from typing import Any, cast

import numpy as np

from asyncplay.bench.outside import until
from asyncplay.config.live import LiveSettings
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint, Evaluator
from asyncplay.engine.lane import Finish, Lane
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.loop import run_loop
from asyncplay.engine.supervise import Member, Phase
from asyncplay.engine.tuner import Tuner
from asyncplay.engine.work import Assignment, Work
from asyncplay.payloads import Estimates, Positions
from asyncplay.pools.link import Link
from asyncplay.pools.local import LocalPool
from asyncplay.wire.codec import HEADER, decode, encode
from asyncplay.wire.messages import PROTOCOL, Ask, Hello, Job, Message
from asyncplay.wire.pipe import BlockingPipe

ROWS_PER_MESSAGE = (1, 16, 64, 256)
ROW_BYTES = (256, 1024)
ACTIONS, PLAYERS, MESSAGES = 8, 2, 32
WINDOW_S, WINDOWS = 0.3, 6


def measure() -> dict[str, list[dict[str, Any]]]:
    return {"rows": [_row(n_rows, row_bytes) for row_bytes in ROW_BYTES for n_rows in ROWS_PER_MESSAGE]}


def _row(n_rows: int, row_bytes: int) -> dict[str, Any]:
    piped_us = run_loop(_piped_us(n_rows, row_bytes))
    return {
        "rows_per_message": n_rows,
        "row_bytes": row_bytes,
        "coordinator_us_per_row": round(min(_stages_us(n_rows, row_bytes)), 3),
        "with_pipes_us_per_row": round(min(piped_us), 3),
    }


def _stages_us(n_rows: int, row_bytes: int) -> list[float]:
    """CPU time a row of whole batches, in windows."""
    evaluator = Evaluator(
        LiveSettings(timeout_ms=None, max_rows=1024), Tuner(seed=0), Lane(), hard_cap_s=1, max_queued_rows=1 << 20
    )
    evaluator.serve(0, Endpoint(row_bytes, ACTIONS, _launch))
    member = Member(0, Phase.READY, 0.0, link=cast(Link, _Sink()), has_work=True)
    body = _question(n_rows, row_bytes)[HEADER.size :]
    dispatcher, n_messages = Dispatcher(evaluator), max(1024 // n_rows, 1)
    costs_us = []
    for _ in range(WINDOWS):
        began_s, end_s, batches = time.process_time(), time.perf_counter() + WINDOW_S, 0
        while time.perf_counter() < end_s:
            for _ in range(n_messages):
                dispatcher.heard(member, decode(body), time.perf_counter())
            task = evaluator.start(time.perf_counter())
            estimates = task.launch()()
            task.landed(estimates, 0.001)
            task.deliver(estimates)
            batches += 1
        costs_us.append((time.process_time() - began_s) / batches / n_messages / n_rows * 1e6)
    return costs_us


class _Sink:
    """A link that leads nowhere."""

    def send(self, frame: bytes) -> None:
        """Where the answer's frame ends."""


async def _piped_us(n_rows: int, row_bytes: int) -> list[float]:
    """CPU time of the whole process for each row, in windows."""
    assignment = Assignment("ask", _question(n_rows, row_bytes), seed=0, chunk=1, low_water=1)
    settings, costs_us = LiveSettings(timeout_ms=None, max_rows=1024), list[float]()
    engine = Engine(LocalPool(_ask_for_ever), Work(assignment, Ledger(None)), workers=1, settings=settings)
    engine.serve(0, Endpoint(row_bytes, ACTIONS, _launch))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.run())
        await until(lambda: engine.evaluator.stats().batches >= 100)
        for _ in range(WINDOWS):
            rows, cpu_s = engine.evaluator.stats().rows, time.process_time()
            await asyncio.sleep(WINDOW_S)
            spent_s = time.process_time() - cpu_s
            costs_us.append(spent_s / (engine.evaluator.stats().rows - rows) * 1e6)
        engine.halt()
        await running
    return costs_us


def _question(n_rows: int, row_bytes: int) -> bytes:
    features = np.random.default_rng(0).integers(0, 256, (n_rows, row_bytes), np.uint8)
    legal = np.tile(np.arange(ACTIONS, dtype=np.int32), n_rows)
    offsets = np.arange(n_rows + 1, dtype=np.int32) * np.int32(ACTIONS)
    return encode(Ask(1, 0, n_rows, 0, features, legal, offsets))


def _ask_for_ever(number: int, data: socket.socket, control: socket.socket) -> None:
    """A worker's entry: greet, take the frame out of the first job, and keep MESSAGES of it under way."""
    pipe = BlockingPipe(data)
    pipe.send(encode(Hello(PROTOCOL, number, os.getpid())))
    with contextlib.suppress(EOFError):
        while not isinstance(message := _next(pipe), Job):
            pass
        for _ in range(MESSAGES):
            pipe.send(message.spec)
        while pipe.receive(None) is not None:
            pipe.send(message.spec)
    os._exit(0)


def _next(pipe: BlockingPipe) -> Message:
    body = pipe.receive(None)
    assert body is not None, "a wait without a limit came back empty"
    return decode(body)


def _launch(positions: Positions) -> Finish:
    n_rows = len(positions.features)
    answer = Estimates(np.zeros(len(positions.legal), np.float32), np.zeros((n_rows, PLAYERS), np.float32), 0)
    return lambda: answer
