"""An exception that nobody awaits ends a run, with a diagnosis and everything saved."""

import asyncio
import logging
import os
import re
import shlex
import signal
import socket
import sys

import pytest
from methods.selfplay.test_neural import tiny

from asyncplay.cli import training
from asyncplay.cli.display import Showing
from asyncplay.cli.training import train
from asyncplay.data.store import open_read_only, read_kept
from asyncplay.data.watermark import read_watermark
from asyncplay.engine.loop import CALLBACK_FAILED, run_loop
from asyncplay.errors import RunFailed
from asyncplay.methods.selfplay.run import SelfplayRun


@pytest.fixture(params=["uvloop", "asyncio"])
def either_loop(request, monkeypatch):
    if request.param == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)


def fail() -> None:
    raise ZeroDivisionError("this callback has no luck")


@pytest.mark.usefixtures("either_loop")
def test_a_callback_that_raises_ends_what_would_wait_for_ever(callback_faults, caplog):
    ends: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(fail)
        try:
            await asyncio.Event().wait()
        finally:
            loop.call_soon(fail)  # a second one does not disturb the end
            await asyncio.sleep(0.01)
            ends.append("saved")

    with pytest.raises(ZeroDivisionError, match="no luck"):
        run_loop(main())
    assert ends == ["saved"]
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert caplog.text.count("Traceback") == 2
    assert len(callback_faults) == 2
    callback_faults.clear()


@pytest.mark.usefixtures("either_loop")
def test_a_protocol_that_raises_ends_it_too(callback_faults):
    class Clumsy(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            fail()

    async def main() -> None:
        reading, writing = socket.socketpair()
        reading.setblocking(False)
        await asyncio.get_running_loop().create_unix_connection(Clumsy, sock=reading)
        with writing:
            writing.send(b"x")
            await asyncio.Event().wait()

    with pytest.raises(ZeroDivisionError):
        run_loop(main())
    assert len(callback_faults) == 1
    callback_faults.clear()


@pytest.mark.usefixtures("either_loop")
def test_a_main_that_ends_all_the_same_does_not_hide_it(callback_faults):
    async def main() -> str:
        asyncio.get_running_loop().call_soon(fail)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "as if nothing had been"

    with pytest.raises(ZeroDivisionError):
        run_loop(main())
    callback_faults.clear()


@pytest.mark.usefixtures("either_loop")
@pytest.mark.parametrize(
    "context",
    [
        {"message": "socket.accept() out of system resource", "exception": OSError(24, "no descriptors")},
        {"message": "Future exception was never retrieved", "exception": ValueError("late"), "future": None},
        {"message": "something unusual"},
    ],
)
def test_what_is_no_callback_is_written_down_and_the_run_goes_on(context, caplog):
    async def main() -> str:
        asyncio.get_running_loop().call_exception_handler(context)
        await asyncio.sleep(0.01)
        return "done"

    assert run_loop(main()) == "done"
    assert context["message"] in caplog.text


def test_a_run_ends_with_one_line_and_keeps_what_is_stored(tmp_path, monkeypatch, callback_faults):
    take, taken = SelfplayRun._take, []

    def take_and_fail(self, game) -> None:
        take(self, game)
        taken.append(game.unit)
        if len(taken) == 40:
            asyncio.get_running_loop().call_soon(fail)

    monkeypatch.setattr(SelfplayRun, "_take", take_and_fail)
    with pytest.raises(
        RunFailed, match=r"the run failed: ZeroDivisionError: this callback has no luck; .*run.log"
    ) as caught:
        train(tiny(train={"units": "0"}), run_dir=tmp_path, showing=Showing(headless=True))

    assert caught.value.exit_code == 1
    log = (tmp_path / "run.log").read_text()
    assert CALLBACK_FAILED in log
    assert "in fail\n" in log  # the traceback
    reader = open_read_only(tmp_path)
    assert read_kept(reader) == read_watermark(tmp_path)
    assert read_kept(reader).games == len(taken) >= 40
    reader.close()
    assert list((tmp_path / "checkpoints").iterdir())
    callback_faults.clear()


@pytest.mark.usefixtures("either_loop")
def test_a_ctrl_c_before_there_is_a_run_ends_it_as_soon_as_there_is_one(tmp_path, monkeypatch, capsys):
    """Left to Python it would be an exception somewhere in an import or a cancellation that the start may swallow."""
    make_run, handler = training.make_run, signal.getsignal(signal.SIGINT)

    def struck(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return make_run(*arguments)

    monkeypatch.setattr(training, "make_run", struck)
    assert train(tiny(train={"units": "0"}), run_dir=tmp_path, showing=Showing(headless=True)) == 130

    said = capsys.readouterr().err
    assert "stopping as soon as the run is built" in said
    assert re.search(r"issued ([\d,]+) = done \1 \+ lost 0 ", said)
    assert list((tmp_path / "checkpoints").iterdir())
    assert signal.getsignal(signal.SIGINT) is handler


async def test_the_suite_notices_a_callback_that_raises(callback_faults):
    """On a loop with its own handler, under which the other tests run; the fixture wants the list empty."""
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)
    assert len(callback_faults) == 1
    assert "no luck" in callback_faults.pop()


def test_the_last_lines_of_a_run_are_commands_to_paste(tmp_path):
    run = tmp_path / "my run"
    (run / "weights").mkdir(parents=True)
    assert training.what_next(run) == ["next:", f"  asyncplay report '{run}'"]
    (run / "weights" / "000003.safetensors").touch()
    commands = [shlex.split(line)[1:] for line in training.what_next(run)[1:]]
    assert commands == [["eval", str(run)], ["report", str(run)], ["train", "--resume", str(run)]]
