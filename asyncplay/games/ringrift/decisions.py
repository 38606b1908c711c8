"""Actions and positions of RingRift in the words of its rules, for people and tests. Plain Python.

Players are 1 .. N, cells (x, y) or (x, y, z), rings of a stack from the bottom to the top. A decision is a tuple:

("swap_sides",)  ("place", cell, number)  ("skip_placement",)  ("move", from, landing)
("capture", from, target, landing)  ("skip_capture",)  ("slide", marker, destination)
("strike", marker, destination)  ("skip_recovery",)  ("line", cells that collapse, in order)
("pay_ring", cell): the top ring for a line  ("pay_cap", cell): the cap for a claim
("extract", cell): a buried ring  ("claim", lowest cell, border: a player or "none")  ("skip_territory",)
("eliminate", cell): forced
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.ringrift import layout
from asyncplay.games.ringrift.boards import BOARDS, BoardGeometry, Cell, moved
from asyncplay.games.spec import BY_LIMIT, GameSpec, end_reason

Decision = tuple[Any, ...]
State = NDArray[np.int64]

NONE = "none"
_SKIPS = {
    layout.PLACING: "skip_placement",
    layout.CAPTURING: "skip_capture",
    layout.RECOVERING: "skip_recovery",
    layout.CLAIMING: "skip_territory",
}
_COSTS = {
    layout.PAYING_LINE: "pay_ring",
    layout.PAYING_CLAIM: "pay_cap",
    layout.EXTRACTING: "extract",
    layout.EXTRACTING_CLAIM: "extract",
    layout.ELIMINATING: "eliminate",
}


class RingRiftPosition(NamedTuple):
    """All of a position that the rules speak of."""

    to_act: int | None  # None: the game is over
    stacks: dict[Cell, tuple[int, ...]]
    markers: dict[Cell, int]
    collapsed: dict[Cell, int]
    hand: list[int]  # by player, as the next two
    credit: list[int]
    territory: list[int]
    holder: int | None  # last-player-standing, and its rounds
    count: int  # type: ignore[assignment]  # the rules' word; nobody counts in this tuple
    decisions: int
    reason: str | None  # of the end; "limit" is what the rules call max_moves
    winner: int | None
    ranks: list[int] | None


def board_of(spec: GameSpec) -> BoardGeometry:
    """The board that a game is played on."""
    return next(board for board in BOARDS.values() if board.n_cells == spec.rules[layout.N_CELLS])


def read(spec: GameSpec, state: State) -> RingRiftPosition:
    """A position in plain Python."""
    board, players = board_of(spec), spec.players
    words = {cell: int(state[layout.CELLS + number]) for number, cell in board.cells().items()}
    reason = None if state[layout.RESULT] == layout.GOING_ON else end_reason(spec, state)
    has_ranks = reason is not None and reason != BY_LIMIT
    ranks = state[layout.RANKS : layout.RANKS + players].tolist() if has_ranks else None
    holder = int(state[layout.HOLDER])
    return RingRiftPosition(
        to_act=int(state[layout.TURN]) + 1 if reason is None else None,
        stacks={cell: rings_of(word) for cell, word in words.items() if word >= layout.IS_STACK},
        markers={cell: word for cell, word in words.items() if layout.MARKER <= word < layout.COLLAPSED},
        collapsed={
            cell: word - layout.COLLAPSED + 1 for cell, word in words.items() if layout.COLLAPSED <= word < layout.OFF
        },
        hand=state[layout.HANDS : layout.HANDS + players].tolist(),
        credit=state[layout.CREDITS : layout.CREDITS + players].tolist(),
        territory=state[layout.TERRITORIES : layout.TERRITORIES + players].tolist(),
        holder=None if holder == layout.NOBODY else holder + 1,
        count=int(state[layout.COUNT]),
        decisions=int(state[layout.DECISIONS]),
        reason=reason,
        winner=None if ranks is None else ranks.index(1) + 1,
        ranks=ranks,
    )


def rings_of(word: int) -> tuple[int, ...]:
    """The players of a stack's rings, from the bottom to the top."""
    height = (word >> layout.HEIGHT_SHIFT) & layout.HEIGHT_MASK
    rings = word >> layout.RING_SHIFT
    return tuple(((rings >> (layout.RING_BITS * depth)) & layout.COLOUR) + 1 for depth in reversed(range(height)))


