"""Tic-tac-toe for people: cells are a1 to c3, letters for columns and numbers for rows from the top."""

from collections.abc import Iterable

from asyncplay.games.show import LastAction, State
from asyncplay.games.show.grids import EMPTY, Grid, GridShow
from asyncplay.games.spec import GameSpec
from asyncplay.games.tictactoe import SIDE

COLUMNS = "abc"


class TicTacToeShow(GridShow):
    """Cells may also be typed as 1 to 9, row by row."""

    how = "a cell such as b2, column and row from the top, or 1 to 9 row by row"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return f"{COLUMNS[action % SIDE]}{action // SIDE + 1}"

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        return str(action + 1), f"{action // SIDE + 1}{COLUMNS[action % SIDE]}"

    def grid(self, spec: GameSpec, state: State, last: LastAction | None) -> Grid:
        pieces = ["X" if state[0] >> cell & 1 else "O" if state[1] >> cell & 1 else EMPTY for cell in range(SIDE**2)]
        rows = [pieces[first : first + SIDE] for first in range(0, SIDE**2, SIDE)]
        return Grid(rows, ["1", "2", "3"], list(COLUMNS), divmod(last.action, SIDE) if last else None)


SHOW = TicTacToeShow()
