"""The run that is meant where a command names none."""

from pathlib import Path

from asyncplay.errors import AsyncplayError
from asyncplay.rundir.layout import CONFIG, SOCKET

RUNS = Path("runs")  # where runs are put unless their command names another place


def latest_run(*, is_running: bool = False, below: Path = RUNS) -> Path:
    """The run in ``below`` that was begun or resumed last; ``is_running``: among those that listen, if any does."""
    found = {folder: (folder / CONFIG).stat().st_mtime for folder in below.glob("*") if (folder / CONFIG).is_file()}
    if not found:
        raise AsyncplayError(f"no RUN is named, and {below}/ has none here; `asyncplay train` makes one")
    listening = {folder for folder in found if (folder / SOCKET).exists()} if is_running else set[Path]()
    return max(listening or found, key=lambda folder: (found[folder], str(folder)))
