"""Workers as processes of this machine."""

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

from asyncplay.errors import WireError
from asyncplay.pools.birth import Entry
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire.pipe import Channel, connect

if sys.platform == "linux":
    import fcntl

BIRTH = "import sys; sys.path[:] = {path!r}; from asyncplay.pools.birth import live; live{arguments!r}"


class LocalPool:
    """Starts an interpreter of its own for each link."""

    def __init__(self, entry: Entry) -> None:
        """``entry`` goes to the process by pickling."""
        self._entry = pickle.dumps(entry).hex()

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> "LocalLink":
        data, worker_data = await _open_pipe(on_frame, on_lost)
        with worker_data:  # the process will hold the only copy, so its end is seen here
            control, worker_control = await _open_pipe(_answerable(on_frame, data), _ignore)
            with worker_control:
                return LocalLink(*self._spawn(number, worker_data.fileno(), worker_control.fileno()), data, control)

    def _spawn(self, number: int, data: int, control: int) -> "tuple[subprocess.Popen[bytes], Leash]":
        """Not before the loop has its ends, and with no wait after it: a process is always somebody's."""
        arguments = (os.getpid(), self._entry, number, data, control)
        program = BIRTH.format(path=sys.path, arguments=arguments)
        leash = Leash()
        try:
            with _held_back(signal.SIGHUP, signal.SIGINT):
                process = subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[data, control, leash.workers],
                )
        except BaseException:
            leash.close()
            raise
        leash.tie(process.pid)
        return process, leash


class LocalLink:
    """Two pipes and a process."""

    def __init__(self, process: "subprocess.Popen[bytes]", leash: "Leash", data: Channel, control: Channel) -> None:
        self._process, self._leash, self._data, self._control = process, leash, data, control
        self._end: asyncio.Future[int] | None = None
        self.kill = process.kill
        self.send, self.send_control = data.send, control.send
        self.pause, self.resume, self.refuse = data.pause, data.resume, data.refuse

    async def reap(self) -> None:
        """The pipe is gone, so the process is useless: a last one that hangs is killed too."""
        if self._end is None:
            self.kill()
            self._data.close()
            self._control.close()
            self._end = asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        await asyncio.shield(self._end)  # once begun it goes on, whoever waits for it
        self._leash.close()


class Leash:
    """A pipe that is never used. When the coordinator ends, however it ends, its end is closed and the system itself
    kills the worker: also one that is stopped, has not come to its first line or holds the GIL. Only Linux can."""

    def __init__(self) -> None:
        self.workers, self._ours = os.pipe()

    def tie(self, pid: int) -> None:
        """Say whom to kill, and leave the worker the only copy of its end."""
        if sys.platform == "linux":
            fcntl.fcntl(self.workers, fcntl.F_SETOWN, pid)
            fcntl.fcntl(self.workers, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(self.workers, fcntl.F_SETFL, fcntl.fcntl(self.workers, fcntl.F_GETFL) | os.O_ASYNC)
        os.close(self.workers)
        self.workers = -1

    def close(self) -> None:
        for descriptor in (self.workers, self._ours):
            if descriptor >= 0:
                os.close(descriptor)
        self.workers = self._ours = -1


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
def _held_back(*numbers: signal.Signals) -> Iterator[None]:
    """A process inherits what is held back, so that it cannot be struck before it knows to ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
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


def _ignore(end: object) -> None:
    """The data pipe tells of a worker's end; the control pipe need not."""
