"""When checkpoints are written, and what becomes of them when the disk or the run ends."""

import asyncio
import contextlib

import pytest

from asyncplay.config.sections import CheckpointSettings
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.engine import saver as module
from asyncplay.engine.saver import Saver
from asyncplay.rundir.folder import RunFolder


class Source:
    """A run whose state is a number that counts the captures."""

    def __init__(self) -> None:
        self.captures = 0
        self.seen = asyncio.Event()

    async def capture(self) -> Checkpoint:
        self.captures += 1
        self.seen.set()
        return Checkpoint({}, {"capture": self.captures})


@contextlib.asynccontextmanager
async def running(saver: Saver):
    task = asyncio.create_task(saver.run())
    yield task
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def until(source: Source, captures: int) -> None:
    async with asyncio.timeout(60):
        while source.captures < captures:
            source.seen.clear()
            await source.seen.wait()


async def written(saver: Saver, number: int) -> None:
    """Until this one is on disk, and as long after that as it takes to begin another."""
    async with asyncio.timeout(60):
        while saver.last != number:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_nothing_is_saved_unless_something_asks_for_it(tmp_path):
    source = Source()
    async with running(Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=0))):
        await asyncio.sleep(0)
    assert source.captures == 0
    assert checkpoint.newest(tmp_path / "checkpoints") == (None, [])


async def test_the_first_checkpoint_does_not_wait_for_the_interval(tmp_path, monkeypatch):
    """A run killed in its first five minutes has something to go on from."""
    monkeypatch.setattr(module, "FIRST_S", 0.01)
    source = Source()
    saver = Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=300))
    async with running(saver):
        await written(saver, 1)
    assert source.captures == 1


async def test_a_request_saves_once(tmp_path):
    source = Source()
    saver = Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=0))
    async with running(saver):
        saver.request()
        saver.request()
        await written(saver, 1)
    assert source.captures == 1
    found, _ = checkpoint.newest(tmp_path / "checkpoints")
    assert found is not None
    assert found.number == 1
    assert found.snapshot.state == {"capture": 1}


async def test_save_returns_when_it_is_on_disk(tmp_path):
    saver = Saver(RunFolder(tmp_path), Source().capture, CheckpointSettings())
    for number in (1, 2):
        await saver.save()
        assert checkpoint.numbers(tmp_path / "checkpoints")[-1] == saver.last == number


async def test_time_alone_saves_again_and_again(tmp_path):
    source = Source()
    async with running(Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=0.01, keep_last=2))):
        await until(source, 4)
    assert len(checkpoint.numbers(tmp_path / "checkpoints")) == 2


async def test_every_tenth_step_asks_for_one(tmp_path):
    source = Source()
    saver = Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=0, every_steps=10), saved_step=95)
    async with running(saver):
        saver.stepped(104)
        await asyncio.sleep(0)
        assert source.captures == 0
        saver.stepped(105)
        await written(saver, 1)
        saver.stepped(114)
        for _ in range(5):
            await asyncio.sleep(0)
        assert source.captures == 1
        saver.stepped(115)
        await written(saver, 2)
        assert source.captures == 2


async def test_one_that_is_being_written_is_finished_when_the_run_ends(tmp_path):
    """However often it is cancelled in the middle, what was begun is whole."""
    for turn in range(1, 6):
        source = Source()
        saver = Saver(RunFolder(tmp_path), source.capture, CheckpointSettings(every_s=0))
        async with running(saver):
            saver.request()
            await until(source, 1)
        assert checkpoint.numbers(tmp_path / "checkpoints")[-1] == turn
        assert not (tmp_path / "checkpoints" / "draft").exists()


async def test_a_disk_that_takes_nothing_costs_the_checkpoint_and_not_the_run(tmp_path, caplog):
    (tmp_path / "checkpoints").write_text("a file where the folder should be")
    saver = Saver(RunFolder(tmp_path), Source().capture, CheckpointSettings())
    await saver.save()
    assert saver.last is None
    assert "no checkpoint could be written to" in caplog.text
    assert "File exists" in caplog.text


async def test_an_error_of_the_capture_is_not_hidden(tmp_path):
    async def broken() -> Checkpoint:
        raise ValueError("no state")

    with pytest.raises(ValueError, match="no state"):
        await Saver(RunFolder(tmp_path), broken, CheckpointSettings()).save()
