"""Nobody reads what a command says, or the disk it goes to is full: the command does its work all the same."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ENTRY = "import sys; from asyncplay.cli import main; sys.exit(main())"
LOAD = [
    "--game.name",
    "synthetic",
    "--load.slots",
    "8",
    "--pool.kind",
    "inline",
    "--workers",
    "1",
    "--train.interval-s",
    "0.05",
    "--headless",
]
FULL = Path("/dev/full")

pytestmark = pytest.mark.process


def command(*words: object, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ENTRY, *map(str, words)], stdout=stdout, stderr=stderr)


def unread() -> int:
    """The end of a pipe that has no other end."""
    ours, theirs = os.pipe()
    os.close(ours)
    return theirs


@pytest.fixture(params=["unread", "full"])
def nowhere(request):
    if request.param == "full" and not FULL.exists():
        pytest.skip("there is no /dev/full here")
    descriptor = unread() if request.param == "unread" else os.open(FULL, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


def test_a_run_goes_on_without_an_output_that_takes_nothing(tmp_path, nowhere):
    """Nothing that it says arrives anywhere; it plays all its units, saves and ends with the status of its work."""
    words = [*LOAD, "--json-lines", "--games", 500, "--run", tmp_path / "run"]
    assert command("train", *words, stdout=nowhere, stderr=nowhere).wait(timeout=120) == 0
    assert "Traceback" not in (tmp_path / "run" / "run.log").read_text()


def test_a_run_whose_lines_are_read_once_goes_on_and_is_silent_about_it(tmp_path):
    """As by ``--json-lines | head -1``. It ends long after, by Ctrl-C, with the status of that."""
    process = command(
        "train", *LOAD, "--json-lines", "--run", tmp_path / "run", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"{")
    process.stdout.close()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.0)  # many lines later
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=120) == 130
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
    assert "done " in said


@pytest.mark.parametrize("words", [["games"], ["runs", "."], ["train", "--help"]])
def test_a_command_that_nobody_reads_is_quiet(words):
    descriptor = unread()
    process = command(*words, stdout=descriptor, stderr=subprocess.PIPE)
    os.close(descriptor)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (0, b"")


def test_a_mistake_that_nobody_reads_keeps_its_status(nowhere):
    assert command("runs", "nowhere-at-all", "more", stdout=nowhere, stderr=nowhere).wait(timeout=120) == 2


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_result_that_a_full_disk_does_not_take_is_a_failure():
    """Whoever wrote ``asyncplay games > file`` has no list of games."""
    with FULL.open("wb") as full:
        process = command("games", stdout=full.fileno(), stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert said.decode() == "asyncplay: standard output: No space left on device\n"


def test_a_command_with_closed_streams_works(tmp_path):
    """What it opens first must not become its standard output by accident."""
    shell = f'"$0" -c "{ENTRY}" train "$@" --json-lines --games 300 --run "{tmp_path / "run"}" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", shell, sys.executable, *LOAD], timeout=120, check=False)
    assert done.returncode == 0
    for path in (tmp_path / "run").iterdir():
        if path.is_file():
            assert b"verdict" not in path.read_bytes(), f"{path.name} was taken for the output"
