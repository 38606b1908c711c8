"""A bench watches a run from outside: the run does not know what the bench waits for."""

import asyncio
import time
from collections.abc import Callable

from asyncplay.engine.evaluator import Evaluator

LOOK_S = 0.05


async def until(claim: Callable[[], bool]) -> None:
    while not claim():  # noqa: ASYNC110
        await asyncio.sleep(LOOK_S)


async def rows_per_s(evaluator: Evaluator, seconds: float) -> float:
    """Rows that are answered in a window from now on, by the second."""
    rows, began_s = evaluator.stats().rows, time.perf_counter()
    await asyncio.sleep(seconds)
    return (evaluator.stats().rows - rows) / (time.perf_counter() - began_s)
