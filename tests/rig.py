"""A whole engine under the synthetic load, and workers that misbehave on purpose."""

import ctypes
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numba
import numpy as np

from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import DeviceSettings, LoadSettings
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.supervise import Patience
from asyncplay.engine.work import Assignment, Work
from asyncplay.methods.roles import ROLES, be_worker
from asyncplay.methods.synthetic.messages import SyntheticSpec
from asyncplay.methods.synthetic.worker import SyntheticPlayer
from asyncplay.model.backends.sim import SimBackend
from asyncplay.pools.inline import InlinePool
from asyncplay.pools.link import Pool
from asyncplay.pools.local import LocalPool
from asyncplay.wire.codec import HEADER, encode
from asyncplay.wire.messages import Job
from asyncplay.wire.pipe import BlockingPipe
from asyncplay.worker import main as worker_main
from asyncplay.worker.core import Step, Worker

ROW_BYTES, ACTIONS, PLAYERS = 64, 4, 2
CALM = Patience(silence_floor_s=60.0, silence_ceiling_s=60.0, backoff_s=0.01, deaths=100)
"""A worker that is merely slow is not suspected: what happens does not depend on the machine."""

QUICK = replace(CALM, silence_floor_s=0.5, silence_ceiling_s=1.0)
"""For those that fall silent on purpose; on a slow machine others may be suspected too."""


def synthetic_spec(slots: int = 32, think_s: float = 0.0005) -> SyntheticSpec:
    load = LoadSettings(slots=slots, row_bytes=ROW_BYTES, actions=ACTIONS, think_ms=1000 * think_s, grain_ms=0.0)
    return SyntheticSpec(json.dumps(asdict(load)), PLAYERS)


def engine(
    pool: Pool,
    units: int | None,
    *,
    workers: int = 2,
    spec: SyntheticSpec | None = None,
    low_water: int = 512,
    patience: Patience = CALM,
) -> Engine:
    spec = spec or synthetic_spec()
    backend = SimBackend(DeviceSettings(sim_device_ms=0.2, sim_host_ms=0.0, sim_rows_per_s=1e6), PLAYERS)
    work = Assignment("synthetic", encode(spec), seed=1, chunk=256, low_water=low_water)
    settings = LiveSettings(timeout_ms=None, max_rows=256)
    built = Engine(
        pool, Work(work, Ledger(units)), workers=workers, settings=settings, patience=patience, depth=backend.depth
    )
    built.serve(0, Endpoint(ROW_BYTES, ACTIONS, backend.launch, is_timed=True))
    return built


def inline_pool() -> InlinePool:
    return InlinePool(lambda number: Worker(number, os.getpid(), ROLES))


def local_pool() -> LocalPool:
    return LocalPool(be_worker)


class NaughtyPool(LocalPool):
    """Processes of which the first, once, does something bad after ``calm`` steps; ``mark`` remembers it."""

    def __init__(self, mischief: str, mark: Path) -> None:
        super().__init__(Naughty(mischief, mark))


class Naughty:
    """A worker's entry. An instance travels to the process by pickling, as any argument of a spawn does."""

    def __init__(self, mischief: str, mark: Path) -> None:
        self.mischief, self.mark = mischief, mark

    def __call__(self, number: int, data: socket.socket, control: socket.socket) -> None:
        raw = data.dup()

        def player(tickets: Iterator[int]) -> SyntheticPlayer:
            return MischievousPlayer(tickets, lambda: MISCHIEF[self.mischief](raw), self.mark)

        worker_main.run({"synthetic": player}, number, data, control)


class MischievousPlayer(SyntheticPlayer):
    """Plays well until its mischief is due; whoever makes the mark first is the one to do it."""

    def __init__(self, tickets: Iterator[int], mischief: Callable[[], None], mark: Path) -> None:
        super().__init__(tickets)
        self._mischief, self._mark, self._steps = mischief, mark, 0

    def advance(self, now_s: float) -> Step:
        self._steps += 1
        if self._steps > 50 and self._is_first():
            self._mischief()
        return super().advance(now_s)

    def _is_first(self) -> bool:
        try:
            with self._mark.open("x") as mark:
                mark.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True


class PoisonedPlayer(SyntheticPlayer):
    """Dies of one certain unit."""

    POISON = 100

    def take(self, job: Job) -> None:
        if job.first <= self.POISON < job.first + job.count:
            os._exit(7)
        super().take(job)


def poisoned_entry(number: int, data: socket.socket, control: socket.socket) -> None:
    worker_main.run({"synthetic": PoisonedPlayer}, number, data, control)


def failing_entry(number: int, data: socket.socket, control: socket.socket) -> None:
    worker_main.run({"synthetic": _fail}, number, data, control)


def brief_entry(number: int, data: socket.socket, control: socket.socket) -> None:
    """Greets nobody and leaves."""
    os._exit(0)


def _fail(tickets: object = None) -> SyntheticPlayer:
    raise RuntimeError("this machine has no luck")


@numba.njit(nogil=True)
def spin_free(turns: int) -> float:
    total = 0.0
    for turn in range(turns):
        total += np.sin(turn)
    return total


@numba.njit
def spin_locked(turns: int) -> float:
    total = 0.0
    for turn in range(turns):
        total += np.sin(turn)
    return total


def _segfault(raw: socket.socket) -> None:
    ctypes.string_at(0)


def _garbage(raw: socket.socket) -> None:
    raw.sendall(HEADER.pack(40) + bytes(range(200, 240)))
    time.sleep(60)


def _oversize(raw: socket.socket) -> None:
    raw.sendall(HEADER.pack(2**31) + b"x" * 1000)
    time.sleep(60)


def _half(raw: socket.socket) -> None:
    raw.sendall(HEADER.pack(1000) + b"x" * 10)
    os._exit(0)


def _hang(raw: socket.socket) -> None:
    while True:
        pass


MISCHIEF: dict[str, Callable[[socket.socket], None]] = {
    "segfault": _segfault,
    "garbage": _garbage,
    "oversize": _oversize,
    "half": _half,
    "hang": _hang,
    "kernel": lambda raw: spin_free(10**15),
    "locked kernel": lambda raw: spin_locked(10**15),
    "exception": lambda raw: _fail(),
}


def pipes() -> tuple[BlockingPipe, socket.socket]:
    ours, theirs = socket.socketpair()
    return BlockingPipe(ours), theirs
