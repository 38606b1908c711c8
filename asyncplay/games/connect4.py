"""Connect four rules, 7 columns by 6 rows.

A state is int64[4]. Words 0 and 1 are the stones of seat 0 and seat 1 as bit sets: bit 7 * column + row,
row 0 at the bottom; the seventh bit of a column stays clear, so that shifted boards do not run into
each other. Word 2 counts the decisions so far, so its last bit is the seat to move; word 3 is the
RESULT: GOING_ON, WON by the seat that moved last, or DRAWN. An action is a column.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, helper, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import GAME_OVER, GameSpec, Symmetries, board_symmetries

STATE_WORDS, DECISIONS, RESULT = 4, 2, 3
GOING_ON, WON, DRAWN = 0, 1, 2
COLUMNS, ROWS, CELLS, COLUMN_BITS = 7, 6, 42, 7
OPTIONS: tuple[GameOption, ...] = ()
BOTTOM_ROW = sum(1 << (COLUMN_BITS * column) for column in range(COLUMNS))
EVERY_BYTE = sum(1 << (8 * column) for column in range(COLUMNS))


@helper
def has_four(stones):
    """Say whether a bit set holds four in a row: up, along, or on a diagonal."""
    found = 0
    for step in (1, COLUMN_BITS - 1, COLUMN_BITS, COLUMN_BITS + 1):
        pairs = stones & (stones >> step)
        found |= pairs & (pairs >> (2 * step))
    return found != 0


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
    """Write the columns with room into ``actions`` int32[7], ascending; return how many there are."""
    count = 0
    if state[RESULT] == GOING_ON:
        top = (state[0] | state[1]) >> (ROWS - 1)
        for column in range(COLUMNS):
            actions[count] = column  # the next column overwrites it if this one is full
            count += 1 - ((top >> (COLUMN_BITS * column)) & 1)
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Drop a stone, hand over the turn and see whether the game is over."""
    seat = state[DECISIONS] & 1
    taken = state[0] | state[1]
    column = np.int64((1 << ROWS) - 1) << (COLUMN_BITS * action)
    state[seat] |= (taken + (1 << (COLUMN_BITS * action))) & column & ~taken
    state[DECISIONS] += 1
    if has_four(state[seat]):
        state[RESULT] = WON
    elif state[DECISIONS] == CELLS:
        state[RESULT] = DRAWN


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """There is none."""


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """1 for the winner and -1 for the loser; 0 in a draw and until the end."""
    won = 1.0 if state[RESULT] == WON else 0.0
    last = (state[DECISIONS] + 1) & 1
    gains[last] = won
    gains[1 - last] = -won


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """Two planes of 6 rows x 7 columns, the bottom row first: the viewer's stones, the other's."""
    for row in range(ROWS):
        write_row(state[viewer], row, features, row * COLUMNS)
        write_row(state[1 - viewer], row, features, CELLS + row * COLUMNS)


@helper
def write_row(stones, row, features, first):
    """Write a row's seven cells as bytes.

    The product moves bit 7c of the row to bit 8c, and nothing else there: a number has one form 7c + k.
    """
    cells = (((stones >> row) & BOTTOM_ROW) * 0x7F) & EVERY_BYTE
    for column in range(COLUMNS):
        features[first + column] = (cells >> (8 * column)) & 0xFF


@kernel(contract.KEY)
def key(rules, state, viewer):
    """The classic perfect key: seat 0's stones plus all stones plus the bottom row; then mixed.

    Adding the bottom row marks the first empty cell of each column, which makes the sum unique.
    """
    packed = state[0] + (state[0] | state[1]) + BOTTOM_ROW
    return rng.mix(np.uint64(packed | viewer << 60))


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(STATE_WORDS):
            worlds[world, word] = state[word]


def symmetries() -> Symmetries:
    """The board and its mirror image."""
    board = np.arange(CELLS).reshape(ROWS, COLUMNS)
    cells = np.array([board.ravel(), board[:, ::-1].ravel()])
    columns = np.arange(COLUMNS)
    return board_symmetries(cells, np.array([columns, columns[::-1]]), channels=2)


def spec() -> GameSpec:
    """Connect four has no options."""
    return GameSpec(
        name="connect4",
        players=2,
        rules=np.zeros(1, np.int64),
        state_words=STATE_WORDS,
        actions=COLUMNS,
        features=2 * CELLS,
        feature_dtype=np.uint8,
        planes=(2, ROWS, COLUMNS),
        max_legal=COLUMNS,
        max_decisions=CELLS,
        zero_sum=True,
        is_hidden=False,
        n_symmetries=2,
        symmetries=symmetries,
        kernels=KERNELS,
        entry_module="asyncplay.search.entries.connect4",
        show_module="asyncplay.games.show.connect4",
    )


KERNELS = Kernels(
    name="connect4",
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
