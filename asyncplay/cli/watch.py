"""``asyncplay watch``: the console of a run in another process, seen and steered through its socket."""

import asyncio
import signal
import sys
from pathlib import Path

from asyncplay.cli.kinds import run_or_latest
from asyncplay.cli.output import say
from asyncplay.errors import AsyncplayError, leaves

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KEYBOARD, SCREEN = 0, 1


def watch(run: Path | None = None) -> int:
    """The live console of a run that goes on in another terminal; leaving it does not stop the run.

    Parameters
    ----------
    run
        The folder of the run; without it, the latest in runs/ that goes on.
    """
    from asyncplay.engine.loop import run_loop

    folder = run_or_latest(run, is_running=True)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AsyncplayError(f"watch needs a terminal; `asyncplay tune {folder}` does not, nor does {folder}/run.log")
    return run_loop(_show(folder))


async def _show(folder: Path) -> int:
    """Show the run in ``folder`` until the person leaves or it ends."""
    import asyncplay.methods.figures  # noqa: F401  # a snapshot knows the parts of every method
    from asyncplay.console.view import View
    from asyncplay.monitor.remote import Remote

    loop, remote = asyncio.get_running_loop(), await Remote.open(folder)
    try:
        view = View(remote, keyboard=KEYBOARD, screen=SCREEN, is_owner=False)
        for number in ENDS:
            loop.add_signal_handler(number, view.leave)
        await view.run()
    except* AsyncplayError as errors:
        say(leaves(errors)[0])
    finally:
        for number in ENDS:
            loop.remove_signal_handler(number)
        remote.close()
    return 0
