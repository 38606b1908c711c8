"""A program with a console and no run behind it: quick to start, and its run does what the test says.

``c`` crashes it, ``u`` is a mistake, ``p`` stops reading from nobody: the answer takes its time.
"""

import asyncio
import contextlib
import signal
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import uvloop
from monitor.snapshots import NEURAL

from asyncplay.console.view import View
from asyncplay.errors import ConfigError
from asyncplay.monitor.snapshot import Snapshot

LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


class Pretended:
    """A run that shows how often it was looked at."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop, self._looks = stop, 0

    async def look(self) -> Snapshot:
        self._looks += 1
        return replace(NEURAL, elapsed_s=float(self._looks), event=None)

    async def do(self, verb: str, argument: str = "") -> str:
        match verb:
            case "stop":
                self._stop.set()
            case "undo":
                raise ConfigError("there is nothing to undo")
            case "checkpoint":
                raise RuntimeError("the disk has melted")
            case "pause":
                await asyncio.Event().wait()
        return f"did {verb} {argument}"


async def main(words: list[str]) -> None:
    stop = asyncio.Event()
    view = View(Pretended(stop), keyboard=0, screen=2, on_hangup=stop.set, is_owner="watch" not in words)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        showing = group.create_task(view.run())
        stopping = group.create_task(stop.wait())
        await asyncio.wait([showing, stopping], return_when=asyncio.FIRST_COMPLETED)
        showing.cancel()
        stopping.cancel()
    with contextlib.suppress(OSError):  # nobody may be left to hear it
        sys.stdout.write(f"goodbye {'stopped' if stop.is_set() else 'left'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=LOOPS[sys.argv[1]]) as runner:
        runner.run(main(sys.argv[2:]))
