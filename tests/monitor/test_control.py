"""The run's ear: who is heard, what is answered, and what nonsense, silence and greed cost."""

import asyncio
import contextlib
import json
import os
import random
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from samples import figures, sample, settings
from snapshots import NEURAL

from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.monitor import address
from asyncplay.monitor.control import MOST_PEERS, REQUEST_BYTES, Control
from asyncplay.monitor.gauge import TICK_S, Gauge
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.steering import Steering
from asyncplay.monitor.trial import MOST_S, Trials

LONG_S = 30.0


class Rig:
    """A control with a run behind it that the test plays itself."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.settings, self.gauge, self.stops = folder, settings(timeout_ms=2), Gauge(), 0
        self.trials = Trials(self.gauge, self.settings)
        steering = Steering(
            self.settings, self.trials, clock=lambda: self.gauge.last.at_s, checkpoint=lambda: None, stop=self._stop
        )
        self.control = Control(folder, lambda: NEURAL, steering, self.trials)
        self.go(10.0)

    def go(self, seconds: float) -> None:
        """Let the made-up run go on."""
        begin_s = 0.0 if self.gauge.is_empty else self.gauge.last.at_s
        for tick in range(1, round(seconds / TICK_S) + 1):
            at_s = begin_s + tick * TICK_S
            self.gauge.add(sample(at_s, figures(int(1000 * at_s))))
            self.trials.sampled(at_s, True)

    def _stop(self) -> None:
        self.stops += 1

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["Rig"]:
        ready = asyncio.Event()
        task = asyncio.create_task(self.control.run(ready.set))
        await asyncio.wait([task, waiting := asyncio.create_task(ready.wait())], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        try:
            if task.done():
                await task
            yield self
        finally:
            task.cancel()
            await asyncio.wait([task])


@contextlib.asynccontextmanager
async def raw(folder: Path) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    link = address.connect(folder)
    link.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=link)
    yield reader, writer
    writer.close()


async def is_hung_up_on(reader: asyncio.StreamReader) -> bool:
    """Whether the other side has closed, having said nothing more."""
    async with asyncio.timeout(LONG_S):
        with contextlib.suppress(ConnectionError):
            return await reader.read() == b""
    return True


async def is_heard_out(reader: asyncio.StreamReader) -> bool:
    """Whether the other side closes in the end, whatever it says before."""
    async with asyncio.timeout(LONG_S):
        with contextlib.suppress(ConnectionError):
            await reader.read()
    return True


async def until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        await asyncio.sleep(0.01)


async def test_a_snapshot_comes_over_the_socket_as_it_is(tmp_path):
    async with Rig(tmp_path).listening():
        remote = await Remote.open(tmp_path)
        assert await remote.look() == NEURAL
        assert await remote.look() == NEURAL
        remote.close()


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o1777])
async def test_the_socket_is_ours_alone_and_the_folder_stays_as_it_was(tmp_path, mode):
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    async with Rig(folder).listening():
        assert stat.S_IMODE(folder.stat().st_mode) == mode
        assert [path.name for path in folder.iterdir()] == ["control.sock"]
        assert stat.S_IMODE((folder / "control.sock").stat().st_mode) == 0o600
    assert not (folder / "control.sock").exists()


async def test_a_socket_that_takes_nobody_in_is_no_hang(tmp_path):
    """Whose queue of callers is full: another one would wait for ever."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as deaf, contextlib.ExitStack() as callers:
        with address.short_path(tmp_path) as path:
            deaf.bind(path)
        deaf.listen(0)
        callers.enter_context(contextlib.closing(address.connect(tmp_path)))
        with pytest.raises(AsyncplayError, match="the run lets nobody in"):
            address.connect(tmp_path)


@pytest.mark.parametrize("answer", [b"nonsense\n", b"[]\n", b'{"text": 3}\n', b"[" * 100_000 + b"\n", b"\xff\n", b""])
async def test_an_answer_that_is_none_is_told_in_one_line(tmp_path, answer):
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        writer.close()

    with address.short_path(tmp_path) as path:
        server = await asyncio.start_unix_server(speak, path)
    async with server:
        for ask in (Remote.look, lambda remote: remote.act("pause"), lambda remote: remote.trial(1)):
            remote = await Remote.open(tmp_path)
            with pytest.raises(AsyncplayError):
                await ask(remote)
            remote.close()


async def test_a_folder_with_a_name_longer_than_any_socket_may_have_is_reached(tmp_path):
    folder = tmp_path / ("deep" * 40) / ("deeper" * 30)
    folder.mkdir(parents=True)
    assert len(str(folder)) > 300
    async with Rig(folder).listening():
        remote = await Remote.open(folder)
        assert (await remote.look()).pid == NEURAL.pid
        remote.close()


