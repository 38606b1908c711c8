"""The games of this installation, with their sizes."""

from typing import Any

from asyncplay import games
from asyncplay.archive.table import aligned


def catalogue() -> list[dict[str, Any]]:
    """One entry for each game, with its default options; nothing is compiled."""
    specs = [(name, games.load(name)) for name in games.NAMES]
    return [
        {
            "game": name,
            "players": spec.players,
            "actions": spec.actions,
            "features": spec.features,
            "longest": spec.max_decisions,
            "hidden": spec.is_hidden,
        }
        for name, spec in specs
    ]


def as_lines(entries: list[dict[str, Any]]) -> list[str]:
    return aligned([list(entries[0]), *(list(entry.values()) for entry in entries)])
