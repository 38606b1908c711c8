"""Real runs as processes, looked at and steered through their sockets."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

import asyncplay.methods.figures  # noqa: F401  # a snapshot knows the parts of every method
from asyncplay.errors import AsyncplayError
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Snapshot

LONG_S = 180.0  # kernels may have to be compiled first
ENTRY = "import sys; from asyncplay.cli import main; sys.exit(main(sys.argv[1:]))"
PATIENT = ["--supervise.silence-floor-s", "110", "--workers", "2", "--headless"]  # whatever else the machine does
SYNTHETIC = ["--game.name", "synthetic", "--load.slots", "64", *PATIENT]

Result = TypeVar("Result")


class Running:
    """A run of its own session; ``entry`` is what the interpreter is given."""

    def __init__(self, folder: Path, words: list[str], entry: str = ENTRY) -> None:
        self.folder = folder
        self.heard = folder.with_name(f"{folder.name}.err")
        command = [sys.executable, "-c", entry, "train", *words, "--run", str(folder)]
        with self.heard.open("wb") as err, folder.with_name(f"{folder.name}.out").open("wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)

    @property
    def said(self) -> str:
        return self.heard.read_text()

    def kill(self) -> None:
        """With its workers."""
        for process in psutil.process_iter():
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                if os.getsid(process.pid) == self.process.pid:
                    process.kill()
        self.process.wait()


@contextmanager
def running(folder: Path, *words: str, entry: str = ENTRY) -> Iterator[Running]:
    run = Running(folder, list(words), entry)
    try:
        yield run
    finally:
        run.kill()


async def attach(folder: Path, run: Running | None = None) -> Remote:
    """Connect as soon as it listens."""
    deadline_s = time.monotonic() + LONG_S
    while True:
        try:
            return await Remote.open(folder)
        except AsyncplayError:
            assert time.monotonic() < deadline_s, "the run does not listen"
            assert run is None or run.process.poll() is None, run and run.said
            await asyncio.sleep(0.1)


def visit(run: Running, deed: Callable[[Remote], Awaitable[Result]]) -> Result:
    """Do something with a connection to the run."""

    async def stay() -> Result:
        remote = await attach(run.folder, run)
        try:
            return await deed(remote)
        finally:
            remote.close()

    return asyncio.run(stay())


async def look_until(remote: Remote, is_so: Callable[[Snapshot], Any]) -> Snapshot:
    deadline_s = time.monotonic() + LONG_S
    while not is_so(shot := await remote.look()):
        assert time.monotonic() < deadline_s, f"it did not come to pass: {shot}"
        await asyncio.sleep(0.1)
    return shot


def tune(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ENTRY, "tune", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=False)


def tuned(folder: Path, *words: str) -> Any:
    done = tune(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
