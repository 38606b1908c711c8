"""What is on disk when a game is acknowledged, seen from outside the process."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
N_GAMES = 12
CALL = re.compile(r"^\d+ +(?:<\.\.\. )?(?P<name>\w+)(?:\(\d+<(?P<path>[^>]*)>| resumed>)")

pytestmark = pytest.mark.process


def trace(folder: Path, level: str) -> list[tuple[str, str]]:
    """The calls that write or sync a file, as (call, file), in the order they returned."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed: nobody sees what reaches the disk before an acknowledgement")
    out = folder / "trace"
    script = [sys.executable, str(TESTS / "data" / "acknowledge.py"), str(folder), level, str(N_GAMES)]
    watch = [strace, "-f", "-y", "-qq", "-o", str(out), "-e", "trace=write,pwrite64,fsync,fdatasync"]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*watch, *script],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    if "PTRACE" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip(f"strace may not look into processes here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return list(returned(out.read_text()))


def returned(text: str):
    """A call that another thread's call interrupts is written in two lines; the second is where it returned."""
    unfinished: dict[str, str] = {}
    for line in text.splitlines():
        thread = line.split(maxsplit=1)[0]
        found = CALL.match(line)
        if found is None:
            continue
        path = found["path"] if found["path"] is not None else unfinished.pop(thread, "")
        if line.endswith("<unfinished ...>"):
            unfinished[thread] = path
        else:
            assert not re.search(r"= -1 ", line), line
            yield found["name"], Path(path).name


def acknowledgements(calls: list[tuple[str, str]]) -> list[tuple[bool, bool]]:
    """For each acknowledgement: had the log been written since the last one, and was it synced after that?"""
    is_written = is_synced = False
    seen = []
    for name, file in calls:
        if file == "run.sqlite-wal":
            is_synced = name in ("fsync", "fdatasync")
            is_written |= name == "pwrite64"
        elif file == "acks":
            seen.append((is_written, is_synced))
            is_written = is_synced = False
    return seen


def test_at_level_power_the_log_is_synced_before_every_acknowledgement(tmp_path):
    calls = trace(tmp_path, "power")
    assert acknowledgements(calls) == [(True, True)] * N_GAMES


def test_at_level_process_it_is_written_and_not_synced(tmp_path):
    """The same look at the other level: the test above can fail."""
    calls = trace(tmp_path, "process")
    assert acknowledgements(calls) == [(True, False)] * N_GAMES


def test_the_mark_is_written_between_the_commit_and_its_acknowledgement(tmp_path):
    calls = [file for name, file in trace(tmp_path, "process") if file in ("run.sqlite-wal", "run.sqlite-mark", "acks")]
    steps = [file for file, before in zip(calls, ["", *calls], strict=False) if file != before]
    first = steps.index("acks")
    per_game = ["run.sqlite-wal", "run.sqlite-mark", "acks"]
    assert steps[first - 2 : first - 2 + 3 * N_GAMES] == per_game * N_GAMES
