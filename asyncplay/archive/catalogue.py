"""The games that are here, with their sizes."""

from typing import Any

from asyncplay import games


def catalogue() -> list[dict[str, Any]]:
    """One entry a game, with its options as they are by default; nothing is compiled."""
    return [_entry(name) for name in games.NAMES]


def as_lines(entries: list[dict[str, Any]]) -> list[str]:
    heads = list(entries[0])
    rows = [heads, *([_cell(entry[head]) for head in heads] for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _entry(name: str) -> dict[str, Any]:
    spec = games.load(name)
    return {
        "game": name,
        "players": spec.players,
        "actions": spec.actions,
        "features": spec.features,
        "longest": spec.max_decisions,
        "hidden": spec.is_hidden,
    }


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
