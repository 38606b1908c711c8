"""A run in a process of its own, which does not end with its terminal."""

import os
import subprocess
import sys
from pathlib import Path

from asyncplay.errors import RunFailed
from asyncplay.rundir.layout import OUT

PREFIX = "ASYNCPLAY_"
"""Of variables that a process sets for its children, which end with it; a detached run does not and gets none."""

READY = f"{PREFIX}READY"
"""The variable with the descriptor through which a detached run reports that it listens."""


def start(folder: Path, words: list[str]) -> int:
    """Run ``asyncplay WORDS`` with its output in the run's folder; return its pid once it listens.

    RunFailed has the last line that the process printed if it ended before.
    """
    ours, theirs = os.pipe()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with (folder / OUT).open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "asyncplay", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            pass_fds=[theirs],
            env={**environment, READY: str(theirs)},
        )
    os.close(theirs)
    with open(ours, "rb") as pipe:
        is_ready = pipe.read() != b""  # until the run closes it, ready or dead
    if not is_ready:
        status, last = process.wait(), (folder / OUT).read_text(errors="replace").strip().rpartition("\n")[2]
        failure = RunFailed(f"{last.removeprefix('asyncplay: ')}; {folder / OUT} has more")
        failure.exit_code = status if status > 0 else 1
        raise failure
    process.returncode = 0  # no process waits for it any more
    return process.pid


def report_ready() -> None:
    """Report to the process that detached this run, if one did."""
    descriptor = os.environ.pop(READY, None)
    if descriptor is not None:
        os.write(int(descriptor), b"ready\n")
        os.close(int(descriptor))
