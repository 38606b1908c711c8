"""Treasurehunt for people: a position as text or SVG, an episode as an animated SVG."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.spec import GameSpec
from asyncplay.games.treasurehunt.layout import CELLS, EMPTY, GAINS, GEM, POSITION, SIZE, TURN, TURNS, WALL

State = NDArray[np.int64]

ACTION_NAMES = ("up", "down", "left", "right")
LETTERS = {EMPTY: ".", WALL: "#", GEM: "*"}
COLOURS = ("#d1495b", "#00798c", "#edae49", "#30638e", "#5b8c5a", "#8d5a97", "#e07a5f", "#3d405b")
"""Of the agents."""
CELL, FOOT = 24, 28  # pixels
TURN_S = 0.4  # that an animation shows a turn


def action_name(spec: GameSpec, state: State, action: int) -> str:
    return ACTION_NAMES[action]


def text(spec: GameSpec, state: State, last: str | None) -> str:
    """Lines of ``draw``."""
    return "\n".join(draw(spec, state))


def svg(spec: GameSpec, state: State, last: str | None) -> str:
    """A picture of a position."""
    return animate(spec, [state])


def episode_svg(spec: GameSpec, states: Sequence[State]) -> str:
    """One picture a turn."""
    return animate(spec, states[:: spec.players])


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


def animate(spec: GameSpec, states: Sequence[State]) -> str:
    """A picture that shows one position after another, for ever."""
    size = int(spec.rules[SIZE])
    seconds, width = TURN_S * len(states), size * CELL
    grids = np.stack([grid(spec, state) for state in states])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{width + FOOT}" '
        f'viewBox="0 0 {width} {width + FOOT}" font-family="sans-serif">',
        f'<rect width="{width}" height="{width + FOOT}" fill="#fff"/>',
    ]
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
    return "\n".join([*parts, "</svg>", ""])


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


def _caption(spec: GameSpec, state: State) -> str:
    gains = state[GAINS : GAINS + spec.players].tolist()
    return f"turn {state[TURN] + 1} of {spec.rules[TURNS]}: {' '.join(map(str, gains))} = {sum(gains)}"