async def test_settings_are_changed_and_the_trials_result_is_waited_for(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        remote = await Remote.open(tmp_path)
        outcome = await remote.act("set", "batch.timeout_ms=auto")
        assert (outcome.text, rig.settings.pinned_s) == ("timeout 2 ms -> auto", None)
        waiting = asyncio.create_task(remote.trial(outcome.trial))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        rig.go(MOST_S)
        trial = await waiting
        assert (trial.state, trial.change) == ("done", "timeout 2 ms -> auto")
        assert trial.gain == pytest.approx(0.0, abs=0.02)
        assert (await remote.trial(outcome.trial)) == trial
        assert await remote.do("undo") == "timeout auto -> 2 ms"
        assert await remote.do("stop") == "stopping; what is under way is saved"
        assert rig.stops == 1
        remote.close()


async def test_a_mistake_is_told_and_the_connection_stays(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        remote = await Remote.open(tmp_path)
        for attempt, told in [
            (remote.do("set", "batch.timeout_ms=soon"), "batch.timeout_ms is 'soon', wanted"),
            (remote.do("dance"), "'dance' is nothing one can do"),
            (remote.trial(77), "there is no trial '77'"),
        ]:
            with pytest.raises(ConfigError, match=told):
                await attempt
        assert await remote.look() == NEURAL
        assert rig.settings.pinned_s == 0.002
        remote.close()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"hello\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"{}\n",
        b'{"verb": 5}\n',
        b'{"verb": "look", "argument": 5}\n',
        b'{"verb": "look", "and": "more"}\n',
        b"[" * 5000 + b"\n",
        b"x" * (REQUEST_BYTES + 1),
        b'{"verb": "look", "argument": "' + b"x" * REQUEST_BYTES + b'"}\n',
    ],
)
async def test_nonsense_is_hung_up_on(request_bytes, tmp_path):
    async with Rig(tmp_path).listening() as rig:
        async with raw(tmp_path) as (reader, writer):
            writer.write(request_bytes)
            assert await is_hung_up_on(reader)
        assert rig.control.peers == set()


async def test_a_peer_that_says_nothing_is_hung_up_on_unless_it_waits_for_a_trial(tmp_path):
    rig = Rig(tmp_path)
    rig.control.idle_s = 0.05
    async with rig.listening():
        async with raw(tmp_path) as (silent, _):
            assert await is_hung_up_on(silent)
        async with raw(tmp_path) as (slow, writer):
            writer.write(b'{"verb":')
            assert await is_hung_up_on(slow)

        rig.control.idle_s = LONG_S
        remote = await Remote.open(tmp_path)
        outcome = await remote.act("set", "batch.timeout_ms=4")
        rig.control.idle_s = 0.05
        waiting = asyncio.create_task(remote.trial(outcome.trial))
        await asyncio.sleep(0.2)
        rig.go(MOST_S)
        assert (await waiting).state == "done"
        remote.close()


