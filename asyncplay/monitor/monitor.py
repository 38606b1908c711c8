"""The monitor of one run, put together."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from asyncplay.monitor.control import Control
from asyncplay.monitor.gauge import Gauge
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.observer import Observer, Subject
from asyncplay.monitor.snapshot import Snapshot
from asyncplay.monitor.steering import Steering
from asyncplay.monitor.trial import Trial, Trials

log = logging.getLogger(__name__)

Note = Callable[[str, str, Mapping[str, Any]], None]  # kind, text and facts of an event to be kept


class Monitor:
    """Shows a run and steers it: for its own console, for plain lines, and through its socket.

    Its services are ``observer.run`` and ``control.run``.
    """

    def __init__(
        self,
        subject: Subject,
        log_tail: LogTail,
        *,
        clock: Callable[[], float],
        stop: Callable[[], None],
        checkpoint: Callable[[], None],
        note: Note,
    ) -> None:
        """``stop`` ends the run soon, with everything saved."""
        self._settings, self._stop, self._note = subject.settings, stop, note
        gauge = Gauge()
        trials = Trials(gauge, subject.settings, self._keep)
        self.observer = Observer(subject, gauge, trials, log_tail, clock)
        self.steering = Steering(subject.settings, trials, clock=clock, checkpoint=checkpoint, stop=self.stop)
        self.control = Control(Path(subject.folder), self.observer.snapshot, self.steering, trials)

    async def look(self) -> Snapshot:
        return self.observer.snapshot()

    async def do(self, verb: str, argument: str = "") -> str:
        return await self.steering.do(verb, argument)

    def stop(self) -> None:
        """A paused run goes on first: paused it could not finish what is under way."""
        self.observer.is_stopping = True
        if self._settings.is_paused:
            self._settings.change("pause", "off")
        self._stop()

    def _keep(self, trial: Trial) -> None:
        log.info("trial: %s", trial)
        self._note("trial", str(trial), asdict(trial))
