"""A run in another process, looked at and steered through its socket."""

import asyncio
import json
from pathlib import Path
from typing import Any

from asyncplay.errors import AsyncplayError, ConfigError, WireError
from asyncplay.monitor import address
from asyncplay.monitor.snapshot import Snapshot
from asyncplay.monitor.steering import Outcome
from asyncplay.monitor.trial import Trial

ANSWER_BYTES = 4_000_000
ANSWER_S = 10.0


class Remote:
    """One run, seen and steered as by ``Monitor``; one request after another.

    AsyncplayError when the run is gone. ``close`` at the end; the run goes on.
    """

    def __init__(self, folder: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._folder, self._reader, self._writer = folder, reader, writer
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, folder: Path) -> "Remote":
        return cls(folder, *await _connect(folder))

    async def look(self) -> Snapshot:
        """A viewer that was suspended for long was disconnected meanwhile: it connects again, once."""
        return Snapshot.from_json(await self._ask("look", "", ANSWER_S, reconnects=True))

    async def do(self, verb: str, argument: str = "") -> str:
        return (await self.act(verb, argument)).text

    async def act(self, verb: str, argument: str = "") -> Outcome:
        answer = self._read(await self._ask(verb, argument, ANSWER_S))
        text, number = answer.get("text"), answer.get("trial")
        if not isinstance(text, str) or not isinstance(number, int | None):
            raise WireError(f"{self._folder}: an answer that is none")
        return Outcome(text, number)

    async def trial(self, number: int) -> Trial:
        """Wait for its result, however long that takes."""
        answer = self._read(await self._ask("trial", str(number), None))
        try:
            return Trial.read(answer["trial"])
        except (ValueError, TypeError, KeyError):
            raise WireError(f"{self._folder}: an answer that is none") from None

    def close(self) -> None:
        self._writer.close()

    async def _ask(self, verb: str, argument: str, timeout_s: float | None, *, reconnects: bool = False) -> bytes:
        """``reconnects``: for requests that may be sent twice."""
        request = json.dumps({"verb": verb, "argument": argument}).encode() + b"\n"
        async with self._turn:
            try:
                return await self._exchange(request, timeout_s)
            except AsyncplayError as silence:
                if not reconnects:
                    raise
                self._writer.close()
                try:
                    self._reader, self._writer = await _connect(self._folder)
                except AsyncplayError:
                    raise silence from None
                return await self._exchange(request, timeout_s)

    async def _exchange(self, request: bytes, timeout_s: float | None) -> bytes:
        try:
            async with asyncio.timeout(timeout_s):
                self._writer.write(request)
                answer = await self._reader.readline()
        except TimeoutError:
            raise AsyncplayError(f"{self._folder}: the run has not answered for {ANSWER_S:g} s") from None
        except (ConnectionError, ValueError):
            answer = b""
        if not answer.endswith(b"\n"):
            raise AsyncplayError(f"{self._folder}: the run has hung up")
        return answer

    def _read(self, answer: bytes) -> dict[str, Any]:
        try:
            facts = json.loads(answer)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise WireError(f"{self._folder}: an answer that is none")
        if "error" in facts:
            raise ConfigError(str(facts["error"]))
        return facts


async def _connect(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    link = address.connect(folder)
    return await asyncio.open_unix_connection(sock=link, limit=ANSWER_BYTES)
