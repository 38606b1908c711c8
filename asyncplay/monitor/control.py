"""The control socket of a run, in its folder: through it the same user looks at the run and steers it.

A request is one line of JSON, so is its answer. ``{"verb": "look"}`` gives a snapshot, ``{"verb": "set", "argument":
"batch.timeout_ms=2"}`` and the other verbs of ``steering`` a line of text, ``{"verb": "trial", "argument": "3"}`` the
result of trial 3 as soon as there is one.
"""

import asyncio
import contextlib
import json
import logging
import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.monitor import address
from asyncplay.monitor.snapshot import Snapshot
from asyncplay.monitor.steering import Steering
from asyncplay.monitor.trial import Trial, Trials

log = logging.getLogger(__name__)

REQUEST_BYTES = 8_192  # most of one request,
UNREAD_BYTES = 4_000_000  # and of answers that the peer does not read
IDLE_S = 30.0  # from a connection or an answer to the next whole request
MOST_PEERS = 32


@dataclass(slots=True)
class Control:
    """Lifetime: ``run`` is one task of the run's group. Limit: MOST_PEERS at a time, further ones are refused; a peer
    that sends too much, no valid request, or nothing for too long is disconnected. End: all are disconnected and the
    socket is removed."""

    folder: Path
    look: Callable[[], Snapshot]
    steering: Steering
    trials: Trials
    idle_s: float = IDLE_S
    peers: "set[Peer]" = field(init=False, default_factory=set)

    async def run(self, on_listening: Callable[[], None] = lambda: None) -> None:
        """Listen until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            listener = listen(self.folder)
        except OSError as error:
            log.warning("nobody can watch or tune this run from another terminal: %s", error)
            on_listening()
            return
        path = self.folder / address.NAME
        ours = os.lstat(path)
        server = await loop.create_unix_server(lambda: Peer(self), sock=listener)
        try:
            on_listening()
            await loop.create_future()
        finally:
            server.close()
            for peer in list(self.peers):
                peer.hang_up()
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.lstat(path), ours):  # another run may be where this folder was
                    path.unlink()


class Peer(asyncio.Protocol):
    """One connection."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._heard = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=UNREAD_BYTES)
        is_ours = address.peer_uid(transport.get_extra_info("socket").fileno()) == os.geteuid()
        if not is_ours or len(self._control.peers) >= MOST_PEERS:
            self._transport.abort()
            return
        self._control.peers.add(self)
        self._restart_timer()

    def connection_lost(self, error: Exception | None) -> None:
        self._control.peers.discard(self)
        self._control.trials.forget(self._answer_trial)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while (end := self._heard.find(b"\n")) >= 0 and self in self._control.peers:
            line, self._heard = self._heard[:end], self._heard[end + 1 :]
            self._serve(line) if end <= REQUEST_BYTES else self.hang_up()
        if len(self._heard) > REQUEST_BYTES:
            self.hang_up()

    def pause_writing(self) -> None:
        """The peer sends requests and does not read the answers."""
        self.hang_up()

    def hang_up(self) -> None:
        self._control.peers.discard(self)
        if self._transport is not None:
            self._transport.abort()

    def _serve(self, line: bytes) -> None:
        """Answer a request; a line that is none ends the connection."""
        self._restart_timer()
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict) or not {"verb"} <= request.keys() <= {"verb", "argument"}:
            return self.hang_up()
        verb, argument = request["verb"], request.get("argument", "")
        if not isinstance(verb, str) or not isinstance(argument, str):
            return self.hang_up()
        try:
            if verb == "look":
                self._send(self._control.look().to_json())
            elif verb == "trial":
                self._await_trial(argument)
            else:
                outcome = self._control.steering.act(verb, argument)
                self._answer({"text": outcome.text, "trial": outcome.trial})
        except AsyncplayError as error:
            self._answer({"error": str(error)})

    def _await_trial(self, argument: str) -> None:
        """Answer when the trial has ended; until then this connection may be idle."""
        number = int(argument) if argument.isascii() and argument.isdecimal() and len(argument) < 10 else -1
        if not self._control.trials.is_known(number):
            raise ConfigError(f"there is no trial {argument!r}")
        if self._timer is not None:
            self._timer.cancel()
        self._control.trials.forget(self._answer_trial)
        self._control.trials.when_ended(number, self._answer_trial)

    def _answer_trial(self, trial: Trial) -> None:
        self._restart_timer()
        self._answer({"trial": asdict(trial)})

    def _answer(self, answer: dict[str, Any]) -> None:
        self._send(json.dumps(answer))

    def _send(self, text: str) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(text.encode() + b"\n")

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._control.idle_s, self.hang_up)


def listen(folder: Path) -> socket.socket:
    """Bind the run's socket; AsyncplayError if another run listens here.

    A socket whose process is gone is replaced. Other users may write to the folder: the socket is made in a private
    folder inside, and has its permissions before it is moved out.
    """
    if (folder / address.NAME).exists():
        if address.is_heard(folder):
            raise AsyncplayError(f"{folder}: another run goes on here")
        log.warning("the run before this one ended without a word; its socket is replaced")
        (folder / address.NAME).unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.setblocking(False)
    with tempfile.TemporaryDirectory(prefix="control-", dir=folder) as private:
        with address.short_path(Path(private)) as path:
            listener.bind(path)
            os.chmod(path, 0o600)
        os.rename(Path(private) / address.NAME, folder / address.NAME)
    return listener
