"""Keeps the events and figures of a run that stores no games."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from asyncplay.data.entries import EventEntry, MetricsEntry, Written
from asyncplay.data.mark import Mark
from asyncplay.data.store import Store
from asyncplay.data.writer import Pace, ThreadedWriter

log = logging.getLogger(__name__)


class Notebook:
    """Lifetime: an ``async with`` around the run, which opens its store. Order: as they come. Limit: while nothing can
    be written the oldest entries make room for newer ones, and the run goes on. End: what has come is written."""

    def __init__(self, folder: Path, open_it: Callable[[], Store], pace: Pace) -> None:
        self._folder, self._open_it, self._pace = folder, open_it, pace

    async def __aenter__(self) -> Self:
        self._writer = ThreadedWriter(self._open_it(), Mark(self._folder), self, self._pace)
        return self

    async def __aexit__(self, *end: object) -> None:
        await asyncio.to_thread(self._writer.close)

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        self._writer.note(EventEntry(time.time(), kind, text, json.dumps(data or {})))

    def measure(self, values: Mapping[str, float]) -> None:
        self._writer.note(MetricsEntry(time.time(), values))

    def committed(self, written: Written, seconds: float) -> None:
        """Nobody waits for it."""

    def trouble(self, why: str) -> None:
        log.warning("events and figures %s", f"cannot be stored: {why}" if why else "can be stored again")

    def failed(self, error: BaseException) -> None:
        log.error("events and figures cannot be stored any more: %s", error)