def stack_word(rings: tuple[int, ...]) -> int:
    """The word of a cell with these rings."""
    packed = sum((player - 1) << (layout.RING_BITS * depth) for depth, player in enumerate(reversed(rings)))
    return layout.IS_STACK | len(rings) << layout.HEIGHT_SHIFT | packed << layout.RING_SHIFT


def legal_decisions(spec: GameSpec, state: State) -> dict[Decision, int]:
    """Every legal decision with its action."""
    actions = np.empty(spec.max_legal, np.int32)
    count = spec.kernels.legal(spec.rules, state, actions, spec.new_room())
    return {describe(spec, state, int(action)): int(action) for action in actions[:count]}


def parse(spec: GameSpec, state: State, decision: Decision) -> int:
    """The action of a decision; AsyncplayError if it is not legal here."""
    known = legal_decisions(spec, state)
    if decision not in known:
        raise AsyncplayError(f"{decision} is not legal here, legal are {', '.join(map(str, list(known)[:5]))} ...")
    return known[decision]


def describe(spec: GameSpec, state: State, action: int) -> Decision:
    """A legal action as a decision; planes are those of layout.py."""
    board, phase = board_of(spec), int(state[layout.PHASE])
    plane, number = divmod(action, board.n_cells)
    n_directions, n_axes, longest = len(board.directions), len(board.axes), board.width - 1
    slide = layout.GO + n_directions * longest
    whole, pay = slide + n_directions, slide + n_directions + 2 * n_axes
    if plane > pay + layout.CLAIM_PLANES:
        return ("swap_sides",) if number == layout.SWAP else (_SKIPS[phase],)
    cell = board.cell(number)
    if plane < layout.GO:
        return ("place", cell, plane + 1)
    if plane < slide:
        return _describe_path(board, state, number, *divmod(plane - layout.GO, longest))
    if plane < whole:
        return _describe_slide(board, state, number, plane - slide)
    if plane < pay:
        is_part, axis = divmod(plane - whole, n_axes)
        length = int(spec.rules[layout.LINE]) if is_part else _line_length(board, state, number, axis)
        cells = sorted(number + _step(board, axis) * place for place in range(length))
        return ("line", tuple(map(board.cell, cells)))
    border = plane - pay - 1
    player = (int(state[layout.TURN]) + border) % spec.players + 1
    return (_COSTS[phase], cell) if border < 0 else ("claim", cell, NONE if border == layout.NO_BORDER else player)


def _step(board: BoardGeometry, direction: int) -> int:
    x, y = board.directions[direction]
    return x + y * board.width


def _describe_path(board: BoardGeometry, state: State, number: int, direction: int, steps: int) -> Decision:
    """A capture if a stack is on the way; ``steps``: one less than the distance."""
    way = [number + _step(board, direction) * distance for distance in range(1, steps + 2)]
    met = [cell for cell in way if state[layout.CELLS + cell] >= layout.IS_STACK]
    ends = board.cell(number), board.cell(way[-1])
    return ("capture", ends[0], board.cell(met[0]), ends[1]) if met else ("move", *ends)


def _describe_slide(board: BoardGeometry, state: State, number: int, direction: int) -> Decision:
    destination = number + _step(board, direction)
    is_strike = state[layout.CELLS + destination] >= layout.IS_STACK
    return "strike" if is_strike else "slide", board.cell(number), board.cell(destination)


def _line_length(board: BoardGeometry, state: State, number: int, axis: int) -> int:
    """Equal markers from a cell on along an axis."""
    (x, y), start, length = board.axes[axis], board.cell(number), 1
    while board.contains(cell := moved(start, x, y, length)):
        if state[layout.CELLS + board.number(cell)] != state[layout.CELLS + number]:
            break
        length += 1
    return length
