"""Workers inside the coordinator's process, on its loop: the same core and the same frames, for tests and debugging.
The result depends on the order of frames alone, so a run can be repeated exactly."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from asyncplay.errors import WireError
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire.codec import HEADER, frames


class Core(Protocol):
    """A worker without its pipes."""

    is_over: bool

    def receive(self, body: bytes | memoryview) -> None: ...

    def advance(self, now_s: float) -> tuple[Sequence[Any], float | None]:
        """Return messages and the pause: 0 goes on at once, None waits for a frame."""


class InlinePool:
    """Makes a core for each link."""

    def __init__(self, make_core: Callable[[int], Core]) -> None:
        self._make_core = make_core

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> "InlineLink":
        return InlineLink(self._make_core(number), on_frame, on_lost)


class InlineLink:
    """Moves frames between a core and the coordinator, each step a callback of the loop."""

    def __init__(self, core: Core, on_frame: OnFrame, on_lost: OnLost) -> None:
        self._core, self._on_frame, self._on_lost = core, on_frame, on_lost
        self._loop = asyncio.get_running_loop()
        self._inbox: list[bytes] = []
        self._is_open = True
        self._is_paused = False
        self._next: asyncio.Handle | None = self._loop.call_soon(self._step)

    def send(self, frame: bytes) -> None:
        self._inbox.append(frame)
        self._wake()

    def send_control(self, frame: bytes) -> None:
        """Dropped: a core has no second thread that could answer."""

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._wake()

    def refuse(self, why: str) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.call_soon(self._on_lost, why)

    def kill(self) -> None:
        self.refuse("killed")

    async def reap(self) -> None:
        if self._next is not None:
            self._next.cancel()

    def _wake(self) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = self._loop.call_soon(self._step)

    def _step(self) -> None:
        if not self._is_open or self._is_paused:
            return
        inbox, self._inbox = self._inbox, []
        for frame in inbox:
            self._core.receive(memoryview(frame)[HEADER.size :])
        messages, pause_s = self._core.advance(self._loop.time())
        self._next = None
        try:
            for message in messages:
                for frame in frames(message):
                    self._on_frame(memoryview(frame)[HEADER.size :])
        except WireError as error:
            self.refuse(str(error))
        if self._core.is_over and not messages:
            self.refuse("hung up")
        elif self._next is None and pause_s:
            self._next = self._loop.call_later(pause_s, self._step)
        elif self._next is None and (pause_s is not None or self._core.is_over):
            self._next = self._loop.call_soon(self._step)
