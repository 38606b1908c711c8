"""Keeps the events and figures of a run that stores no games."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from asyncplay.data.entries import EventEntry, MetricsEntry, Written
from asyncplay.data.store import Store
from asyncplay.data.watermark import Watermark
from asyncplay.data.writer import CommitPolicy, ThreadedWriter
from asyncplay.rundir.folder import RunFolder

log = logging.getLogger(__name__)


class EventRecorder:
    """Lifetime: an ``async with`` around the run, which opens its store. Order: as they come. Limit: while nothing can
    be written the oldest entries make room for newer ones, and the run goes on. End: what has come is written, as soon
    as it can be; a run that fails waits for no disk."""

    def __init__(self, folder: RunFolder, open_it: Callable[[], Store], pace: CommitPolicy) -> None:
        self._folder, self._open_it, self._pace = folder, open_it, pace

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._writer = ThreadedWriter(self._open_it(), Watermark(self._folder.path), self, self._pace)
        self._folder.listeners.append(self._heed_folder)
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._folder.give_up()
        await self._folder.close(self._writer)
        self._folder.listeners.remove(self._heed_folder)

    def _heed_folder(self) -> None:
        if self._folder.is_given_up:
            self._writer.give_up()

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        self._writer.note(EventEntry(time.time(), kind, text, json.dumps(data or {})))

    def measure(self, values: Mapping[str, float]) -> None:
        self._writer.note(MetricsEntry(time.time(), values))

    def committed(self, written: Written, seconds: float) -> None:
        """Nobody waits for it."""

    def trouble(self, why: str) -> None:
        self._loop.call_soon_threadsafe(self._folder.note_trouble, "events and figures", why)

    def failed(self, error: BaseException) -> None:
        log.error("events and figures cannot be stored any more: %s", error)
