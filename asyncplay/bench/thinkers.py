"""What it costs the coordinator to know who is waited for, with many workers.

The workers are simulated, the supervisor is the real one: each worker greets and then asks in turn, and after each
frame the supervisor is asked who may still ask, as the queue does.
"""

import asyncio
import time
from collections.abc import Callable
from itertools import count
from statistics import median
from typing import Any

import numpy as np

from asyncplay.bench.outside import until
from asyncplay.engine.loop import run_loop
from asyncplay.engine.supervise import Member, Supervisor
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire.codec import HEADER, encode
from asyncplay.wire.messages import PROTOCOL, Ask, Hello, Message

WORKERS = (10, 100, 1000)
CALLS, WINDOWS = 2000, 9
SLOTS = 4
TICK_S = 2e-5  # between two looks at the clock: who is late does not depend on the machine


def measure() -> dict[str, list[dict[str, Any]]]:
    return {"rows": [run_loop(_row(n_workers)) for n_workers in WORKERS]}


class _SilentLink:
    """A worker that says only what it is made to say."""

    def __init__(self, on_frame: OnFrame, on_lost: OnLost) -> None:
        self.on_frame, self._on_lost = on_frame, on_lost

    def send(self, frame: bytes) -> None: ...

    def send_control(self, frame: bytes) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def refuse(self, why: str) -> None: ...

    def kill(self) -> None: ...

    async def reap(self) -> None: ...


class _SilentPool:
    """Workers that greet and are silent."""

    def __init__(self) -> None:
        self.links: list[_SilentLink] = []

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> _SilentLink:
        self.links.append(link := _SilentLink(on_frame, on_lost))
        asyncio.get_running_loop().call_soon(on_frame, encode(Hello(PROTOCOL, number, 1))[HEADER.size :])
        return link


class _Listener:
    """Gives every worker something to think about, and no answers."""

    n_ready = 0

    def ready(self, member: Member) -> None:
        member.has_work, member.thinking = True, SLOTS
        self.n_ready += 1

    def heard(self, member: Member, message: Message, now_s: float) -> None: ...

    def idle(self) -> None: ...

    def gone(self, member: Member, *, is_blamed: bool) -> None: ...


async def _row(n_workers: int) -> dict[str, Any]:
    pool, listener = _SilentPool(), _Listener()
    ticks = count()
    supervisor = Supervisor(pool, n_workers, listener, clock=lambda: next(ticks) * TICK_S)
    running = asyncio.get_running_loop().create_task(supervisor.run())
    await until(lambda: listener.n_ready == n_workers)
    speak = _speaker(pool.links)
    windows = [_window_us(supervisor, speak) for _ in range(WINDOWS)]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return {"workers": n_workers, "us_per_call": round(median(windows), 2)}


def _speaker(links: list[_SilentLink]) -> Callable[[int], None]:
    """Let worker ``n`` ask for a row, with the others of its slots still thinking."""
    ints = np.zeros(1, np.int32)
    ask = Ask(1, 0, 1, SLOTS - 1, np.zeros((1, 8), np.uint8), ints, np.arange(2, dtype=np.int32))
    body = encode(ask)[HEADER.size :]
    return lambda number: links[number % len(links)].on_frame(body)


def _window_us(supervisor: Supervisor, speak: Callable[[int], None]) -> float:
    """Microseconds of CPU time of a call, each after a worker's word."""
    spent_s = 0.0
    for call in range(CALLS):
        speak(call)
        now_s, began_s = supervisor.clock(), time.thread_time()
        found = supervisor.thinkers(now_s)
        spent_s += time.thread_time() - began_s
        assert found.slots > 0, "somebody has just spoken"
    return spent_s / CALLS * 1e6
