"""A run whose folder is renamed or deleted under it says so and ends; its games and checkpoints stay together."""

import shutil
import time
from pathlib import Path

import pytest
from test_full_disk import ARENA, Run

from asyncplay.data import checkpoint
from asyncplay.data.reader import integrity, reading
from asyncplay.data.store import read_kept
from asyncplay.rundir.layout import CHECKPOINTS

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(300)]
SETTINGS = ARENA | {"checkpoint.every-s": 0.1}


@pytest.fixture
def run(tmp_path):
    if not Path("/proc/self/fd").exists():
        pytest.skip("only where a folder can be found again by what is open")
    run = Run(tmp_path, SETTINGS)
    run.until(lambda: run.games() > 50 and run.checkpoints())
    yield run
    run.process.kill()
    run.end()


def test_a_renamed_folder_gets_everything_and_a_new_one_of_its_name_nothing(run):
    before, elsewhere = run.games(), run.folder.with_name("elsewhere")
    numbers = run.checkpoints()
    run.folder.rename(elsewhere)
    run.folder.mkdir()

    assert run.end() == 2

    assert list(run.folder.iterdir()) == []
    assert f"{run.folder} was renamed to {elsewhere}: the run ends and saves everything there\n" in run.said
    last = run.said.splitlines()[-1]
    assert last == (
        f"asyncplay: {run.folder} was renamed to {elsewhere} while the run went on, which has ended with everything "
        f"saved; `asyncplay train --resume {elsewhere}` goes on"
    )
    assert "Traceback" not in run.said
    found, complaints = checkpoint.newest(elsewhere / CHECKPOINTS)
    assert complaints == []
    assert found.number > max(numbers)
    with reading(elsewhere) as connection:
        assert integrity(connection) == []
        kept = read_kept(connection)
    assert found.snapshot.state["store"]["games"] == kept.games >= before
    assert list((elsewhere / "weights").glob("0*"))
    assert not (elsewhere / "control.sock").exists()


def test_a_deleted_folder_ends_the_run_and_is_not_made_again(run):
    deadline_s = time.monotonic() + 60
    while run.folder.exists():
        shutil.rmtree(run.folder, ignore_errors=True)  # again if a checkpoint came in between
        assert time.monotonic() < deadline_s

    assert run.end() == 2

    assert not run.folder.exists()
    assert f"{run.folder} was deleted: the run ends\n" in run.said
    assert run.said.splitlines()[-1] == (
        f"asyncplay: {run.folder} was deleted while the run went on; what it had stored is gone"
    )
    assert "Traceback" not in run.said
