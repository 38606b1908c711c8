"""Signals that end a run: Ctrl-C, a closed terminal, SIGTERM."""

import asyncio
import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

EXIT_INTERRUPTED = 130


@dataclass(slots=True)
class Interrupts:
    """Ctrl-C: once drains, twice ends at once, three times leaves without a word. SIGTERM counts as two.

    A closed terminal (SIGHUP) is a first Ctrl-C, unless it is ignored already, as under nohup. Lifetime: as a context
    on a running loop, which calls the handlers.
    """

    drain: Callable[[], None]
    halt: Callable[[], None]
    say: Callable[[str], None]
    farewell: Callable[[], None] = lambda: None  # before it leaves without a word
    count: int = 0

    def __enter__(self) -> "Interrupts":
        for number, handler in self._handlers().items():
            asyncio.get_running_loop().add_signal_handler(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._handlers():
            asyncio.get_running_loop().remove_signal_handler(number)

    def _handlers(self) -> dict[signal.Signals, Callable[[], None]]:
        handlers = {signal.SIGINT: self.interrupt, signal.SIGTERM: self.terminate}
        is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        return handlers if is_ignored else {**handlers, signal.SIGHUP: self.hang_up}

    def interrupt(self) -> None:
        self.count += 1
        if self.count == 1:
            self.say("stopping: finishing what is under way; Ctrl-C again stops at once")
            self.drain()
        elif self.count == 2:
            self.say("stopping now; Ctrl-C again leaves without saving")
            self.halt()
        else:
            self.farewell()
            os._exit(EXIT_INTERRUPTED)

    def hang_up(self) -> None:
        """The terminal is gone, and writing to it would fail: what is said goes to the null device instead, unless to
        files and pipes, and the run ends with everything saved."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                os.dup2(nowhere, descriptor)
        os.close(nowhere)
        if self.count == 0:
            self.interrupt()

    def terminate(self) -> None:
        self.count = max(self.count, 1)
        self.interrupt()


@contextmanager
def held_back(say: Callable[[str], None]) -> Iterator[None]:
    """While a run is built on the running loop: the first Ctrl-C waits for the Interrupts that follow, a second one
    leaves, as there is nothing to save yet. Python's own way, an exception wherever the code is, may be swallowed by an
    import."""
    strikes: list[int] = []

    def strike(number: int, frame: object) -> None:
        strikes.append(number)
        if len(strikes) > 1:
            os._exit(EXIT_INTERRUPTED)
        say("stopping as soon as the run is built; Ctrl-C again leaves at once")

    # With a handler of its own the loop gets every signal by its wakeup descriptor, beside Python's handler, and looks
    # up what to call when it runs again: by then Interrupts has taken the place of this one.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    quiet = signal.signal(signal.SIGINT, strike)
    try:
        yield
    except BaseException:
        loop.remove_signal_handler(signal.SIGINT)
        raise
    signal.signal(signal.SIGINT, quiet)
    signal.siginterrupt(signal.SIGINT, False)
