"""Tic-tac-toe rules.

A state is int64[4]. Words 0 and 1 are the cells of seat 0 and seat 1 as bit sets: bit c is cell c, row
by row; word 2 counts the decisions so far, so its last bit is the seat to move; word 3 is the RESULT:
GOING_ON, WON by the seat that moved last, or DRAWN. An action is a cell number.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, helper, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import GAME_OVER, GameSpec, Symmetries, board_symmetries

STATE_WORDS, DECISIONS, RESULT = 4, 2, 3
GOING_ON, WON, DRAWN = 0, 1, 2
CELLS, SIDE = 9, 3
OPTIONS: tuple[GameOption, ...] = ()
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)


@helper
def has_line(cells):
    """Say whether a bit set of cells holds one of the eight lines."""
    found = False
    for line in LINES:
        found |= cells & line == line
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
    """Write the empty cells into ``actions`` int32[9], ascending; return how many there are."""
    count = 0
    if state[RESULT] == GOING_ON:
        taken = state[0] | state[1]
        for cell in range(CELLS):
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
    if has_line(state[seat]):
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
    """Two planes of 3 x 3: the viewer's cells, the other's."""
    for cell in range(CELLS):
        features[cell] = (state[viewer] >> cell) & 1
        features[CELLS + cell] = (state[1 - viewer] >> cell) & 1


@kernel(contract.KEY)
def key(rules, state, viewer):
    """Both bit sets side by side, mixed, with the viewer."""
    return rng.mix(np.uint64(state[0] | state[1] << CELLS | viewer << 2 * CELLS))


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(STATE_WORDS):
            worlds[world, word] = state[word]


def symmetries() -> Symmetries:
    """Four turns of the board, each plain and mirrored."""
    board = np.arange(CELLS).reshape(SIDE, SIDE)
    turned = [np.rot90(side, turns).ravel() for side in (board, board[:, ::-1]) for turns in range(4)]
    return board_symmetries(np.array(turned), np.argsort(turned, axis=1), channels=2)


def spec() -> GameSpec:
    """Tic-tac-toe has no options."""
    return GameSpec(
        name="tictactoe",
        players=2,
        rules=np.zeros(1, np.int64),
        state_words=STATE_WORDS,
        actions=CELLS,
        features=2 * CELLS,
        feature_dtype=np.uint8,
        planes=(2, SIDE, SIDE),
        max_legal=CELLS,
        max_decisions=CELLS,
        zero_sum=True,
        is_hidden=False,
        n_symmetries=8,
        symmetries=symmetries,
        kernels=KERNELS,
        entry_module="asyncplay.search.entries.tictactoe",
        show_module="asyncplay.games.show.tictactoe",
    )


KERNELS = Kernels(
    name="tictactoe",
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
