"""The runs below a folder, and the state of each."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from asyncplay.archive.table import aligned
from asyncplay.data import lock
from asyncplay.data.reader import last_event, last_version, reading
from asyncplay.data.store import FILE, read_kept
from asyncplay.data.watermark import loss, read_watermark
from asyncplay.errors import AsyncplayError
from asyncplay.rundir.layout import CONFIG, LOG, read_config

State = Literal["running", "stopped", "killed", "damaged", "empty"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One run. ``empty``: it has stored nothing, because it is of a kind that does not or ended too early."""

    run: str
    state: State
    game: str
    games: int | None
    version: int | None  # the last that was published
    age_s: float  # since a file of the run was last written
    note: str = ""  # what is wrong


def list_runs(folder: Path, now_s: float) -> list[Listed]:
    """Newest first; a folder is a run's if it has a config.toml."""
    if not folder.is_dir():
        raise AsyncplayError(f"{folder}: no such folder; runs lie in runs/ unless --run named another place")
    found = [look(path, now_s) for path in folder.iterdir() if os.path.lexists(path / CONFIG)]
    return sorted(found, key=lambda run: (run.age_s, run.run))


def look(run: Path, now_s: float) -> Listed:
    """The state of one run; whatever is wrong with it is a state, not an error."""
    files = (run / name for name in (CONFIG, LOG, FILE, f"{FILE}-wal"))
    age_s = max(now_s - max((path.stat().st_mtime for path in files if path.exists()), default=0.0), 0.0)
    is_running = lock.holder(run) is not None
    try:
        game = read_config(run).game.name
    except AsyncplayError as error:
        return Listed(str(run), "damaged", "unknown", None, None, age_s, str(error).partition("\n")[0])
    if not (run / FILE).exists():
        return Listed(str(run), "running" if is_running else "empty", game, None, None, age_s)
    watermark = read_watermark(run)  # before the store, which a run may write meanwhile
    try:
        with reading(run) as connection:
            kept, version, event = read_kept(connection), last_version(connection), last_event(connection)
    except AsyncplayError as error:
        return Listed(str(run), "damaged", game, None, None, age_s, str(error))
    note = loss(kept, watermark) or ""
    state: State = "running" if is_running else "damaged" if note else "stopped" if event == "stop" else "killed"
    return Listed(str(run), state, game, kept.games, version, age_s, "" if is_running else note)


def as_age(seconds: float) -> str:
    """In the largest unit that leaves a whole number."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def as_lines(runs: list[Listed]) -> list[str]:
    """A table, and a line for each run that has a note."""
    if not runs:
        return ["no runs here"]
    heads = ("run", "state", "game", "games", "version", "age")
    table = aligned([heads, *((*(getattr(run, head) for head in heads[:-1]), as_age(run.age_s)) for run in runs)])
    return table + [f"{run.run}: {run.note}" for run in runs if run.note]
