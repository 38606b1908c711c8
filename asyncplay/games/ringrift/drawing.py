"""RingRift for the eye: a position as text for terminals and as SVG. Plain Python.

Players are A to D. As text a stack is its controller, its height and, if some of it lies under the cap, the cap's
height: A5/2; a marker is a small letter, territory a letter in brackets, an empty cell a dot. Cells of the last
decision stand between > and <. Cells are named by a letter for x and a number for y, a1 being the first of the box;
rows of hexagons begin with the letters of their first and last cell.
"""

from collections.abc import Sequence
from html import escape
from math import cos, pi, sin

from asyncplay.games.ringrift import layout
from asyncplay.games.ringrift.boards import BoardGeometry, Cell
from asyncplay.games.ringrift.decisions import Decision, RingRiftPosition, State, board_of, read
from asyncplay.games.spec import GameSpec

LETTERS = "ABCD"
COLOURS = ("#2b6cb0", "#c53030", "#2f855a", "#b7791f")
PHASE_NAMES = (
    "ring placement",
    "movement",
    "capture",
    "chain capture",
    "recovery",
    "line of the slid marker",
    "extraction",
    "line",
    "cost of a line",
    "territory",
    "cost of a claim",
    "extraction for a claim",
    "forced elimination",
    "over",
)
COLUMNS = "abcdefghijklmnopqrstuvwxy"
WIDE, EDGE = 6, 7  # characters of a cell, and before the first of a row
SIZE = 40.0  # of a cell of an SVG, from side to side
MARGIN, LINE = 12.0, 18.0


def text(spec: GameSpec, state: State, last: Decision | None = None) -> str:
    """A line about the position, one for each player, then the board row by row; hexagons lean by half a cell a row."""
    board, position, marked = board_of(spec), read(spec, state), cells_of(last)
    lines = headline(spec, state, position)
    if not board.is_hexagonal:
        lines.append(" " * EDGE + "".join(f"{COLUMNS[x]:^{WIDE}}" for x in range(board.width)).rstrip())
    for row in range(board.width):
        cells = [board.cell(row * board.width + column) for column in range(board.width)]
        inside = [cell for cell in cells if board.contains(cell)]
        indent = round(WIDE * (_place(board, inside[0])[0] - _left(board)))
        drawn = (f">{letters(position, cell)}<" if cell in marked else letters(position, cell) for cell in inside)
        ends = f" {cell_name(board, inside[0])[0]}-{cell_name(board, inside[-1])[0]}" if board.is_hexagonal else ""
        label = f"{row + 1:>2}{ends}"
        lines.append(f"{label:<{EDGE}}" + " " * indent + "".join(f"{word:^{WIDE}}" for word in drawn).rstrip())
    return "\n".join(lines)


def cell_name(board: BoardGeometry, cell: Cell) -> str:
    return f"{COLUMNS[cell[0] + board.radius]}{cell[1] + board.radius + 1}"


def headline(spec: GameSpec, state: State, position: RingRiftPosition) -> list[str]:
    """What is not on the board."""
    phase = PHASE_NAMES[int(state[layout.PHASE])]
    if position.to_act is not None:
        lines = [f"decision {position.decisions + 1}: {LETTERS[position.to_act - 1]} to act, {phase}"]
    elif position.winner is not None:
        lines = [f"{LETTERS[position.winner - 1]} won after {position.decisions} decisions: {position.reason}"]
    else:
        lines = [f"no winner after {position.decisions} decisions: {position.reason}"]
    threshold, minimum = spec.rules[layout.THRESHOLD], spec.rules[layout.MINIMUM]
    for seat in range(spec.players):
        counts = f"credit {position.credit[seat]}/{threshold}, territory {position.territory[seat]}/{minimum}"
        lines.append(f"{LETTERS[seat]}: {position.hand[seat]} in hand, {counts}")
    return lines


def cells_of(decision: Decision | None) -> set[Cell]:
    """The cells that a decision names."""
    if decision is None:
        return set()
    if decision[0] == "line":
        return set(decision[1])
    return {part for part in decision[1:] if isinstance(part, tuple)}


