"""Workers as processes of this machine, each in an executor of its own so that a death breaks nobody else's."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import cast

from asyncplay.errors import WireError
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire.pipe import Channel, connect

Entry = Callable[[int, socket.socket, socket.socket], None]
"""A worker's main function: its number, the data pipe, the control pipe. Never returns."""

_adopted: list[tuple[Entry, int, socket.socket, socket.socket]] = []


class LocalPool:
    """Spawns a process for each link. Must be used from the main thread: a worker dies with the thread
    that spawned it."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> "LocalLink":
        data, worker_data = await _open_pipe(on_frame, on_lost)
        with worker_data:  # the process will hold the only copy, so its end is seen here
            control, worker_control = await _open_pipe(_answerable(on_frame, data), _ignore)
            with worker_control:
                return LocalLink(self._spawn(number, worker_data, worker_control), data, control)

    def _spawn(self, number: int, data: socket.socket, control: socket.socket) -> ProcessPoolExecutor:
        """Not before the loop has its ends, and with no wait after it: a process is always somebody's."""
        with _held_back(signal.SIGHUP):  # multiprocessing's tracker, which starts here, would die of it
            executor = ProcessPoolExecutor(
                1,
                multiprocessing.get_context("spawn"),
                initializer=_adopt,
                initargs=(self._entry, number, data, control),
            )
            with _held_back(signal.SIGINT):
                executor.submit(_run_adopted).add_done_callback(_ignore)
        return executor


class LocalLink:
    """Two pipes and a process."""

    def __init__(self, executor: ProcessPoolExecutor, data: Channel, control: Channel) -> None:
        self._executor, self._data, self._control = executor, data, control
        self._shutdown: asyncio.Future[None] | None = None
        self.send, self.send_control = data.send, control.send
        self.pause, self.resume, self.refuse = data.pause, data.resume, data.refuse

    def kill(self) -> None:
        for pid in self._pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def reap(self) -> None:
        """The pipe is gone, so the process is useless: a last one that hangs is killed too."""
        if self._shutdown is None:
            self.kill()
            self._data.close()
            self._control.close()
            close = partial(self._executor.shutdown, wait=True, cancel_futures=True)
            self._shutdown = asyncio.get_running_loop().run_in_executor(None, close)
        await asyncio.shield(self._shutdown)  # once begun it goes on, whoever waits for it

    def _pids(self) -> list[int]:
        # Before its hello a worker's pid is known to its executor alone, which names it nowhere else.
        processes = cast(dict[int, object] | None, getattr(self._executor, "_processes", None))
        return list(processes or ())


def _answerable(on_frame: OnFrame, data: Channel) -> OnFrame:
    """What is wrong on the control pipe costs the worker, as it does on the data pipe."""

    def answer(body: memoryview | bytes) -> None:
        try:
            on_frame(body)
        except WireError as error:
            data.refuse(str(error))
            raise

    return answer


@contextlib.contextmanager
def _held_back(number: signal.Signals) -> Iterator[None]:
    """A process inherits what is held back, so that it cannot be struck before it knows to ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _open_pipe(on_frame: OnFrame, on_lost: OnLost) -> tuple[Channel, socket.socket]:
    """The loop's end, which closes itself when the worker's end is closed, and the worker's."""
    ours, workers = socket.socketpair()
    try:
        return await connect(ours, on_frame, on_lost), workers
    except BaseException:
        workers.close()
        raise


def _adopt(entry: Entry, number: int, data: socket.socket, control: socket.socket) -> None:
    """Runs in the worker: sockets can be inherited only here, not through a submit."""
    _adopted.append((entry, number, data, control))


def _run_adopted() -> None:
    entry, number, data, control = _adopted.pop()
    entry(number, data, control)


def _ignore(end: object) -> None:
    """A worker's end looks the same to its executor whatever the cause; its frames tell what it was."""
