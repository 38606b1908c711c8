"""A disk that is really full: a small file system in memory, where we may mount one."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from keeping import Rig, acknowledged, rig, until

from asyncplay.data.store import FILE, read_kept
from asyncplay.data.watermark import read_watermark
from asyncplay.engine.supervise import Member

SIZE_KB, FILLER_KB = 2048, 1024
LENGTH = 20_000  # decisions of a game: about 20 KB of record

pytestmark = pytest.mark.process


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root may mount the small file system that this fills up")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_KB}k", "tmpfs", str(tmp_path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def integrity(folder: Path) -> str:
    connection = sqlite3.connect(folder / FILE)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


async def fill_up(at: Rig, member: Member) -> int:
    """Play until the disk is full; return how many games that took, the last of which waits."""
    for unit in range(200):
        at.finish(member, unit, length=LENGTH)
        await until(lambda wanted=unit: wanted in acknowledged(member) or bool(at.recorder.stats().trouble))
        if at.recorder.stats().trouble:
            return unit + 1
    raise AssertionError("2 MB hold 4 MB")


async def test_games_wait_while_the_disk_is_full_and_are_stored_when_there_is_room(small_disk):
    filler = small_disk / "filler"
    filler.write_bytes(bytes(FILLER_KB << 10))
    async with rig(small_disk) as at:
        member = at.hire()
        n_games = await fill_up(at, member)
        n_before = len(acknowledged(member))
        assert 0 < n_before == len(at.counted) == n_games - 1
        assert at.work.holds == {"disk"}
        assert read_watermark(small_disk).games == n_before

        filler.unlink()
        await until(lambda: not at.recorder.stats().trouble)
        await at.until_counted(n_games)
        await asyncio.sleep(0)

        assert acknowledged(member) == at.counted == at.stored() == list(range(n_games))
        assert at.work.holds == set()
    assert integrity(small_disk) == "ok"


async def test_what_was_acknowledged_is_there_when_a_full_disk_is_given_up(small_disk):
    filler = small_disk / "filler"  # a reader needs a little room itself
    filler.write_bytes(bytes(FILLER_KB << 10))
    async with rig(small_disk) as at:
        member = at.hire()
        n_games = await fill_up(at, member)
        told = acknowledged(member)
        at.run_folder.give_up()
    assert list(at.run_folder.unsaved) == ["1 games"]
    filler.unlink()
    assert told == list(range(n_games - 1))
    connection = sqlite3.connect(small_disk / FILE)
    assert read_kept(connection).games >= len(told)
    connection.close()
    assert integrity(small_disk) == "ok"
