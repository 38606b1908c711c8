"""The console as a service: draws a run four times a second, and turns keys into requests."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from asyncplay.console.ink import colours_of
from asyncplay.console.keys import Request, request
from asyncplay.console.picture import Opened, draw
from asyncplay.console.terminal import Terminal
from asyncplay.errors import ConfigError
from asyncplay.monitor.snapshot import Snapshot

REFRESH_S = 0.25
TALL = 36  # a screen with so many lines begins with the log opened
MOST_KEYS = 64
SAID_S = 8.0  # how long an answer to a key stays


class SnapshotSource(Protocol):
    """A run, of this process or of another."""

    async def look(self) -> Snapshot: ...

    async def do(self, verb: str, argument: str = "") -> str:
        """Return a line to show; ConfigError is the person's mistake, any other error the end of the view."""


class View:
    """One person's view of a run.

    Lifetime: ``run`` is one task of the run's group; it ends when cancelled, and where q only leaves also by that
    key. Order: keys one after another, a slow one does not stop the picture. Limit: MOST_KEYS wait, more are dropped.
    End: the terminal is as before.
    """

    def __init__(
        self,
        source: SnapshotSource,
        *,
        keyboard: int,
        screen: int,
        is_owner: bool,
        on_hangup: Callable[[], None] | None = None,
    ) -> None:
        """q stops a run only for its owner. A terminal that is gone calls ``on_hangup``; without it the view ends."""
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._terminal = Terminal(
            keyboard,
            screen,
            lambda key: self._soon(self._typed, key),
            lambda: self._soon(on_hangup or self.leave),
        )
        self._keys: asyncio.Queue[str] = asyncio.Queue(MOST_KEYS)
        self._opened = Opened(log=self._terminal.size()[1] >= TALL, is_owner=is_owner)
        self._said_s = 0.0
        self._shot: Snapshot | None = None
        self._colours = colours_of(os.environ)
        self._changed, self._left = asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        """Show until cancelled or left."""
        handlers = {signal.SIGWINCH: self._resize, signal.SIGTSTP: self._suspend, signal.SIGCONT: self._resume}
        for number, handler in handlers.items():
            self._loop.add_signal_handler(number, handler)
        try:
            self._resume()
            async with asyncio.TaskGroup() as group:
                services = [group.create_task(self._paint()), group.create_task(self._obey())]
                await self._left.wait()
                for service in services:
                    service.cancel()
        finally:
            self.restore()
            for number in handlers:
                self._loop.remove_signal_handler(number)

    def leave(self) -> None:
        """End ``run``; the run that is looked at goes on."""
        self._left.set()

    def restore(self) -> None:
        """Give the terminal back now, whatever else happens; may be called at any time."""
        self._terminal.leave()

    async def _paint(self) -> None:
        while True:
            self._changed.clear()
            self._shot = await self._source.look()
            if self._opened.said and self._loop.time() > self._said_s + SAID_S:
                self._opened = self._opened._replace(said="")
            if self._terminal.is_entered:
                frame = draw(self._shot, self._opened, *self._terminal.size())
                self._terminal.paint(frame.encode(self._colours))
            with suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_S):
                    await self._changed.wait()

    def _typed(self, key: str) -> None:
        if not self._keys.full():
            self._keys.put_nowait(key)

    async def _obey(self) -> None:
        while True:
            key = await self._keys.get()
            try:
                await self._press(key)
            except ConfigError as mistake:
                self._say(str(mistake))
            self._changed.set()

    async def _press(self, key: str) -> None:
        match key:
            case "l":
                self._opened = self._opened._replace(log=not self._opened.log)
            case "?":
                self._opened = self._opened._replace(help=not self._opened.help)
            case "q" if self._opened.is_owner:
                await self._ask(Request("stop"))
            case "q":
                self.leave()
            case "\x0c":  # Ctrl-L, as everywhere
                self._terminal.forget()
            case _ if self._shot is not None:
                await self._ask(request(key, self._shot))

    async def _ask(self, asked: Request | None) -> None:
        if asked is not None:
            self._say(await self._source.do(*asked))

    def _say(self, said: str) -> None:
        self._opened, self._said_s = self._opened._replace(said=said), self._loop.time()

    def _soon(self, callback: Callable[..., None], *arguments: str) -> None:
        """From another thread; a loop that is closed has no more use for keys."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _resize(self) -> None:
        self._terminal.forget()
        self._changed.set()

    def _suspend(self) -> None:
        """Ctrl-Z: give the terminal back, then stop as any process does; what follows happens after SIGCONT."""
        self._terminal.leave()
        self._loop.remove_signal_handler(signal.SIGTSTP)
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._resume()

    def _resume(self) -> None:
        """Take the terminal if we are in the foreground; a run sent to the background goes on without a picture."""
        if self._terminal.is_ours:
            self._terminal.enter()
            self._resize()
