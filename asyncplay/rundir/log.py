"""The log of a run, run.log in its folder."""

import logging
import sys
from contextlib import suppress
from pathlib import Path


class LogFile(logging.FileHandler):
    """On a full disk it loses lines, and prints no traceback for each of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logging.getLogger("asyncplay").addHandler(self)

    def close(self) -> None:
        logging.getLogger("asyncplay").removeHandler(self)
        with suppress(OSError):
            super().close()

    def obey(self, level: str) -> None:
        """Write nothing below ``level``; other handlers still get everything from INFO on."""
        self.setLevel(level.upper())
        logging.getLogger("asyncplay").setLevel(min(self.level, logging.INFO))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)
