"""The four boards of RingRift as tables: cells, directions, rays and symmetries. Plain Python, run once a game.

A cell's number is its place in the bounding box: row * width + column, the order of the rules (by y, then by x). Cells
of the box outside a hexagon have no rays, and every symmetry leaves them where they are.
"""

from functools import cache
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_DIRECTIONS, MOST_SYMMETRIES = 8, 12
SQUARE_AXES = ((1, 0), (0, 1), (1, 1), (1, -1))
HEXAGON_AXES = ((1, 0), (1, -1), (0, -1))  # x and y of the cube directions

Cell = tuple[int, ...]
"""(x, y) on squares, (x, y, z) with the sum 0 on hexagons, as the rules name cells."""


class BoardGeometry(NamedTuple):
    """Geometry, and the constants that the rules give by board."""

    name: str
    width: int  # of the box, which is square
    is_hexagonal: bool
    rings: int  # of each player
    short_line: bool  # with 3 and 4 players a line is 3 long, not 4
    limits: tuple[int, int, int]  # most decisions with 2, 3 and 4 players

    @property
    def radius(self) -> int:
        """Of a hexagon; on squares 0, so that coordinates begin at 0."""
        return self.width // 2 if self.is_hexagonal else 0

    @property
    def axes(self) -> tuple[tuple[int, int], ...]:
        """Steps along x and y; the directions are these, then their opposites in the same order."""
        return HEXAGON_AXES if self.is_hexagonal else SQUARE_AXES

    @property
    def directions(self) -> list[tuple[int, int]]:
        """All steps."""
        return [*self.axes, *((-x, -y) for x, y in self.axes)]

    @property
    def n_cells(self) -> int:
        """Of the box."""
        return self.width**2

    def cells(self) -> dict[int, Cell]:
        """Number to name of the cells on the board, in order."""
        numbers = range(self.n_cells)
        return {number: cell for number in numbers if self.contains(cell := self.cell(number))}

    def cell(self, number: int) -> Cell:
        """The name of a cell of the box."""
        x, y = number % self.width - self.radius, number // self.width - self.radius
        return (x, y, -x - y) if self.is_hexagonal else (x, y)

    def number(self, cell: Cell) -> int:
        """The place of a cell in the box."""
        return (cell[1] + self.radius) * self.width + cell[0] + self.radius

    def contains(self, cell: Cell) -> bool:
        """Whether it is on the board."""
        if self.is_hexagonal:
            return max(map(abs, cell)) <= self.radius
        return all(0 <= part < self.width for part in cell)

    def measure_rays(self) -> NDArray[np.int64]:
        """int64[C, 8], the steps from each cell of the box to the edge of the board."""
        lengths = np.zeros((self.n_cells, MOST_DIRECTIONS), np.int64)
        for number, cell in self.cells().items():
            for direction, (x, y) in enumerate(self.directions):
                distance = 1
                while self.contains(moved(cell, x, y, distance)):
                    distance += 1
                lengths[number, direction] = distance - 1
        return lengths

    def turned_cells(self) -> NDArray[np.int64]:
        """int64[Y, C], where each cell of the box goes; the first symmetry is the identity."""
        return np.array([self._goes(turn) for turn in self._turns()])

    def turned_directions(self) -> NDArray[np.int64]:
        """int64[Y, 8], what each direction becomes."""
        steps, table = self.directions, np.zeros((len(self._turns()), MOST_DIRECTIONS), np.int64)
        for y, turn in enumerate(self._turns()):
            table[y, : len(steps)] = [steps.index(self._turned(turn, step)) for step in steps]
        return table

    def _turns(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Each symmetry as an order of the coordinates and their signs."""
        if self.is_hexagonal:
            return [(order, (sign,) * 3) for sign in (1, -1) for order in permutations(range(3))]
        return [(order, signs) for order in permutations(range(2)) for signs in product((1, -1), repeat=2)]

    def _turned(self, turn: tuple[tuple[int, ...], tuple[int, ...]], step: tuple[int, int]) -> tuple[int, int]:
        """A step, or a cell seen from the middle, turned."""
        order, signs = turn
        parts = (*step, -step[0] - step[1])
        return signs[0] * parts[order[0]], signs[1] * parts[order[1]]

    def _goes(self, turn: tuple[tuple[int, ...], tuple[int, ...]]) -> list[int]:
        goes, middle = list(range(self.n_cells)), 0 if self.is_hexagonal else self.width - 1
        for number, (x, y, *_) in self.cells().items():
            turned = self._turned(turn, (2 * x - middle, 2 * y - middle))  # doubled: a middle may lie between cells
            goes[number] = self.number(((turned[0] + middle) // 2, (turned[1] + middle) // 2))
        return goes


def moved(cell: Cell, x: int, y: int, distance: int) -> Cell:
    """The cell so many steps away."""
    steps = (x, y, -x - y)
    return tuple(part + distance * step for part, step in zip(cell, steps, strict=False))


class Tables(NamedTuple):
    """What kernels look up of a board."""

    rays: NDArray[np.int64]  # int64[C, 8]
    turned_cells: NDArray[np.int64]  # int64[Y, C]
    turned_directions: NDArray[np.int64]  # int64[Y, 8]


@cache
def tables_of(board: BoardGeometry) -> Tables:
    """The tables of a board, made once."""
    return Tables(board.measure_rays(), board.turned_cells(), board.turned_directions())


_SMALL, _LARGE = (500, 800, 1200), (1200, 1600, 2000)
BOARDS = {
    board.name: board
    for board in (
        BoardGeometry("square8", 8, is_hexagonal=False, rings=18, short_line=True, limits=_SMALL),
        BoardGeometry("square19", 19, is_hexagonal=False, rings=72, short_line=False, limits=_LARGE),
        BoardGeometry("hex8", 9, is_hexagonal=True, rings=18, short_line=True, limits=_SMALL),
        BoardGeometry("hexagonal", 25, is_hexagonal=True, rings=96, short_line=False, limits=_LARGE),
    )
}
