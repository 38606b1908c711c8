"""The fire rule in real time: real processes, pipes and coordinator, only the device is simulated.

``auto`` and the 50 ms timer share one run, in alternating windows, so that both see the same machine. The
virtual clock's figure for the same load stands beside them.
"""

import asyncio
import statistics
import time
from typing import Any

from asyncplay.bench import batching
from asyncplay.bench.outside import until
from asyncplay.config.loading import load
from asyncplay.engine.engine import Engine
from asyncplay.engine.loop import run_loop
from asyncplay.methods.synthetic.run import make_engine

SLOTS, THINK = 512, "exponential"
LOAD = {
    "load": {"slots": str(SLOTS), "law": THINK, "grain_ms": "0.2", "checked": "false"},
    "pool": {"workers": "1"},  # with more, the asking itself takes the two cores this is measured on
}
POLICIES = {"auto": "auto", "50ms": "50"}
WINDOW_S, SETTLE_S, ROUNDS = 2.0, 0.5, 4


def measure() -> dict[str, list[dict[str, Any]]]:
    rates: dict[str, list[float]] = {name: [] for name in POLICIES}
    run_loop(_measure(rates))
    virtual = {row.policy: row for row in batching.run_virtual(slots=[SLOTS], thinks=[THINK], policies=list(POLICIES))}
    return {"rows": [_row(name, statistics.median(rates[name]), virtual[name].rows_per_s) for name in POLICIES]}


async def _measure(rates: dict[str, list[float]]) -> int:
    engine = make_engine(load(None, LOAD))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.run())
        await until(lambda: engine.evaluator.stats().batches >= 1000)
        for _ in range(ROUNDS):
            for name, timeout in POLICIES.items():
                engine.settings.change("batch.timeout_ms", timeout)
                rates[name].append(await _window(engine))
        engine.halt()
        await running
    return 0


async def _window(engine: Engine) -> float:
    await asyncio.sleep(SETTLE_S)
    rows, began_s = engine.evaluator.stats().rows, time.perf_counter()
    await asyncio.sleep(WINDOW_S)
    return (engine.evaluator.stats().rows - rows) / (time.perf_counter() - began_s)


def _row(policy: str, rows_per_s: float, virtual_rows_per_s: float) -> dict[str, Any]:
    return {
        "slots": SLOTS,
        "think": THINK,
        "policy": policy,
        "rows_per_s": rows_per_s,
        "share_of_max": rows_per_s / batching.MAX_RATE,
        "virtual_rows_per_s": virtual_rows_per_s,
        "real_to_virtual": rows_per_s / virtual_rows_per_s,
    }
