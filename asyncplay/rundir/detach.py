"""A run in a process of its own, which no terminal ends."""

import os
import subprocess
import sys
from pathlib import Path

from asyncplay.errors import RunFailed

PREFIX = "ASYNCPLAY_"
"""Of variables that a process sets for those which it starts and which end with it: a detached run does not."""

READY = f"{PREFIX}READY"
"""Names the variable with the descriptor through which a detached run says that it can be watched."""


def start(folder: Path, words: list[str]) -> int:
    """Run ``asyncplay WORDS``, with all it says in ``folder``/out.log; return its pid once it listens."""
    ours, theirs = os.pipe()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with (folder / "out.log").open("ab") as out:
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
        is_ready = pipe.read() != b""  # until it is closed, by word or by death
    if not is_ready:
        raise _failure(folder / "out.log", process.wait())
    process.returncode = 0  # nobody waits for it any more
    return process.pid


def _failure(out: Path, status: int) -> RunFailed:
    """In the words that the run had for it."""
    last = out.read_text(errors="replace").strip().rpartition("\n")[2]
    failure = RunFailed(f"{last.removeprefix('asyncplay: ')}; {out} has more")
    failure.exit_code = status if status > 0 else 1
    return failure


def report_ready() -> None:
    """Tell whoever detached this run, if anybody did."""
    descriptor = os.environ.pop(READY, None)
    if descriptor is not None:
        os.write(int(descriptor), b"ready\n")
        os.close(int(descriptor))
