"""Runs with a bottleneck planted in them, each far worse than anything else on the machine could be."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from runs import PATIENT, Running, look_until, running, tuned, visit

from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Snapshot

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="who has the cores is read from Linux's /proc"),
]

IN_A_ROW = 6  # looks that must agree, each half a second after the last
SETTLE_S = 150.0
TICTACTOE = ["configs/smoke.toml", "--arena.every-s", "0", *PATIENT]
SLOW_DISK = """
import sys, time
from asyncplay import cli
from asyncplay.data.store import Store
write = Store.write
def crawl(self, games, notes):
    time.sleep(4.0)
    return write(self, games, notes)
Store.write = crawl
if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
"""


def settles_on(run: Running, bound: str) -> Snapshot:
    """Wait until the verdict has been ``bound`` for a few seconds on end; tell what it was instead."""

    async def watch(remote: Remote) -> Snapshot:
        verdicts, deadline_s = [], time.monotonic() + SETTLE_S
        while True:
            shot = await remote.look()
            verdicts.append(str(shot.verdict))
            if len(verdicts) >= IN_A_ROW and all(each.startswith(bound) for each in verdicts[-IN_A_ROW:]):
                return shot
            assert time.monotonic() < deadline_s, f"it is not {bound}: {verdicts[-20:]}"
            await asyncio.sleep(0.5)

    return visit(run, watch)


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def load(*, slots: int, think_ms: float, device_ms: float, rows_per_s: float, max_rows: int = 1024) -> list[str]:
    return [
        *("--game.name", "synthetic", "--load.slots", str(slots), "--load.think-ms", str(think_ms)),
        *("--device.sim-device-ms", str(device_ms), "--device.sim-rows-per-s", str(rows_per_s)),
        *("--batch.max-rows", str(max_rows), *PATIENT),
    ]


def test_a_slow_device_is_named(tmp_path):
    """512 slots that think .1 ms wait for a device that takes 64 rows in 50 ms."""
    words = load(slots=512, think_ms=0.1, device_ms=50, rows_per_s=1e6, max_rows=64)
    with running(tmp_path / "run", *words) as run:
        settles_on(run, "device-bound: simulated device busy")


def test_a_slow_game_is_named(tmp_path):
    """Eight slots that think for half a second each, before a device that needs next to nothing."""
    words = load(slots=8, think_ms=500, device_ms=0.1, rows_per_s=1e6)
    with running(tmp_path / "run", *words) as run:
        shot = settles_on(run, "worker-bound: device busy")
        assert shot.parts["batch"].device_share < 0.1


def test_a_tight_limiter_is_named(tmp_path):
    """Every row is to be trained on 5,000 times: a batch of games is followed by hours of training."""
    words = [*TICTACTOE, "--learn.samples-per-insert", "5000", "--learn.band-steps", "1", "--learn.minimum-rows", "64"]
    with running(tmp_path / "run", *words) as run:
        shot = settles_on(run, "limiter-bound: play waits for training")
        assert "learn.samples_per_insert" in shot.verdict.cure


def test_a_slow_disk_is_named(tmp_path):
    """Each commit takes four seconds and no more than 16 games may wait for it."""
    words = [*TICTACTOE, "--store.queue-games", "16"]
    with running(tmp_path / "run", *words, entry=SLOW_DISK) as run:
        shot = settles_on(run, "disk-bound: play waits for the disk")
        assert shot.parts["store"].commit_lag_ms > 1000


def test_four_busy_foreign_processes_are_named(tmp_path):
    """The run wants all the cores there are, and gets the leavings of twice as many who want the same."""
    words = load(slots=2048, think_ms=0.01, device_ms=0.01, rows_per_s=1e8)
    cores = len(os.sched_getaffinity(0))
    with busy_processes(max(4, 2 * cores)), running(tmp_path / "run", *words) as run:
        shot = settles_on(run, "oversubscribed: other processes take")
        assert f"of {cores} cores" in shot.verdict.figure


def test_letting_go_of_a_bad_timeout_doubles_throughput_and_the_trial_says_so(tmp_path):
    """A 50 ms timer over 256 slots that think a tenth of a millisecond: at most 5,120 rows/s."""
    words = load(slots=256, think_ms=0.1, device_ms=0.6, rows_per_s=300_000, max_rows=1 << 20)
    with running(tmp_path / "run", *words, "--batch.timeout-ms", "50") as run:
        visit(run, lambda remote: look_until(remote, lambda shot: shot.throughput.total > 0))
        trial = tuned(run.folder, "batch.timeout_ms=auto")
        assert trial["state"] == "done"
        assert trial["gain"] >= 1.0
        assert trial["gain"] - trial["doubt"] > 0.5
        assert trial["text"].startswith("timeout 50 ms -> auto: +")
        assert trial["before_per_s"] < 5_500
        assert trial["after_per_s"] == pytest.approx(trial["before_per_s"] * (1 + trial["gain"]))
        shot = visit(run, lambda remote: look_until(remote, lambda shot: shot.parts["batch"].linger != "pinned"))
        assert shot.trials == (trial["text"],)
        assert shot.parts["batch"].timeout == "auto"
