"""Workers as processes of this machine."""

import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys

from asyncplay.errors import WireError
from asyncplay.pools.birth import Entry
from asyncplay.pools.link import OnFrame, OnLost
from asyncplay.wire.pipe import Channel, connect

if sys.platform == "linux":
    import fcntl

BIRTH = "import sys; sys.path[:] = {path!r}; from asyncplay.pools.birth import live; live{arguments!r}"


class LocalPool:
    """Starts a Python process for each link."""

    def __init__(self, entry: Entry) -> None:
        """``entry`` goes to the process by pickling."""
        self._entry = pickle.dumps(entry).hex()

    async def open(self, number: int, on_frame: OnFrame, on_lost: OnLost) -> "LocalLink":
        data, worker_data = await _open_pipe(on_frame, on_lost)

        def on_control(body: memoryview | bytes) -> None:
            """An invalid frame on the control pipe costs the worker, as on the data pipe."""
            try:
                on_frame(body)
            except WireError as error:
                data.refuse(str(error))
                raise

        with worker_data:  # the process will hold the only copy, so this side sees when it is closed
            control, worker_control = await _open_pipe(on_control, _ignore)
            with worker_control:
                return LocalLink(*self._spawn(number, worker_data.fileno(), worker_control.fileno()), data, control)

    def _spawn(self, number: int, data: int, control: int) -> "tuple[subprocess.Popen[bytes], Leash]":
        """Start a worker. Signals are blocked meanwhile: a process inherits the mask, so that none can end it before it
        ignores them. The caller has opened its pipes and awaits nothing afterwards, so no process is left alone."""
        arguments = (os.getpid(), self._entry, number, data, control)
        program = BIRTH.format(path=sys.path, arguments=arguments)
        leash = Leash()
        try:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGINT))
            try:
                process = subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[data, control, leash.workers],
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
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
        """The pipe is closed, so the process is useless: one that still runs is killed."""
        if self._end is None:
            self.kill()
            self._data.close()
            self._control.close()
            self._end = asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        await asyncio.shield(self._end)  # a cancelled caller does not end the wait of others
        self._leash.close()


class Leash:
    """A pipe that carries nothing. When the coordinator ends, however it ends, its end is closed and the kernel kills
    the worker: also one that is stopped, has not reached its first line or holds the GIL. Only Linux can."""

    def __init__(self) -> None:
        self.workers, self._ours = os.pipe()

    def tie(self, pid: int) -> None:
        """Name the process to kill, and leave the worker the only copy of its end."""
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


async def _open_pipe(on_frame: OnFrame, on_lost: OnLost) -> tuple[Channel, socket.socket]:
    """The loop's end, which closes itself when the worker's end is closed, and the worker's."""
    ours, workers = socket.socketpair()
    try:
        return await connect(ours, on_frame, on_lost), workers
    except BaseException:
        workers.close()
        raise


def _ignore(end: object) -> None:
    """The data pipe reports the end of a worker; the control pipe need not."""