def svg(spec: GameSpec, state: State, last: Decision | None = None, notes: Sequence[str] = ()) -> str:
    """A whole SVG file: the board with stacks as discs, the ring under the cap as their rim; notes above it."""
    board, position, marked = board_of(spec), read(spec, state), cells_of(last)
    told = [*headline(spec, state, position), *notes]
    places = {cell: _place(board, cell) for cell in board.cells().values()}
    left, top = _left(board), min(y for _, y in places.values())
    width = (max(x for x, _ in places.values()) - left + 1) * SIZE + 2 * MARGIN
    begin = MARGIN + LINE * len(told) + MARGIN
    height = begin + (max(y for _, y in places.values()) - top + 1) * SIZE * _stretch(board) + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        *(
            f'<text x="{MARGIN}" y="{LINE * (number + 1):.0f}" font-size="13">{escape(line)}</text>'
            for number, line in enumerate(told)
        ),
    ]
    for cell, (x, y) in places.items():
        across = MARGIN + (x - left + 0.5) * SIZE
        down = begin + (y - top + 0.5) * SIZE * _stretch(board)
        parts += _cell(board, position, cell, (across, down), is_marked=cell in marked)
    return "\n".join([*parts, "</svg>\n"])


def _place(board: BoardGeometry, cell: Cell) -> tuple[float, float]:
    """Where a cell is drawn, in cells: across and down."""
    return (cell[0] + cell[1] / 2 if board.is_hexagonal else cell[0]), cell[1]


def _left(board: BoardGeometry) -> float:
    """The place of the cell furthest to the left."""
    return min(_place(board, cell)[0] for cell in board.cells().values())


def _stretch(board: BoardGeometry) -> float:
    """Of rows: those of hexagons reach into each other."""
    return 0.866 if board.is_hexagonal else 1.0


def letters(position: RingRiftPosition, cell: Cell) -> str:
    if cell in position.stacks:
        rings = position.stacks[cell]
        cap = cap_height(rings)
        return f"{LETTERS[rings[-1] - 1]}{len(rings)}" + (f"/{cap}" if cap < len(rings) else "")
    if cell in position.markers:
        return LETTERS[position.markers[cell] - 1].lower()
    return f"[{LETTERS[position.collapsed[cell] - 1].lower()}]" if cell in position.collapsed else "."


def cap_height(rings: tuple[int, ...]) -> int:
    """Rings of the top colour from the top on."""
    return next((cap for cap, ring in enumerate(reversed(rings)) if ring != rings[-1]), len(rings))


def _cell(
    board: BoardGeometry, position: RingRiftPosition, cell: Cell, middle: tuple[float, float], *, is_marked: bool
) -> list[str]:
    """The shapes of one cell."""
    owner = position.collapsed.get(cell)
    fill = f'fill="{COLOURS[owner - 1]}" fill-opacity="0.45"' if owner else 'fill="#f7f3e8"'
    rim = 'stroke="black" stroke-width="2.5"' if is_marked else 'stroke="#a89f86" stroke-width="1"'
    parts = [f'<polygon points="{_outline(board, middle)}" {fill} {rim}/>']
    x, y = middle
    if cell not in position.stacks:
        style = 'font-size="8" text-anchor="middle" fill="#8a8270"'
        parts.append(f'<text x="{x:.1f}" y="{y + 15:.1f}" {style}>{cell_name(board, cell)}</text>')
    if cell in position.markers:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[position.markers[cell] - 1]}"/>')
    if cell in position.stacks:
        rings = position.stacks[cell]
        cap = cap_height(rings)
        under = rings[-1 - cap] if cap < len(rings) else rings[-1]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="13" fill="{COLOURS[rings[-1] - 1]}" '
            f'stroke="{COLOURS[under - 1]}" stroke-width="4"/>'
        )
        told = f"{len(rings)}/{cap}" if cap < len(rings) else str(len(rings))
        parts.append(
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="12" text-anchor="middle" fill="white">{told}</text>'
        )
    return parts


def _outline(board: BoardGeometry, middle: tuple[float, float]) -> str:
    """The corners of a cell."""
    if board.is_hexagonal:
        turns, radius = [pi / 6 + corner * pi / 3 for corner in range(6)], SIZE / 3**0.5
    else:
        turns, radius = [pi / 4 + corner * pi / 2 for corner in range(4)], SIZE / 2**0.5
    return " ".join(f"{middle[0] + radius * cos(turn):.1f},{middle[1] + radius * sin(turn):.1f}" for turn in turns)
