"""Treasurehunt for people: a position as text or SVG, an episode as an animated SVG."""

from collections.abc import Iterable, Sequence
from textwrap import wrap
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.show import WIDTH, LastAction, Show, State, svg
from asyncplay.games.spec import GameSpec
from asyncplay.games.treasurehunt.layout import CELLS, EMPTY, GAINS, GEM, POSITION, SIZE, TURN, TURNS, WALL, WINDOW

ACTION_NAMES = ("up", "down", "left", "right")
COMPASS = ("north", "south", "west", "east")
LETTERS, OTHER = {EMPTY: ".", WALL: "#", GEM: "*"}, "A"
COLOURS = ("#d1495b", "#00798c", "#edae49", "#30638e", "#5b8c5a", "#8d5a97", "#e07a5f", "#3d405b")
"""Of the agents."""
CELL, FOOT = 24, 28  # pixels
TURN_S = 0.4  # that an animation shows a turn


class TreasurehuntShow(Show):
    """A viewer sees the window around its agent, as its network does, with A for other agents."""

    how = "up, down, left or right, or their first letters"

    def player_name(self, spec: GameSpec, state: State, player: int) -> str:
        return f"agent {player}"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return ACTION_NAMES[action]

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        return ACTION_NAMES[action][0], COMPASS[action], COMPASS[action][0]

    def describe(self, spec: GameSpec, state: State, viewer: int | None = None) -> list[str]:
        if viewer is None:
            cells = [
                f"agent {agent} at row {row}, column {column}"
                for agent, (row, column) in enumerate(_places(spec, state))
            ]
            gems = (f"{row},{column}" for row, column in np.argwhere(grid(spec, state) == GEM))
            told = wrap(f"gems at {' '.join(gems) or 'no cell'}", WIDTH - 1, subsequent_indent="  ")
            return [self.turn_line(spec, state), _caption(spec, state), *cells, *told]
        seen, half = np.array(window(spec, state, viewer)), int(spec.rules[WINDOW]) // 2
        lines = [self.turn_line(spec, state), _own_caption(spec, state, viewer)]
        for letter, what in ((LETTERS[GEM], "gem"), (OTHER, "agent"), (LETTERS[WALL], "wall")):
            ways = [_way(int(row), int(column)) for row, column in np.argwhere(seen == letter) - half]
            lines += wrap(f"{what}: {', '.join(ways) or 'none'}", WIDTH - 1, subsequent_indent="  ")
        return lines

    def told(self, spec: GameSpec, viewer: int | None, last: LastAction) -> str | None:
        """A viewer knows what its own agent did."""
        return super().told(spec, viewer, last) if viewer in (None, last.player) else None

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        if viewer is None:
            return "\n".join([*draw(spec, state), *self.last_line(spec, viewer, last)])
        rows = [" ".join(row) for row in window(spec, state, viewer)]
        head = [self.turn_line(spec, state), _own_caption(spec, state, viewer)]
        return "\n".join([*head, *rows, *self.last_line(spec, viewer, last)])

    def svg(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        if viewer is None:
            return animate(spec, [state], self.last_line(spec, viewer, last))
        head = [_own_caption(spec, state, viewer), *self.last_line(spec, viewer, last)]
        rows, top = window(spec, state, viewer), svg.LINE * (len(head) + 0.5)
        parts, fills = svg.written(head), {LETTERS[WALL]: "#555", LETTERS[GEM]: "#2a9d8f", LETTERS[EMPTY]: "#fff"}
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                place = f'x="{svg.MARGIN + x * CELL}" y="{top + y * CELL:.0f}" width="{CELL}" height="{CELL}"'
                parts.append(f'<rect {place} fill="{fills.get(letter, "#edae49")}" stroke="#ccc"/>')
                if letter not in (LETTERS[EMPTY], LETTERS[WALL]):
                    parts.append(svg.label(svg.MARGIN + x * CELL + 8, top + y * CELL + 17, letter))
        return svg.document(280, top + len(rows) * CELL + svg.MARGIN, parts)

    def animation(self, spec: GameSpec, states: Sequence[State]) -> str | None:
        """One picture a turn."""
        return animate(spec, states[:: spec.players])


def window(spec: GameSpec, state: State, viewer: int) -> list[list[str]]:
    """The letters that an agent sees around it, its own number in the middle."""
    size, half = int(spec.rules[SIZE]), int(spec.rules[WINDOW]) // 2
    here_row, here_column = _places(spec, state)[viewer]
    codes = np.full((size + 2 * half, size + 2 * half), WALL)
    codes[half : half + size, half : half + size] = grid(spec, state)
    seen = codes[here_row : here_row + 2 * half + 1, here_column : here_column + 2 * half + 1]
    letters = [[LETTERS.get(int(code), OTHER) for code in row] for row in seen]
    letters[half][half] = str(viewer)
    return letters


def _way(row: int, column: int) -> str:
    """From the middle of a window."""
    down = [f"{abs(row)} {'down' if row > 0 else 'up'}"] if row else []
    across = [f"{abs(column)} {'right' if column > 0 else 'left'}"] if column else []
    return " ".join(down + across)


def grid(spec: GameSpec, state: State) -> NDArray[np.int64]:
    """What lies in each cell: int64[rows, columns]."""
    size = int(spec.rules[SIZE])
    return state[CELLS : CELLS + size * size].reshape(size, size)


def draw(spec: GameSpec, state: State) -> list[str]:
    """Lines of text: walls #, gems *, agents by number, then what they have got."""
    letters = [[LETTERS.get(int(found), "?") for found in row] for row in grid(spec, state)]
    for agent, (row, column) in enumerate(_places(spec, state)):
        letters[row][column] = str(agent)
    return [*("".join(row) for row in letters), _caption(spec, state)]


def animate(spec: GameSpec, states: Sequence[State], notes: Sequence[str] = ()) -> str:
    """A picture that shows one position after another, for ever, with notes below it."""
    size = int(spec.rules[SIZE])
    seconds, width = TURN_S * len(states), size * CELL
    grids = np.stack([grid(spec, state) for state in states])
    parts = []
    for row, column in np.argwhere(grids[0] == WALL):
        parts.append(f'<rect x="{column * CELL}" y="{row * CELL}" width="{CELL}" height="{CELL}" fill="#555"/>')
    for row, column in np.argwhere((grids == GEM).any(axis=0)):
        shown = [int(found == GEM) for found in grids[:, row, column]]
        corner = f"{column * CELL + CELL // 2} {row * CELL + 4}"
        diamond = f"M{corner}l8 8l-8 8l-8 -8z"
        parts.append(
            f'<path d="{diamond}" fill="#2a9d8f" opacity="{shown[0]}">{_timed("opacity", shown, seconds)}</path>'
        )
    places = [_places(spec, state) for state in states]
    for agent in range(spec.players):
        rows, columns = zip(*(place[agent] for place in places), strict=True)
        parts.append(_agent(agent, rows, columns, seconds))
    for number, state in enumerate(states):
        shown = [int(number == other) for other in range(len(states))]
        text, style = escape(_caption(spec, state)), f'x="6" y="{width + 18}" font-size="11" opacity="{shown[0]}"'
        parts.append(f"<text {style}>{text}{_timed('opacity', shown, seconds)}</text>")
    parts += svg.written(notes, width + FOOT)
    return svg.document(width, width + FOOT + svg.LINE * len(notes), parts)


def _agent(agent: int, rows: Sequence[int], columns: Sequence[int], seconds: float) -> str:
    """A disc with the agent's number."""
    ys, xs = [row * CELL for row in rows], [column * CELL for column in columns]
    moves = _timed("x", xs, seconds) + _timed("y", ys, seconds)
    half = CELL // 2
    disc = f'<circle cx="{half}" cy="{half}" r="{half - 3}" fill="{COLOURS[agent]}"/>'
    label = f'<text x="{half}" y="{half + 4}" font-size="11" fill="#fff" text-anchor="middle">{agent}</text>'
    return f'<svg x="{xs[0]}" y="{ys[0]}" width="{CELL}" height="{CELL}">{moves}{disc}{label}</svg>'


def _timed(attribute: str, values: Sequence[int], seconds: float) -> str:
    """An animation that jumps from value to value; nothing where they are all the same."""
    if len(set(values)) == 1:
        return ""
    listed = ";".join(map(str, values))
    how = f'calcMode="discrete" dur="{seconds:g}s" repeatCount="indefinite"'
    return f'<animate attributeName="{attribute}" values="{listed}" {how}/>'


def _places(spec: GameSpec, state: State) -> list[tuple[int, int]]:
    size = int(spec.rules[SIZE])
    cells = state[POSITION : POSITION + spec.players].tolist()
    return [(cell // size, cell % size) for cell in cells]


def _own_caption(spec: GameSpec, state: State, viewer: int) -> str:
    return f"turn {state[TURN] + 1} of {spec.rules[TURNS]}: you are agent {viewer} and have {state[GAINS + viewer]}"


def _caption(spec: GameSpec, state: State) -> str:
    gains = state[GAINS : GAINS + spec.players].tolist()
    return f"turn {state[TURN] + 1} of {spec.rules[TURNS]}: {' '.join(map(str, gains))} = {sum(gains)}"


SHOW = TreasurehuntShow()
