"""A bench watches a run from outside: the run does not know what the bench waits for and tells nobody."""

import asyncio
from collections.abc import Callable

LOOK_S = 0.05


async def until(claim: Callable[[], bool]) -> None:
    while not claim():  # noqa: ASYNC110
        await asyncio.sleep(LOOK_S)
