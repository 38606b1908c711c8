"""One coordinator a run folder."""

import fcntl
import os
import subprocess
import sys

import pytest

from asyncplay.data import lock

KEEPER = """
import sys
from pathlib import Path
from asyncplay.data import lock
with lock.hold(Path(sys.argv[1])):
    print("inside", flush=True)
    sys.stdin.read()
"""


def test_a_second_one_is_refused_with_the_first_ones_pid(tmp_path):
    with (
        lock.hold(tmp_path),
        pytest.raises(lock.InUse, match=f"is in use by process {os.getpid()}; stop it first"),
        lock.hold(tmp_path),
    ):
        pass


def test_a_lock_that_was_let_go_or_left_over_is_no_obstacle(tmp_path):
    (tmp_path / "lock").write_text("999999999\n")
    for _ in range(2):
        with lock.hold(tmp_path):
            assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_look_at_who_is_there_takes_nothing_from_anybody(tmp_path):
    assert lock.holder(tmp_path) is None
    with lock.hold(tmp_path):
        assert lock.holder(tmp_path) == str(os.getpid())
    assert lock.holder(tmp_path) is None
    with (tmp_path / "lock").open() as another:
        fcntl.flock(another, fcntl.LOCK_SH)  # somebody else looks at the same moment
        assert lock.holder(tmp_path) is None


@pytest.mark.process
def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "inside\n"
        with pytest.raises(lock.InUse, match=f"process {recorder.pid};"), lock.hold(tmp_path):
            pass
        recorder.kill()
        recorder.wait(timeout=60)
        with lock.hold(tmp_path):
            pass
