"""Kernels are compiled once and found by every process after that."""

import subprocess
import sys

import pytest

COUNT = """
from asyncplay import games
from asyncplay.search import cache, entries
spec = games.load("tictactoe")
seen = []
entries.warm(spec, lambda done, total, name: seen.append((done, total)))
assert len(seen) == 19 and seen == sorted(seen) and seen[0] == (0, 185) and seen[-1] == (185, 185), seen
kernels = [*spec.kernels.all(), *entries.load(spec).kernels(), *cache.KERNELS]
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels), len(kernels))
"""


@pytest.mark.process
def test_a_fresh_process_finds_all_kernels_on_the_disk():
    """The first process fills the cache if need be; the second compiles nothing."""
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)

    assert run.stdout.split() == ["18", "18"]


@pytest.mark.process
def test_the_cache_lies_where_the_user_wants_it(tmp_path):
    code = "from asyncplay.games import kernel_cache; print(kernel_cache.cache_folder())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"XDG_CACHE_HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.startswith(f"{tmp_path}/asyncplay/kernels-")
