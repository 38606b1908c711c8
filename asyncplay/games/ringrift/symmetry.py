"""RingRift turned and mirrored: 8 symmetries of a square, 12 of a hexagon.

Cells and directions turn by tables. A line is named by the end from which it runs in its axis' direction, and a region
by its lowest cell: which end and which cell that is on the turned board is seen in the position.
"""

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.kernels import body, helper, kernel
from asyncplay.games.ringrift.boards import MOST_DIRECTIONS, BoardGeometry, tables_of
from asyncplay.games.ringrift.encode import n_globals, n_planes
from asyncplay.games.ringrift.layout import (
    CLAIM_PLANES,
    DIRECTION_TURNS,
    GO,
    LINE,
    N_AXES,
    N_CELLS,
    RAYS,
    STEPS,
    TURN,
    WIDTH,
    claim_plane,
    goes,
    part_plane,
    pay_plane,
    slide_plane,
    whole_plane,
)
from asyncplay.games.ringrift.lines import run_length
from asyncplay.games.ringrift.territory import border_marker, flood, forget_regions
from asyncplay.games.spec import Symmetries


@kernel(contract.TURN, is_long=True)
def turn(rules, state, action, y, room):
    """What an action becomes by symmetry ``y``."""
    plane, cell = action // rules[N_CELLS], action % rules[N_CELLS]
    if plane >= claim_plane(rules) + CLAIM_PLANES:
        return action
    if plane >= claim_plane(rules):
        cell = lowest_turned(rules, state, cell, plane - claim_plane(rules), y, room)
    elif whole_plane(rules) <= plane < pay_plane(rules):
        plane, cell = turned_line(rules, state, plane, cell, y)
    else:
        plane, cell = turned_path(rules, plane, y), goes(rules, y, cell)
    return plane * rules[N_CELLS] + cell


@helper
def turned_direction(rules, direction, y):
    """What a direction becomes."""
    return rules[DIRECTION_TURNS + MOST_DIRECTIONS * y + direction]


@body
def turned_path(rules, plane, y):
    """The plane of a move or slide in the turned direction; other planes stay."""
    if GO <= plane < slide_plane(rules):
        longest = rules[WIDTH] - 1
        direction, steps = (plane - GO) // longest, (plane - GO) % longest
        return GO + turned_direction(rules, direction, y) * longest + steps
    if slide_plane(rules) <= plane < whole_plane(rules):
        return slide_plane(rules) + turned_direction(rules, plane - slide_plane(rules), y)
    return plane


@body
def turned_line(rules, state, plane, cell, y):
    """A line starts at its other end where its axis is turned against its direction."""
    first = whole_plane(rules) if plane < part_plane(rules) else part_plane(rules)
    axis, n_axes = plane - first, rules[N_AXES]
    if first == whole_plane(rules):
        length = run_length(rules, state, cell, axis, state[TURN])
    else:
        length = min(rules[LINE] - 1, rules[RAYS + MOST_DIRECTIONS * cell + axis])
    direction = turned_direction(rules, axis, y)
    if direction < n_axes:
        return first + direction, goes(rules, y, cell)
    return first + direction - n_axes, goes(rules, y, cell + rules[STEPS + axis] * length)


@body
def lowest_turned(rules, state, cell, border, y, room):  # noqa: PLR0917  # kernels take no keywords
    """The lowest cell of a region once it is turned."""
    forget_regions(rules, room)
    n_region, _ = flood(rules, state, cell, border_marker(rules, state, border), room)
    lowest, region = rules[N_CELLS], room[rules[N_CELLS] :]
    for i in range(n_region):
        lowest = min(lowest, goes(rules, y, region[i]))
    return lowest


def symmetries(board: BoardGeometry, players: int) -> Symmetries:
    """Every plane comes from the cells that go to its own; the last features belong to no cell."""
    sources = np.argsort(tables_of(board).turned_cells, axis=1)
    n_features = n_planes(players) * board.n_cells
    planes = [sources + plane * board.n_cells for plane in range(n_planes(players))]
    rest = np.tile(np.arange(n_features, n_features + n_globals(players)), (len(sources), 1))
    return Symmetries(np.concatenate([*planes, rest], axis=1).astype(np.int32), None)
