"""The fire rule against fixed policies: the table of the virtual clock, or a part of it in real time.

In real time processes, pipes and coordinator are real and only the device is simulated. ``auto`` and the 50 ms timer
share one run, in alternating windows, so that both see the same machine. The virtual clock's figure for the same load
stands beside them.
"""

import asyncio
import statistics
from typing import Any

from asyncplay.bench import virtual
from asyncplay.bench.outside import rows_per_s, until
from asyncplay.config.loading import load
from asyncplay.engine.loop import run_loop
from asyncplay.methods.synthetic.run import make_engine

SLOTS, THINK = 512, "exponential"
LOAD = {
    "load": {"slots": str(SLOTS), "law": THINK, "grain_ms": "0.2", "checked": "false"},
    "pool": {"workers": "1"},  # with more, the asking itself takes the two cores this is measured on
}
POLICIES = {"auto": "auto", "50ms": "50"}
WINDOW_S, SETTLE_S, ROUNDS = 2.0, 0.5, 4


def measure(*, real: bool = False) -> dict[str, list[dict[str, Any]]]:
    if not real:
        return {"rows": [row._asdict() for row in virtual.run_virtual()]}
    rates = {name: statistics.median(windows) for name, windows in run_loop(_measure()).items()}
    table = virtual.run_virtual(slots=[SLOTS], thinks=[THINK], policies=list(POLICIES))
    rows = [
        {
            "slots": SLOTS,
            "think": THINK,
            "policy": row.policy,
            "rows_per_s": rates[row.policy],
            "share_of_max": rates[row.policy] / virtual.MAX_RATE,
            "virtual_rows_per_s": row.rows_per_s,
            "real_to_virtual": rates[row.policy] / row.rows_per_s,
        }
        for row in table
    ]
    return {"rows": rows}


async def _measure() -> dict[str, list[float]]:
    """Rows/s of each window, by policy."""
    rates: dict[str, list[float]] = {name: [] for name in POLICIES}
    engine = make_engine(load(None, LOAD))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.run())
        await until(lambda: engine.evaluator.stats().batches >= 1000)
        for name, timeout in [*POLICIES.items()] * ROUNDS:
            engine.settings.change("batch.timeout_ms", timeout)
            await asyncio.sleep(SETTLE_S)
            rates[name].append(await rows_per_s(engine.evaluator, WINDOW_S))
        engine.halt()
        await running
    return rates
