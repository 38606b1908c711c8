"""The console of a run in another process: looked at and steered through its socket, and left without harm."""

import asyncio
import signal
import sys
from pathlib import Path

from asyncplay.console.view import View
from asyncplay.errors import AsyncplayError, printable
from asyncplay.monitor.remote import Remote

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KEYBOARD, SCREEN = 0, 1


async def watch(folder: Path) -> int:
    """Show the run in ``folder`` until the person leaves or it ends."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AsyncplayError(f"watch needs a terminal; `asyncplay tune {folder}` does not, nor does {folder}/run.log")
    remote = await Remote.open(folder)
    try:
        await _show(remote)
    except* AsyncplayError as errors:
        sys.stderr.write(f"{printable(_first(errors))}\n")
    finally:
        remote.close()
    return 0


async def _show(remote: Remote) -> None:
    loop = asyncio.get_running_loop()
    view = View(remote, keyboard=KEYBOARD, screen=SCREEN, is_owner=False)
    for number in ENDS:
        loop.add_signal_handler(number, view.leave)
    try:
        await view.run()
    finally:
        for number in ENDS:
            loop.remove_signal_handler(number)


def _first(errors: BaseExceptionGroup[AsyncplayError]) -> BaseException:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
