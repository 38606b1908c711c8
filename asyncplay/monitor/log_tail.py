"""The latest lines of a run's log, for its snapshots."""

import logging
import time
from collections import deque

from asyncplay.monitor.snapshot import LOG_LINES, PinnedEvent


class LogTail(logging.Handler):
    """Takes what the run logs, from any thread; the last warning or note is pinned: a person should see it first."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self.event: PinnedEvent | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().partition("\n")[0]
        self._lines.append(f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {record.levelname} {text}")
        if record.levelno >= logging.WARNING:
            self.event = PinnedEvent(record.created, text, record.levelno >= logging.ERROR)

    def note(self, text: str) -> None:
        """Pin something that is no trouble."""
        self.event = PinnedEvent(time.time(), text, False)

    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)
