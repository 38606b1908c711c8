"""Connect four for people: an action is a column, 1 to 7 from the left."""

from collections.abc import Iterable

from asyncplay.games.connect4 import COLUMN_BITS, COLUMNS, ROWS
from asyncplay.games.show import LastAction, State
from asyncplay.games.show.grids import EMPTY, Grid, GridShow
from asyncplay.games.spec import GameSpec

LETTERS = "abcdefg"


class Connect4Show(GridShow):
    """Columns may also be typed as letters, a to g; cells are a1, the lowest of the first column, to g6."""

    how = "a column, 1 to 7 from the left, or a to g"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return str(action + 1)

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        return LETTERS[action], f"column {action + 1}"

    def grid(self, spec: GameSpec, state: State, last: LastAction | None) -> Grid:
        marked, heights = None, range(ROWS - 1, -1, -1)
        if last is not None:
            column = int(last.state[0] | last.state[1]) >> (COLUMN_BITS * last.action) & ((1 << ROWS) - 1)
            marked = ROWS - 1 - column.bit_count(), last.action
        rows = [[_piece(state, column, height) for column in range(COLUMNS)] for height in heights]
        return Grid(rows, [str(height + 1) for height in heights], list(LETTERS), marked)

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        """With the numbers of the columns below them."""
        head, *lines = super().text(spec, state, viewer, last).split("\n")
        numbers = " " + "".join(f"{column + 1:^4}" for column in range(COLUMNS))
        return "\n".join([head, *lines[: ROWS + 1], numbers.rstrip(), *lines[ROWS + 1 :]])


def _piece(state: State, column: int, height: int) -> str:
    place = COLUMN_BITS * column + height
    return "X" if state[0] >> place & 1 else "O" if state[1] >> place & 1 else EMPTY


SHOW = Connect4Show()
