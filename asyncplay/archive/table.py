"""Values as lines of text with aligned columns."""

from collections.abc import Sequence


def aligned(lines: Sequence[Sequence[object]]) -> list[str]:
    """A text for each line; all lines have as many values as the first, which is the heading."""
    cells = [[_cell(value) for value in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
