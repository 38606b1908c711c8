"""The action of each decision of RingRift, worked out from the layout that asyncplay/games/ringrift documents."""

from functools import cache

from games.ringrift_board import Board, Cell, Step, board_of, opposite, shifted
from games.ringrift_twin import Decision, Game

SKIP, SWAP, NO_BORDER = 0, 1, 4
N_CLAIM_PLANES = 5


class Planes:
    """Where each group of planes begins, in the order of the table; W is the width of the bounding box."""

    def __init__(self, board: Board) -> None:
        self.radius = 0 if board.name.startswith("square") else max(x for x, *_ in board.cells)
        self.width = max(x for x, *_ in board.cells) + self.radius + 1
        self.directions: list[Step] = board.axes + [opposite(axis) for axis in board.axes]
        self.axes = board.axes
        self.go = 3
        self.slide = self.go + len(self.directions) * (self.width - 1)
        self.whole = self.slide + len(self.directions)
        self.part = self.whole + len(self.axes)
        self.pay = self.part + len(self.axes)
        self.claim = self.pay + 1
        self.n_planes = self.claim + N_CLAIM_PLANES

    def action(self, plane: int, cell: Cell) -> int:
        number = (cell[1] + self.radius) * self.width + cell[0] + self.radius
        return plane * self.width**2 + number

    def all_alone(self, number: int) -> int:
        """A global action."""
        return self.n_planes * self.width**2 + number


@cache
def planes_of(name: str) -> Planes:
    return Planes(board_of(name))


@cache
def way(name: str, start: Cell, end: Cell) -> tuple[int, int]:
    """Number of the direction and the distance from one cell to another of the same ray."""
    rays = board_of(name).rays[start]
    direction = next(number for number, ray in enumerate(rays) if end in ray)
    return direction, rays[direction].index(end) + 1


@cache
def fixed_action(name: str, decision: Decision) -> int:
    """The action of a decision that needs no look at the position."""
    planes, (kind, *what) = planes_of(name), decision
    if kind == "swap_sides" or kind.startswith("skip_"):
        return planes.all_alone(SWAP if kind == "swap_sides" else SKIP)
    if kind == "place":
        return planes.action(what[1] - 1, what[0])
    if kind in ("move", "capture"):
        direction, distance = way(name, what[0], what[-1])
        return planes.action(planes.go + direction * (planes.width - 1) + distance - 1, what[0])
    if kind in ("slide", "strike"):
        return planes.action(planes.slide + way(name, *what)[0], what[0])
    return planes.action(planes.pay, what[0])


def action_of(game: Game, decision: Decision) -> int:
    """The action of a legal decision: lines need their length, claims the player to act."""
    planes, (kind, *what) = planes_of(game.options.board), decision
    if kind == "claim":
        lowest, border = what
        plane = NO_BORDER if border == "none" else (border - game.player) % len(game.seats)
        return planes.action(planes.claim + plane, lowest)
    if kind == "line":
        cells = set(what[0])
        axis = next(step for step in planes.axes if any(shifted(cell, step) in cells for cell in cells))
        start = next(cell for cell in cells if shifted(cell, opposite(axis)) not in cells)
        is_whole = any(cells == set(line) for line in game.pieces.lines(game.player, game.line_length))
        return planes.action((planes.whole if is_whole else planes.part) + planes.axes.index(axis), start)
    return fixed_action(game.options.board, decision)
