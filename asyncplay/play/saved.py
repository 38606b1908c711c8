"""A game under way as a small JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.games.spec import GameSpec

FORMAT = 1
MOST_BYTES, MOST_SEED = 10_000_000, 2**62 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedGame:
    """All that makes a game again: chance follows from the seed."""

    format: int = FORMAT
    game: str
    options: Mapping[str, Any]  # those of the run's configuration; the others have their defaults
    seed: int
    seat: int  # of the person
    actions: list[int]


def write(path: Path, saved: SavedGame) -> None:
    """AsyncplayError if the file cannot be written."""
    try:
        path.write_text(json.dumps(asdict(saved)) + "\n", encoding="utf-8")
    except OSError as error:
        raise AsyncplayError(f"{path}: {error.strerror}") from None


def read(path: Path, spec: GameSpec) -> tuple[SavedGame, list[Position]]:
    """A game of these rules and all its positions; AsyncplayError says in a line what is wrong with the file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise AsyncplayError(f"{path} has more than {MOST_BYTES:,} bytes: it is no saved game")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AsyncplayError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise AsyncplayError(f"{path} is no saved game: it is not JSON") from None
    names = [field.name for field in fields(SavedGame)]
    if not isinstance(found, dict) or sorted(found) != sorted(names):
        raise AsyncplayError(f"{path} is no saved game: wanted is an object with {', '.join(names)}")
    saved = SavedGame(**found)
    _check(path, saved, spec)
    positions = [Position.start(spec, saved.seed)]
    for place, action in enumerate(saved.actions):
        if type(action) is not int or action not in positions[-1].legal:
            raise AsyncplayError(f"{path}: action {place} is {action!r}, which is not legal there")
        positions.append(positions[-1].after(action))
    return saved, positions


def _check(path: Path, saved: SavedGame, spec: GameSpec) -> None:
    """Whether it is a game of these rules."""
    if saved.format != FORMAT:
        raise AsyncplayError(f"{path}: format is {saved.format!r}, this version reads {FORMAT}")
    if saved.game != spec.name:
        raise AsyncplayError(f"{path}: game is {saved.game!r}, this run plays {spec.name}")
    if not isinstance(saved.options, dict):
        raise AsyncplayError(f"{path}: options is {saved.options!r}, must be an object")
    if not np.array_equal(games.load(spec.name, saved.options).rules, spec.rules):
        raise AsyncplayError(f"{path}: options are {dict(saved.options)}, this run plays {spec.name} with others")
    for name, value, most in (("seed", saved.seed, MOST_SEED), ("seat", saved.seat, spec.players - 1)):
        if type(value) is not int or not 0 <= value <= most:
            raise AsyncplayError(f"{path}: {name} is {value!r}, must be a whole number from 0 to {most}")
    if not isinstance(saved.actions, list):
        raise AsyncplayError(f"{path}: actions is {saved.actions!r}, must be a list")
