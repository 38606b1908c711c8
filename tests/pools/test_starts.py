"""A coordinator that dies while its workers start takes them along, and nothing is said about it."""

import subprocess
import sys
from pathlib import Path

import pytest

NURSERY = Path(__file__).parent / "nursery.py"
FEW, MANY = 4, 40

pytestmark = pytest.mark.process


@pytest.mark.parametrize("rounds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fate", ["killed", "stopped"])
def test_no_moment_of_a_start_leaves_a_worker_behind_or_a_traceback(rounds, fate):
    if fate == "stopped" and sys.platform != "linux":
        pytest.skip("only Linux kills a stopped worker whose coordinator is gone")
    command = [sys.executable, str(NURSERY), str(rounds), fate]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.stderr == ""
    n_workers, n_left = map(int, done.stdout.split())
    assert n_left == 0
    assert n_workers == 2 * (rounds + 1)
