"""RingRift's boards in plain Python: section 1 of the rules text."""

from functools import cache

Cell = tuple[int, ...]  # (x, y) on square boards, the cube's (x, y, z) on hexagons
Step = tuple[int, ...]

ORTHOGONAL: list[Step] = [(1, 0), (0, 1), (-1, 0), (0, -1)]
DIAGONAL: list[Step] = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
SQUARE_AXES: list[Step] = [(1, 0), (0, 1), (1, 1), (1, -1)]
HEX_AXES: list[Step] = [(1, 0, -1), (1, -1, 0), (0, -1, 1)]


def shifted(cell: Cell, step: Step) -> Cell:
    return tuple(a + b for a, b in zip(cell, step, strict=True))


def in_order(cell: Cell) -> tuple[int, int]:
    """Key of the cell order: by y, then by x."""
    return cell[1], cell[0]


def opposite(step: Step) -> Step:
    return tuple(-part for part in step)


class Board:
    """One row of the table of section 1; the neighbours and rays of its cells are worked out once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rings = {"square8": 18, "square19": 72, "hex8": 18, "hexagonal": 96}[name]
        self.is_small = name in ("square8", "hex8")
        if name.startswith("square"):
            side = range(8 if name == "square8" else 19)
            self.cells: list[Cell] = [(x, y) for y in side for x in side]
            self.axes, territory, diagonal = SQUARE_AXES, ORTHOGONAL, DIAGONAL
        else:
            radius = 4 if name == "hex8" else 12
            span = range(-radius, radius + 1)
            self.cells = [(x, y, -x - y) for y in span for x in span if abs(x + y) <= radius]
            self.axes, diagonal = HEX_AXES, []
            territory = HEX_AXES + [opposite(axis) for axis in HEX_AXES]
        directions = self.axes + [opposite(axis) for axis in self.axes]
        self.rays = {cell: [self._ray(cell, step) for step in directions] for cell in self.cells}
        self.neighbours = {cell: self._around(cell, directions) for cell in self.cells}  # of slides
        self.adjacent = {cell: self._around(cell, territory) for cell in self.cells}  # of territory
        self.diagonal = {cell: self._around(cell, diagonal) for cell in self.cells}

    def __deepcopy__(self, memo: dict[int, object]) -> "Board":
        """A board never changes: copies of a game share it."""
        return self

    def line_length(self, players: int) -> int:
        """K: how many markers in a row make a line eligible."""
        return 3 if self.is_small and players > 2 else 4

    def territory_minimum(self, players: int) -> int:
        return len(self.cells) // players + 1

    def move_limit(self, players: int) -> int:
        """Section 7, "auto"."""
        return {2: 500, 3: 800, 4: 1200}[players] if self.is_small else {2: 1200, 3: 1600, 4: 2000}[players]

    def between(self, start: Cell, end: Cell) -> list[Cell]:
        """The cells strictly between two cells of one ray, in the order of travel."""
        ray = next(ray for ray in self.rays[start] if end in ray)
        return ray[: ray.index(end)]

    def _around(self, cell: Cell, steps: list[Step]) -> list[Cell]:
        return [beside for step in steps if (beside := shifted(cell, step)) in self.rays]

    def _ray(self, cell: Cell, step: Step) -> list[Cell]:
        """The cells from the one beside ``cell`` to the edge; the cell at index i is i + 1 steps away."""
        on_board, ray = set(self.cells), []
        while (cell := shifted(cell, step)) in on_board:
            ray.append(cell)
        return ray


@cache
def board_of(name: str) -> Board:
    return Board(name)


def elimination_threshold(rings: int, players: int) -> int:
    """R * (N + 1) / 3 to the nearest whole number; thirds have no ties."""
    return round(rings * (players + 1) / 3)
