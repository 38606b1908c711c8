"""The folder of a run as its writers use it: held open, so that renaming it does not scatter its files, and waited for
while its disk is full."""

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from asyncplay.data.writer import GivenUp, Writer, is_transient, persist

log = logging.getLogger(__name__)

RETRY_S = 1.0
GLANCE_S = 0.05  # between two checks of the signals while the loop stands still

Result = TypeVar("Result")


class RunFolder:
    """Lifetime: that of the run; on the loop. Trouble: a transient error is reported once for all writers, and each
    write is tried again every ``retry_s`` until it succeeds or ``give_up``; then it is ``unsaved``."""

    def __init__(self, path: Path, say: Callable[[str], None] = lambda line: None, *, retry_s: float = RETRY_S) -> None:
        self.path, self._say, self._retry_s = path, say, retry_s
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        self._troubles: dict[str, str] = {}  # by writer
        self._since_s = 0.0
        self._given_up = asyncio.Event()
        self.listeners: list[Callable[[], None]] = []  # called when trouble begins or ends, and when it is given up
        self.said = ""  # the last report about the disk
        self.unsaved: dict[str, str] = {}  # what could not be written when it was last tried, and why

    @property
    def trouble(self) -> str:
        """Why nothing can be written, or an empty text."""
        return next(iter(self._troubles.values()), "")

    @property
    def is_given_up(self) -> bool:
        return self._given_up.is_set()

    def give_up(self) -> None:
        """Wait for the disk no more: what is not written is tried once, and then left."""
        self._given_up.set()
        self._tell_listeners()

    @property
    def place(self) -> Path:
        """Where to write: this folder, whatever is at its path now. OSError where it cannot be found."""
        held = Path(f"/proc/self/fd/{self._descriptor}")
        if held.exists():
            return held
        if self.is_in_place:
            return self.path
        raise FileNotFoundError(f"{self.path} was renamed or deleted")

    @property
    def is_in_place(self) -> bool:
        """Whether the folder is still at its path; if the path cannot be read, it is assumed to be."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._descriptor))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True

    @property
    def now(self) -> Path | None:
        """Where the folder is now, if the system can tell; None for one that was deleted."""
        with contextlib.suppress(OSError):
            found = os.readlink(f"/proc/self/fd/{self._descriptor}")
            if os.path.samestat(os.stat(found), os.fstat(self._descriptor)):
                return Path(found)
        return None

    def note_trouble(self, writer: str, why: str) -> None:
        """A writer can write nothing for the time being; with an empty ``why`` it can again."""
        was_troubled = bool(self._troubles)
        if why:
            self._troubles.setdefault(writer, why)
        else:
            self._troubles.pop(writer, None)
        if was_troubled == bool(self._troubles):
            return
        if why:
            self._since_s = time.monotonic()
            self.said = f"nothing can be stored in {self.path}: {why}"
            log.error("%s", self.said)
            self._say(f"{self.said}; it is tried again until it can, and Ctrl-C twice leaves without it")
        else:
            self.said = f"{self.path} can be written again after {time.monotonic() - self._since_s:.1f} s"
            log.warning("%s", self.said)
            self._say(self.said)
        self._tell_listeners()

    async def persist(self, what: str, step: Callable[[Path], Result]) -> Result | None:
        """Do ``step``, which writes below the path that it is given, in a thread; None if it could not be done.

        Once begun it is finished even if the caller is cancelled, but then it is not tried again.
        """
        loop = asyncio.get_running_loop()
        while True:
            writing = loop.run_in_executor(None, lambda: step(self.place))
            try:
                result = await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait([writing])  # its thread cannot be stopped
                raise
            except OSError as error:
                why = error.strerror or str(error)
                self.unsaved[what] = why
                if self.is_given_up or not is_transient(error):
                    log.error("no %s could be written to %s: %s", what, self.path, why)
                    return None
                self.note_trouble(what, why)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._retry_s):
                        await self._given_up.wait()
            else:
                self.unsaved.pop(what, None)
                self.note_trouble(what, "")
                return result

    def persist_here(self, what: str, step: Callable[[], Result]) -> Result:
        """The same on the loop itself, which stands still until the step is done: nothing else may happen before.

        Ctrl-C twice or SIGTERM gives up, which raises GivenUp; the loop handles the signals afterwards.
        """
        heard: list[int] = []
        with contextlib.ExitStack() as standstill:

            def wait(why: str) -> None:
                if what not in self._troubles:
                    standstill.enter_context(_hearing(heard))
                self.note_trouble(what, why)
                deadline_s = time.monotonic() + self._retry_s
                while time.monotonic() < deadline_s:
                    if heard.count(signal.SIGINT) > 1 or signal.SIGTERM in heard:
                        self.give_up()
                    if self.is_given_up:
                        raise GivenUp
                    time.sleep(GLANCE_S)

            result = persist(step, wait)
        self.note_trouble(what, "")
        return result

    async def close(self, writer: Writer) -> None:
        """Let a writer write what is left, in a thread; if cancelled meanwhile, it stops waiting for the disk."""
        try:
            await asyncio.to_thread(writer.close)
        except asyncio.CancelledError:
            self.give_up()
            raise

    def _tell_listeners(self) -> None:
        for listener in list(self.listeners):
            listener()


@contextlib.contextmanager
def _hearing(heard: list[int]) -> Iterator[None]:
    """Record signals, which the loop handles when it goes on; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, frame: heard.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
            signal.siginterrupt(number, False)  # as asyncio sets it
