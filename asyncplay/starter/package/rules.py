"""The rules of starter: whoever makes a line loses.

Two players take the cells of a square board in turn. With ``misere``, who completes a line of ``line`` own cells in a
row, column or diagonal loses; without it, that player wins. A full board without a line is a draw. Size 3 without
misere is tic-tac-toe.

rules: SIZE, MISERE, N_LINES, then a word for each line with the bits of its cells.
state: the cells of seat 0 and of seat 1 as bit sets (bit c is cell c, row by row), DECISIONS, RESULT.
An action is the number of a cell.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, helper, kernel
from asyncplay.games.options import By, GameOption
from asyncplay.games.spec import GAME_OVER, GameSpec, Symmetries, board_symmetries

SIZE, MISERE, N_LINES, LINES = 0, 1, 2, 3
DECISIONS, RESULT, STATE_WORDS = 2, 3, 4
GOING_ON, LINED, DRAWN = 0, 1, 2  # LINED: the seat that moved last has a line
MOST_SIZE = 6

OPTIONS = (
    GameOption("size", int, 4, "Rows and columns of the board.", within=(3, MOST_SIZE)),
    GameOption("line", int, 3, "Cells of a line.", within=By(lambda size: (3, size), ("size",))),
    GameOption("misere", bool, True, "Whether a line loses; otherwise it wins."),
)


@helper
def has_line(rules, cells):
    """Say whether a bit set of cells holds one of the lines."""
    found = False
    for place in range(LINES, LINES + rules[N_LINES]):
        found |= cells & rules[place] == rules[place]
    return found


@kernel(contract.RESET)
def reset(rules, state):
    """The empty board, seat 0 to move."""
    for word in range(STATE_WORDS):
        state[word] = 0


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """The seats take turns."""
    return state[DECISIONS] & 1 if state[RESULT] == GOING_ON else GAME_OVER


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """The empty cells."""
    count = 0
    if state[RESULT] == GOING_ON:
        taken = state[0] | state[1]
        for cell in range(rules[SIZE] * rules[SIZE]):
            if not (taken >> cell) & 1:
                actions[count] = cell
                count += 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Take the cell, hand over the turn and see whether the game is over."""
    seat = state[DECISIONS] & 1
    state[seat] |= 1 << action
    state[DECISIONS] += 1
    if has_line(rules, state[seat]):
        state[RESULT] = LINED
    elif state[DECISIONS] == rules[SIZE] * rules[SIZE]:
        state[RESULT] = DRAWN


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """There is none."""


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """1 for the winner and -1 for the loser; 0 in a draw and until the end."""
    last = (state[DECISIONS] + 1) & 1
    gain = 0.0
    if state[RESULT] == LINED:
        gain = -1.0 if rules[MISERE] else 1.0
    gains[last] = gain
    gains[1 - last] = -gain


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """Two planes: the viewer's cells, the other's."""
    cells = rules[SIZE] * rules[SIZE]
    for cell in range(cells):
        features[cell] = (state[viewer] >> cell) & 1
        features[cells + cell] = (state[1 - viewer] >> cell) & 1


@kernel(contract.KEY)
def key(rules, state, viewer):
    """Both bit sets and the viewer, mixed one after another."""
    mixed = rng.mix(np.uint64(viewer))
    for seat in range(2):
        mixed = rng.mix(mixed ^ np.uint64(state[seat]))
    return mixed


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(STATE_WORDS):
            worlds[world, word] = state[word]


KERNELS = Kernels(
    name="starter",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
    ending=contract.no_ending,
)


def all_lines(size: int, length: int) -> list[int]:
    """Every line of the board, as the bits of its cells."""
    lines = []
    for row in range(size):
        for column in range(size):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + step * down, column + step * right) for step in range(length)]
                if all(0 <= place < size for cell in cells for place in cell):
                    lines.append(sum(1 << (at_row * size + at_column) for at_row, at_column in cells))
    return lines


def symmetries(size: int) -> Symmetries:
    """Four turns of the board, each plain and mirrored."""
    board = np.arange(size * size).reshape(size, size)
    turned = [np.rot90(side, turns).ravel() for side in (board, board[:, ::-1]) for turns in range(4)]
    return board_symmetries(np.array(turned), np.argsort(turned, axis=1), channels=2)


def spec(*, size: int, line: int, misere: bool) -> GameSpec:
    """The game with its options chosen."""
    cells, lines = size * size, all_lines(size, line)
    return GameSpec(
        name="starter",
        players=2,
        rules=np.array([size, misere, len(lines), *lines], np.int64),
        state_words=STATE_WORDS,
        actions=cells,
        features=2 * cells,
        feature_dtype=np.uint8,
        planes=(2, size, size),
        max_legal=cells,
        max_decisions=cells,
        zero_sum=True,
        is_hidden=False,
        n_symmetries=8,
        symmetries=lambda: symmetries(size),
        kernels=KERNELS,
        entry_module="asyncplay.starter.package.search",
    )
