"""How a run is shown to the person or the program that started it."""

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asyncplay.cli import output
from asyncplay.monitor import plain
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.monitor import Monitor

if TYPE_CHECKING:  # rich loads only where there is a terminal for it
    from asyncplay.console.view import View


@dataclass(frozen=True, slots=True)
class Showing:
    """What was asked on the command line."""

    headless: bool = False  # plain lines even on a terminal
    json_lines: bool = False  # for programs, on stdout
    detach: bool = False  # not at all: it goes on by itself


class Display:
    """The live console where a person looks at a terminal, else one line each interval.

    Lifetime: ``run`` is one task of the run's group, until cancelled; the other methods may be called at any time.
    End: the terminal is given back, whatever ends the run.
    """

    def __init__(self, showing: Showing, log_tail: LogTail) -> None:
        self._showing, self._log_tail = showing, log_tail
        self._view: View | None = None  # the console while it is on the screen

    def say(self, line: str) -> None:
        """Pin a message in the monitor, and write it unless the console is on the screen."""
        self._log_tail.note(line)
        if self._view is None:
            output.say(line)

    def restore(self) -> None:
        """Give the terminal back now."""
        if self._view is not None:
            self._view.restore()

    async def run(self, monitor: Monitor, interval_s: float, on_hangup: Callable[[], None]) -> None:
        if plain.wants_console(os.environ, headless=self._showing.headless, json_lines=self._showing.json_lines):
            from asyncplay.console.view import View

            self._view = View(monitor, keyboard=0, screen=2, is_owner=True, on_hangup=on_hangup)
            try:
                await self._view.run()
            finally:
                self._view = None
        while True:
            await asyncio.sleep(interval_s)
            shot = await monitor.look()
            if self._showing.json_lines:
                sys.stdout.write(plain.json_line(shot) + "\n")
                sys.stdout.flush()
            else:
                output.say(plain.line(shot))
