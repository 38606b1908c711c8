"""What a row costs the coordinator, by rows a message and bytes a row.

A real worker process asks as fast as it is answered, with sixteen messages under way. The device is one that
answers at once with nothing, so what is left is the coordinator's own work: reading, decoding, queueing, laying
the batch together, cutting the answers, encoding and writing them. Counted is the CPU time of its process,
waiting not included.
"""

import asyncio
import time
from typing import Any

import numpy as np

from asyncplay.app import run_loop
from asyncplay.build import make_pool
from asyncplay.coordinator.dispatch import Assignment, Work
from asyncplay.coordinator.evaluator import Endpoint
from asyncplay.coordinator.lane import Finish
from asyncplay.coordinator.ledger import Ledger
from asyncplay.payloads import Estimates, Positions
from asyncplay.settings import Settings
from asyncplay.spine import Spine
from asyncplay.wire.codec import encode
from asyncplay.wire.messages import SyntheticSpec

ROWS_PER_MESSAGE = (1, 16, 64, 256)
ROW_BYTES = (256, 1024)
ACTIONS, PLAYERS, WORKERS, MESSAGES = 8, 2, 1, 16
WINDOW_S, WINDOWS = 0.5, 4


def measure() -> dict[str, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for row_bytes in ROW_BYTES:
        for n_rows in ROWS_PER_MESSAGE:
            cost_us: list[float] = []
            run_loop(_measure(n_rows, row_bytes, cost_us))
            figures = {"rows_per_message": n_rows, "row_bytes": row_bytes}
            rows.append({**figures, "coordinator_us_per_row": round(min(cost_us), 3)})
    return {"rows": rows}


async def _measure(n_rows: int, row_bytes: int, cost_us: list[float]) -> int:
    """Run the load and measure it in windows; the best one counts, what disturbs a window is not ours."""
    spine = _spine(n_rows, row_bytes)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(spine.run())
        while spine.evaluator.stats().batches < 100:  # noqa: ASYNC110  # a bench looks from outside
            await asyncio.sleep(0.05)
        for _ in range(WINDOWS):
            rows, cpu_s = spine.evaluator.stats().rows, time.process_time()
            await asyncio.sleep(WINDOW_S)
            spent_s = time.process_time() - cpu_s
            cost_us.append(spent_s / (spine.evaluator.stats().rows - rows) * 1e6)
        spine.halt()
        await running
    return 0


def _spine(n_rows: int, row_bytes: int) -> Spine:
    spec = SyntheticSpec(
        slots=n_rows * MESSAGES,
        features=row_bytes,
        actions=ACTIONS,
        players=PLAYERS,
        law="constant",
        think_s=0.0,
        straggler_share=0.0,
        straggler_s=0.0,
        grain_s=0.0,
        message_rows=n_rows,
        checked=False,
    )
    work = Assignment("synthetic", encode(spec), seed=0, chunk=16_384, low_water=8_192)
    settings = Settings(timeout_ms=None, max_rows=1024)
    spine = Spine(make_pool("local"), Work(work, Ledger(None)), workers=WORKERS, settings=settings)
    spine.serve(0, Endpoint(row_bytes, ACTIONS, _launch))
    return spine


def _launch(positions: Positions) -> Finish:
    n_rows = len(positions.features)
    answer = Estimates(np.zeros(len(positions.legal), np.float32), np.zeros((n_rows, PLAYERS), np.float32), 0)
    return lambda: answer
