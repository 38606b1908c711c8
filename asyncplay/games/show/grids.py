"""Games on a board of square cells with one piece each."""

from typing import NamedTuple

from asyncplay.games.show import LastAction, Show, State, svg
from asyncplay.games.spec import GameSpec

CELL = 46  # pixels
EMPTY = "."


class Grid(NamedTuple):
    """A board from its top row to the bottom."""

    cells: list[list[str]]  # a piece's letter, or EMPTY
    row_labels: list[str]
    column_labels: list[str]
    marked: tuple[int, int] | None  # row and column of the last action


class GridShow(Show):
    """A game that says what its board looks like. Seats are letters: X and O."""

    letters = "XO"

    def grid(self, spec: GameSpec, state: State, last: LastAction | None) -> Grid:
        raise NotImplementedError

    def player_name(self, spec: GameSpec, state: State, player: int) -> str:
        return self.letters[player]

    def describe(self, spec: GameSpec, state: State, viewer: int | None = None) -> list[str]:
        grid, lines = self.grid(spec, state, None), [self.turn_line(spec, state)]
        for letter in self.letters:
            places = [
                f"{grid.column_labels[column]}{grid.row_labels[row]}"
                for row, cells in enumerate(grid.cells)
                for column, piece in enumerate(cells)
                if piece == letter
            ]
            lines.append(f"{letter} on {' '.join(places) or 'no cell'}")
        return lines

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        grid = self.grid(spec, state, last)
        margin = max(map(len, grid.row_labels))
        lines = [self.turn_line(spec, state), " " * margin + "".join(f"{name:^4}" for name in grid.column_labels)]
        for row, cells in enumerate(grid.cells):
            pieces = (f"[{piece}]" if grid.marked == (row, column) else piece for column, piece in enumerate(cells))
            lines.append(f"{grid.row_labels[row]:>{margin}}" + "".join(f"{piece:^4}" for piece in pieces))
        return "\n".join(line.rstrip() for line in [*lines, *self.last_line(spec, viewer, last)])

    def svg(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        grid = self.grid(spec, state, last)
        lines = [self.turn_line(spec, state), *self.last_line(spec, viewer, last)]
        left, top, middle = svg.MARGIN + 20, svg.LINE * (len(lines) + 1.5), 'font-size="13" text-anchor="middle"'
        parts = svg.written(lines)
        parts += [
            svg.label(left + (column + 0.5) * CELL, top - 6, name, middle)
            for column, name in enumerate(grid.column_labels)
        ]
        for row, cells in enumerate(grid.cells):
            y = top + row * CELL
            parts.append(svg.label(left - 12, y + CELL / 2 + 5, grid.row_labels[row], middle))
            for column, piece in enumerate(cells):
                parts += self._cell(left + column * CELL, y, piece, is_marked=grid.marked == (row, column))
        width = max(left + len(grid.column_labels) * CELL, 280) + svg.MARGIN
        return svg.document(width, top + len(grid.cells) * CELL + svg.MARGIN, parts)

    def _cell(self, x: float, y: float, piece: str, *, is_marked: bool) -> list[str]:
        rim = 'stroke="black" stroke-width="3"' if is_marked else 'stroke="#a89f86"'
        inset = 2 if is_marked else 0
        place = f'x="{x + inset:.1f}" y="{y + inset:.1f}" width="{CELL - 2 * inset}" height="{CELL - 2 * inset}"'
        parts = [f'<rect {place} fill="#f7f3e8" {rim}/>']
        if piece != EMPTY:
            colour = svg.PLAYER_COLOURS[self.letters.index(piece)]
            parts.append(f'<circle cx="{x + CELL / 2:.1f}" cy="{y + CELL / 2:.1f}" r="17" fill="{colour}"/>')
            style = 'font-size="17" text-anchor="middle" fill="white"'
            parts.append(svg.label(x + CELL / 2, y + CELL / 2 + 6, piece, style))
        return parts