async def test_who_was_suspended_for_long_and_hung_up_on_looks_again(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        remote = await Remote.open(tmp_path)
        rig.control.idle_s = 0.05
        await remote.look()
        await until(lambda: not rig.control.peers)
        rig.control.idle_s = LONG_S
        assert await remote.look() == NEURAL
        assert await remote.do("set", "batch.timeout_ms=4") == "timeout 2 -> 4 ms"
        remote.close()


async def test_a_peer_that_asks_and_does_not_listen_is_hung_up_on(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        link = address.connect(tmp_path)
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                await loop.sock_sendall(link, b'{"verb": "look"}\n' * 10)
                if not rig.control.peers:
                    break
                await asyncio.sleep(0)
        assert rig.control.peers == set()
        link.close()


async def test_one_peer_too_many_is_turned_away_and_the_others_stay(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        remotes = [await Remote.open(tmp_path) for _ in range(MOST_PEERS)]
        for remote in remotes:
            assert (await remote.look()).pid == NEURAL.pid
        assert len(rig.control.peers) == MOST_PEERS
        async with raw(tmp_path) as (reader, _):
            assert await is_hung_up_on(reader)
        assert (await remotes[0].look()).pid == NEURAL.pid
        for remote in remotes:
            remote.close()


async def test_who_leaves_in_the_middle_of_a_trial_is_forgotten(tmp_path):
    async with Rig(tmp_path).listening() as rig:
        async with raw(tmp_path) as (reader, writer):
            writer.write(b'{"verb": "set", "argument": "batch.timeout_ms=4"}\n{"verb": "trial", "argument": "1"}\n')
            await reader.readline()
        await until(lambda: not rig.control.peers)
        rig.go(MOST_S)
        assert rig.trials.all()[0].state == "done"


def nonsense(source: random.Random) -> bytes:
    """Bytes, JSON of all shapes, and requests that are nearly right; never one that is."""
    kind = source.randrange(5)
    if kind == 0:
        return source.randbytes(source.randrange(200)) + b"\n"
    if kind == 1:
        return (
            json.dumps(source.choice([None, 1e308, [], {}, "x", {"verb": []}, [[[]]], {"argument": "stop"}])).encode()
            + b"\n"
        )
    if kind == 2:
        request = bytearray(b'{"verb": "trial", "argument": "99999999999999999999"}\n')
        request[source.randrange(2, len(request) - 2)] = source.randrange(256)
        return bytes(request)
    if kind == 3:
        argument = "".join(chr(source.randrange(1, 0x2FFF)) for _ in range(source.randrange(50)))
        return (
            json.dumps({"verb": source.choice(["set", "trial", "look at", "stop it"]), "argument": argument}).encode()
            + b"\n"
        )
    return b'{"verb": "set", "argument": "' + source.randbytes(3).hex().encode() * source.randrange(2000)


async def test_ten_thousand_random_messages_change_nothing(tmp_path):
    source = random.Random(11)
    async with Rig(tmp_path).listening() as rig:
        for _ in range(500):
            async with raw(tmp_path) as (reader, writer):
                for _ in range(20):
                    writer.write(nonsense(source))
                writer.write_eof()
                assert await is_heard_out(reader)
        remote = await Remote.open(tmp_path)
        assert await remote.look() == NEURAL
        remote.close()
        assert (rig.settings.pinned_s, rig.settings.max_rows, rig.settings.workers) == (0.002, 1024, 2)
        assert (rig.stops, rig.settings.is_paused, rig.trials.all()) == (0, False, [])


async def test_a_socket_that_nobody_listens_at_is_recognised_on_both_sides(tmp_path):
    dead = socket.socket(socket.AF_UNIX)
    with address.short_path(tmp_path) as path:
        dead.bind(path)
    dead.close()
    with pytest.raises(AsyncplayError, match="the run has ended without a word: nobody listens"):
        await Remote.open(tmp_path)
    async with Rig(tmp_path).listening():
        remote = await Remote.open(tmp_path)
        assert await remote.look() == NEURAL
        remote.close()


async def test_a_folder_in_which_another_run_listens_is_left_alone(tmp_path):
    async with Rig(tmp_path).listening():
        with pytest.raises(AsyncplayError, match="another run goes on here"):
            async with Rig(tmp_path).listening():
                pass
        remote = await Remote.open(tmp_path)
        assert await remote.look() == NEURAL
        remote.close()


async def test_where_no_run_is_one_is_told_so(tmp_path):
    with pytest.raises(AsyncplayError, match="nowhere: no such run folder"):
        await Remote.open(tmp_path / "nowhere")
    with pytest.raises(AsyncplayError, match=r"no run goes on here: it has no control\.sock"):
        await Remote.open(tmp_path)


async def test_a_run_that_ends_is_told_apart_from_a_mistake(tmp_path):
    async with Rig(tmp_path).listening():
        remote = await Remote.open(tmp_path)
        await remote.look()
    with pytest.raises(AsyncplayError, match="the run has hung up"):
        await remote.look()
    remote.close()


STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
link = socket.socket(socket.AF_UNIX)
try:
    link.connect(sys.argv[1])
    link.sendall(b'{"verb": "stop"}\\n')
    print("heard", link.recv(100))
except OSError as error:
    print(type(error).__name__)
"""


async def visit_as_stranger(path: Path) -> str:
    """What another user gets to hear at the socket."""
    command = [sys.executable, "-I", "-S", "-c", textwrap.dedent(STRANGER), str(path)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_another_user_is_kept_out_by_the_folder_by_the_socket_and_by_name():
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        folder = Path(place) / "run"
        folder.mkdir()
        async with Rig(folder).listening() as rig:
            door = folder / "control.sock"
            assert await visit_as_stranger(door) == "PermissionError"
            folder.chmod(0o755)
            assert await visit_as_stranger(door) == "PermissionError"
            door.chmod(0o666)
            assert await visit_as_stranger(door) in ("heard b''", "ConnectionResetError", "BrokenPipeError")
            assert rig.stops == 0
