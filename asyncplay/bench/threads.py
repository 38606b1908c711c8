"""Strategy "threads": one process, a thread for each game, and an evaluator that all of them share.

The evaluator is the usual one: it fires when a batch is full, or when its first row has waited for the timeout.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from asyncplay.bench.outside import until
from asyncplay.bench.solo import GAMES, Solo, open_torch
from asyncplay.bench.tally import Tally, whole_rounds
from asyncplay.config.sections import Config
from asyncplay.model.backend import Backend
from asyncplay.model.device import usable_cores
from asyncplay.payloads import Estimates, Positions, offsets_of

TIMEOUT_S, MAX_ROWS = 5e-3, 64


class Closed(Exception):
    """The evaluator answers no more."""


class _Ask(NamedTuple):
    positions: Positions
    answer: "Future[Estimates]"


class SharedEvaluator:
    """Answers threads in batches.

    Lifetime: ``serve``, in a thread of its own, until ``close``. Order: that of the asks. End: what was asked is
    answered, a later ask raises Closed.
    """

    def __init__(self, backend: Backend, timeout_s: float = TIMEOUT_S, max_rows: int = MAX_ROWS) -> None:
        self._backend, self._timeout_s, self._max_rows = backend, timeout_s, max_rows
        self._asks: queue.SimpleQueue[_Ask | None] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._is_closed = False
        self.batches = 0

    def estimate(self, positions: Positions) -> Estimates:
        """Called by any thread, which waits."""
        ask = _Ask(positions, Future())
        with self._door:
            if self._is_closed:
                raise Closed
            self._asks.put(ask)
        return ask.answer.result()

    def close(self) -> None:
        with self._door:
            self._is_closed = True
            self._asks.put(None)  # nothing comes behind it

    def serve(self) -> None:
        while (first := self._asks.get()) is not None:
            batch, due_s = [first], time.perf_counter() + self._timeout_s
            while sum(len(ask.positions.features) for ask in batch) < self._max_rows:
                try:
                    ask = self._asks.get(timeout=max(due_s - time.perf_counter(), 0))
                except queue.Empty:
                    break
                if ask is None:
                    self._asks.put(None)  # ends the outer loop
                    break
                batch.append(ask)
            self._answer(batch)

    def _answer(self, batch: Sequence[_Ask]) -> None:
        blocks = [ask.positions for ask in batch]
        try:
            parts = list(split(self._backend.launch(join(blocks))(), blocks))
        except Exception as error:
            for ask in batch:
                ask.answer.set_exception(error)  # otherwise its thread would wait for ever
            return
        self.batches += 1
        for ask, part in zip(batch, parts, strict=True):
            ask.answer.set_result(part)


def join(blocks: Sequence[Positions]) -> Positions:
    return Positions(
        np.concatenate([block.features for block in blocks]),
        np.concatenate([block.legal for block in blocks]),
        offsets_of(np.concatenate([np.diff(block.offsets) for block in blocks])),
    )


def split(estimates: Estimates, blocks: Sequence[Positions]) -> Iterator[Estimates]:
    """Cut the answers into those of each block."""
    row = action = 0
    for block in blocks:
        last_row, last_action = row + len(block.features), action + len(block.legal)
        yield Estimates(estimates.priors[action:last_action], estimates.values[row:last_row], estimates.version)
        row, action = last_row, last_action


async def measure(config: Config, workers: int, seconds: float) -> Tally:
    totals = np.zeros((workers, 3), np.int64)
    evaluator = SharedEvaluator(open_torch(config, sorted({1, usable_cores()}), workers * config.search.worlds))
    server = threading.Thread(target=evaluator.serve, daemon=True, name="shared evaluator")
    with ThreadPoolExecutor(workers) as pool:
        server.start()
        try:
            solos = [Solo(config, evaluator.estimate, number, totals[number]) for number in range(workers)]
            ends = [pool.submit(_play, solo) for solo in solos]

            def count() -> Tally:
                for end in ends:
                    if end.done():
                        end.result()  # only an error ends a game before its time
                games, rows, _ = totals.sum(0).tolist()
                return Tally(time.perf_counter(), games, rows, evaluator.batches)

            await until(lambda: count().games > 0 and bool(totals[:, GAMES].all()))
            return await whole_rounds(count, workers, seconds)
        finally:
            evaluator.close()
            server.join()


def _play(solo: Solo) -> None:
    with suppress(Closed):
        while True:
            solo.play()
