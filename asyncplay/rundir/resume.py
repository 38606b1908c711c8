"""What a run folder says about the run that was there, and whether it can go on with another configuration."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from asyncplay.config.loading import Overrides, dump
from asyncplay.config.sections import Config
from asyncplay.data import checkpoint
from asyncplay.data import files as disk
from asyncplay.data.checkpoint import Checkpoint
from asyncplay.data.watermark import read_watermark
from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.rundir.layout import CONFIG, read_config

CHECKPOINTS = "checkpoints"
FIXED_SECTIONS, FIXED_KEYS = ("game", "net"), ("train.seed",)
"""What a run is: its games, its weights and the seeds of its units make no sense under another."""

Sections = Mapping[str, Mapping[str, Any]]


class Resumed(NamedTuple):
    """A run that goes on."""

    config: Config  # of what comes now
    snapshot: Checkpoint | None  # None if it was killed before its first checkpoint
    news: list[str]  # what people should know: damaged checkpoints, changed keys


def require(folder: Path) -> None:
    """AsyncplayError if no run has ever been in ``folder``; nothing is written there."""
    if not folder.is_dir():
        raise AsyncplayError(f"--resume {folder}: there is no such folder; `asyncplay runs` lists what there is")
    if not (folder / CONFIG).is_file():
        raise AsyncplayError(f"--resume {folder}: there is no run: {CONFIG} is missing; `--run {folder}` begins one")


def read(folder: Path, flags: Overrides) -> Resumed:
    """Look at the run in ``folder``, with flags laid over its configuration; AsyncplayError if it cannot go on."""
    found, complaints = checkpoint.newest(folder / CHECKPOINTS)
    config, known = read_config(folder, flags), {} if found is None else found.snapshot.state
    kind = "neural" if config.solve.method == "off" else "tabular"
    if known.get("kind", kind) != kind:
        raise AsyncplayError(f"--resume {folder}: {CONFIG} is of a {kind} run, the newest checkpoint is not")
    before: Sections = known.get("config") or asdict(read_config(folder))
    if not isinstance(before, Mapping) or not all(isinstance(keys, Mapping) for keys in before.values()):
        raise AsyncplayError(f"{folder / CHECKPOINTS} is damaged: the newest checkpoint's configuration is none")
    refuse(before, asdict(config))
    start = "no checkpoint" if found is None else f"checkpoint {found.number:06d}"
    news = [f"{line}; passed over" for line in complaints]
    news += [f"going on from {start}", *differences(before, asdict(config))]
    return Resumed(config, None if found is None else found.snapshot, news)


def refuse_old(folder: Path) -> None:
    """AsyncplayError if a new run would begin where another one has left something."""
    mark = read_watermark(folder)
    if checkpoint.numbers(folder / CHECKPOINTS) or (mark is not None and mark.games):
        raise AsyncplayError(
            f"--run {folder}: there is a run already; `asyncplay train --resume {folder}` goes on with it"
        )


def write_config(config: Config, folder: Path) -> None:
    """Whole or not at all: without its configuration a run cannot go on."""
    draft = folder / f"{CONFIG}.draft"
    disk.write(draft, dump(config).encode())
    draft.rename(folder / CONFIG)


def differences(before: Sections, now: Sections) -> list[str]:
    """A line for each key that has another value."""
    return [f"{key}: {_told(old)} -> {_told(new)}" for key, old, new in _changes(before, now)]


def refuse(before: Sections, now: Sections) -> None:
    """ConfigError with a line for each changed key that cannot change."""
    lines = [
        f"{key} is {_told(old)} in this run and cannot become {_told(new)}; a new run can have it"
        for key, old, new in _changes(before, now)
        if key.partition(".")[0] in FIXED_SECTIONS or key in FIXED_KEYS
    ]
    if lines:
        raise ConfigError("\n".join(lines))


def _changes(before: Sections, now: Sections) -> Iterator[tuple[str, Any, Any]]:
    """Keys that only one of the two knows came or went with the program and are no change of the run."""
    for section, keys in now.items():
        known = before.get(section, {})
        for key, new in keys.items():
            if key in known and known[key] != new:
                yield f"{section}.{key}", known[key], new


def _told(value: object) -> str:
    return "nothing" if value in ("", {}) else str(value)
