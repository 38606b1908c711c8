"""The result of a bench or a match, for people or for programs."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def show(result: Mapping[str, Any], *, as_json: bool) -> int:
    """Write a result to standard output: one JSON object, or its rows as a table."""
    if as_json:
        text = json.dumps(result)
    else:
        rows = result.get("rows")
        text = table(rows) if isinstance(rows, list) else table([result])
    sys.stdout.write(text + "\n")
    return 0


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Columns as wide as their longest cell."""
    heads = list(rows[0])
    cells = [heads, *([_cell(row[head]) for head in heads] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return (" to " if len(value) == 2 else " ").join(map(_cell, value))  # an interval, or a figure for each seat
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 0.1 else f"{value:,.3f}"
