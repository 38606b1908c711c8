"""The run in a folder: whether it can go on, with which configuration and from which checkpoint."""

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
from asyncplay.rundir.layout import CHECKPOINTS, CONFIG, read_config

FIXED_SECTIONS, FIXED_KEYS, FREE_KEYS = (
    ("game", "net", "abstraction"),
    ("train.seed", "solve.table"),
    ("abstraction.file",),
)
"""What cannot change: the games, weights, tables and unit seeds of a run have no meaning under other values. A bucket
file may lie elsewhere; its SHA-256 is compared."""

Sections = Mapping[str, Mapping[str, Any]]


class Resumed(NamedTuple):
    """A run that is resumed."""

    config: Config  # with which it goes on
    snapshot: Checkpoint | None  # None if it was killed before its first checkpoint
    news: list[str]  # lines for the user: damaged checkpoints, changed keys


def require(folder: Path) -> None:
    """AsyncplayError if no run has ever been in ``folder``; nothing is written there."""
    if not folder.is_dir():
        raise AsyncplayError(f"--resume {folder}: there is no such folder; `asyncplay runs` lists what there is")
    if not (folder / CONFIG).is_file():
        raise AsyncplayError(f"--resume {folder}: there is no run: {CONFIG} is missing; `--run {folder}` begins one")


def read(folder: Path, flags: Overrides) -> Resumed:
    """Read the run in ``folder``, its configuration overridden by flags; AsyncplayError if it cannot go on."""
    found, complaints = checkpoint.newest(folder / CHECKPOINTS)
    config, known = read_config(folder, flags), {} if found is None else found.snapshot.state
    kind = "neural" if config.solve.method == "off" else "tabular"
    kind = kind if config.population.method == "off" else "population"
    if known.get("kind", kind) != kind:
        raise AsyncplayError(f"--resume {folder}: {CONFIG} is of a {kind} run, the newest checkpoint is not")
    before: Sections = known.get("config") or asdict(read_config(folder))
    if not isinstance(before, Mapping) or not all(isinstance(keys, Mapping) for keys in before.values()):
        raise AsyncplayError(f"{folder / CHECKPOINTS} is damaged: the newest checkpoint's configuration is none")
    changed = list(changes(before, asdict(config)))
    refused = [
        f"{key} is {_text(old)} in this run and cannot become {_text(new)}; a new run can have it"
        for key, old, new in changed
        if (key.partition(".")[0] in FIXED_SECTIONS and key not in FREE_KEYS) or key in FIXED_KEYS
    ]
    if refused:
        raise ConfigError("\n".join(refused))
    start = "no checkpoint" if found is None else f"checkpoint {found.number:06d}"
    news = [f"{line}; passed over" for line in complaints]
    news += [f"going on from {start}", *(f"{key}: {_text(old)} -> {_text(new)}" for key, old, new in changed)]
    return Resumed(config, None if found is None else found.snapshot, news)


def refuse_old(folder: Path) -> None:
    """AsyncplayError if a new run would begin where another one has left checkpoints or games."""
    watermark = read_watermark(folder)
    if checkpoint.numbers(folder / CHECKPOINTS) or (watermark is not None and watermark.games):
        raise AsyncplayError(
            f"--run {folder}: there is a run already; `asyncplay train --resume {folder}` goes on with it"
        )


def write_config(config: Config, folder: Path) -> None:
    """Whole or not at all: without its configuration a run cannot go on."""
    disk.replace(folder / CONFIG, dump(config).encode(), draft=folder / f"{CONFIG}.draft")


def changes(before: Sections, now: Sections) -> Iterator[tuple[str, Any, Any]]:
    """(key, old value, new value); a key that only one of the two has is no change of the run but of the program."""
    for section, keys in now.items():
        known = before.get(section, {})
        for key, new in keys.items():
            if key in known and known[key] != new:
                yield f"{section}.{key}", known[key], new


def _text(value: object) -> str:
    return "nothing" if value in ("", {}) else str(value)
