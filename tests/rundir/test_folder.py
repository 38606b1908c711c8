"""The folder of a run: what is waited out, what is given up, and where it is."""

import asyncio
import errno
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from asyncplay.data.writer import GivenUp
from asyncplay.rundir.folder import RunFolder

NEVER_S = 3600.0


class Disk:
    """Takes nothing the first so many times."""

    def __init__(self, refusals: float, why: int = errno.ENOSPC) -> None:
        self.refusals, self.why, self.tries = refusals, why, 0

    def write(self, place: Path | None = None) -> int:
        self.tries += 1
        if self.tries <= self.refusals:
            raise OSError(self.why, os.strerror(self.why))
        return self.tries


@pytest.mark.parametrize("why", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE])
async def test_what_may_pass_is_tried_again_and_said_once(tmp_path, why):
    said: list[str] = []
    folder = RunFolder(tmp_path, said.append, retry_s=0.001)
    assert await folder.persist("checkpoint", Disk(3, why).write) == 4
    assert said[0] == (
        f"nothing can be stored in {tmp_path}: {os.strerror(why)}; it is tried again until it can, "
        "and Ctrl-C twice leaves without it"
    )
    assert said[1].startswith(f"{tmp_path} can be written again after ")
    assert (len(said), folder.trouble, folder.unsaved) == (2, "", {})


async def test_what_cannot_pass_is_tried_once(tmp_path, caplog):
    folder, disk = RunFolder(tmp_path), Disk(9, errno.EACCES)
    assert await folder.persist("checkpoint", disk.write) is None
    assert (disk.tries, folder.unsaved) == (1, {"checkpoint": "Permission denied"})
    assert f"no checkpoint could be written to {tmp_path}: Permission denied" in caplog.text


async def test_two_writers_in_trouble_are_one_trouble(tmp_path):
    said: list[str] = []
    folder = RunFolder(tmp_path, said.append)
    for who, why in (("games", "full"), ("weights", "full"), ("games", ""), ("games", "")):
        folder.note_trouble(who, why)
        assert folder.trouble == "full"
    folder.note_trouble("weights", "")
    assert (folder.trouble, len(said)) == ("", 2)


async def test_giving_up_ends_the_wait_after_one_more_try(tmp_path):
    folder, disk = RunFolder(tmp_path, retry_s=NEVER_S), Disk(9)
    heeded: list[bool] = []
    folder.listeners.append(lambda: heeded.append(folder.is_given_up))
    writing = asyncio.create_task(folder.persist("weights", disk.write))
    while not folder.trouble:  # noqa: ASYNC110  # a thread tells of it
        await asyncio.sleep(0.001)
    folder.give_up()
    assert await writing is None
    assert (disk.tries, heeded) == (2, [False, True])
    assert folder.unsaved == {"weights": "No space left on device"}


async def test_a_cancelled_wait_is_tried_no_more(tmp_path):
    folder, disk = RunFolder(tmp_path, retry_s=NEVER_S), Disk(9)
    writing = asyncio.create_task(folder.persist("checkpoint", disk.write))
    while not folder.trouble:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    writing.cancel()
    await asyncio.wait([writing])
    assert (writing.cancelled(), disk.tries) == (True, 1)


async def test_a_standstill_heeds_ctrl_c_twice_and_the_loop_hears_of_both(tmp_path):
    """Ctrl-C strikes while the disk is tried: the first is waited with, the second gives up."""
    folder, disk, heard = RunFolder(tmp_path, retry_s=0.1), Disk(9), []
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: heard.append("Ctrl-C"))

    def step() -> int:
        if disk.tries in (2, 4):
            os.kill(os.getpid(), signal.SIGINT)
        return disk.write()

    with pytest.raises(GivenUp):
        folder.persist_here("games", step)
    assert (disk.tries, folder.is_given_up, heard) == (5, True, [])
    async with asyncio.timeout(10):
        while len(heard) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
    async with asyncio.timeout(10):
        while len(heard) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)


async def test_a_standstill_ends_with_what_the_step_returns(tmp_path):
    said: list[str] = []
    folder = RunFolder(tmp_path, said.append, retry_s=0.001)
    assert folder.persist_here("games", Disk(2).write) == 3
    assert (len(said), folder.trouble) == (2, "")


class Stuck:
    """A writer whose disk takes nothing until it is given up."""

    def __init__(self) -> None:
        self.left = threading.Event()

    def close(self) -> None:
        assert self.left.wait(60)


async def test_a_run_that_is_called_off_while_it_waits_for_its_end_waits_no_more(tmp_path):
    folder, writer = RunFolder(tmp_path), Stuck()
    folder.listeners.append(writer.left.set)
    closing = asyncio.create_task(folder.close(writer))
    await asyncio.sleep(0)
    assert not writer.left.is_set()
    closing.cancel()
    await asyncio.wait([closing])
    assert (closing.cancelled(), writer.left.is_set(), folder.is_given_up) == (True, True, True)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells where an open folder is")
async def test_a_folder_is_the_same_under_another_name_and_no_other_under_its_own(tmp_path):
    path, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    path.mkdir()
    folder = RunFolder(path)
    assert (folder.is_in_place, folder.now) == (True, path)
    path.rename(elsewhere)
    assert (folder.is_in_place, folder.now) == (False, elsewhere)
    path.mkdir()
    assert (folder.is_in_place, folder.now) == (False, elsewhere)
    await folder.persist("weights", lambda place: (place / "weights").write_text("here"))
    assert (list(path.iterdir()), (elsewhere / "weights").read_text()) == ([], "here")
    shutil.rmtree(elsewhere)
    assert (folder.is_in_place, folder.now) == (False, None)
    assert await folder.persist("weights", lambda place: (place / "weights").write_text("here")) is None
    assert list(path.iterdir()) == []
