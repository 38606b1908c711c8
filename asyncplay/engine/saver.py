"""Saves a run while it goes on: by time, by steps, when asked, and at its end."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from asyncplay.config.sections import CheckpointSettings
from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.rundir.folder import RunFolder
from asyncplay.rundir.layout import CHECKPOINTS

log = logging.getLogger(__name__)

FIRST_S = 30.0  # to the first checkpoint, if they are made by time: a run killed in its first minutes keeps something


class Saver:
    """Writes checkpoints off the loop.

    Lifetime: ``run`` is one task of the run's group; ``save`` may be called after its end. Order: one at a time, each
    captured on the loop and written in a thread. Limit: what is asked for while one is being written shares the next.
    End: cancelled, it lets the one being written be finished. A full disk is waited for; what else is in the way costs
    the checkpoint, not the run.
    """

    def __init__(
        self,
        folder: RunFolder,
        capture: Callable[[], Awaitable[Checkpoint]],
        settings: CheckpointSettings,
        *,
        saved_step: int = 0,
    ) -> None:
        """``saved_step``: training steps that the run begins with."""
        self._folder, self._capture, self._settings = folder, capture, settings
        self._asked = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._saved_step = saved_step
        self.last: int | None = None  # number of the last one written

    def request(self) -> None:
        """Save soon."""
        self._asked.set()

    def stepped(self, step: int) -> None:
        """Say how many training steps were made."""
        if self._settings.every_steps and step - self._saved_step >= self._settings.every_steps:
            self._saved_step = step
            self.request()

    async def run(self) -> None:
        wait_s = min(self._settings.every_s, FIRST_S)
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s or None):
                    await self._asked.wait()
            await self.save()
            wait_s = self._settings.every_s

    async def save(self) -> None:
        """Save now and return when it is on disk, or the log says why not."""
        async with self._one_at_a_time:
            self._asked.clear()
            await self.write(await self._capture())

    async def write(self, snapshot: Checkpoint) -> None:
        """Write what was captured; once begun it is finished even if the caller is cancelled."""
        number = await self._folder.persist(
            "checkpoint", lambda place: checkpoint.save(place / CHECKPOINTS, snapshot, self._settings)
        )
        if number is not None:
            self.last = number
            log.info("checkpoint %06d", number)
