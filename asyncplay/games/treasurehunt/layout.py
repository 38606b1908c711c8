"""The words of the rules and of a position of treasurehunt.

rules: PLAYERS .. SHUFFLES, see below. state: TURN, PLACE, ORDER (8 words, the agents in the order of this turn),
POSITION (8, their cells), GAINS (8, what they have got), CELLS (size * size, row by row from the top), then for each
agent the frames that it saw when it acted, ``frames - 1`` of them, oldest first. A frame is a code for each cell of
the window, CODES_A_WORD in a word: 0 is a missing frame, else the plane of the cell + 1.
"""

from asyncplay.games.kernels import helper

MAX_PLAYERS = 8
PLAYERS, SIZE, WINDOW, FRAMES, TURNS, SPAWN_BELOW, SHUFFLES, RULES_WORDS = range(8)
"""SPAWN_BELOW: a cell becomes a gem if its draw of 53 bits is below; SHUFFLES: 1 for a fresh order every turn."""

TURN, PLACE, ORDER, POSITION, GAINS = 0, 1, 2, 2 + MAX_PLAYERS, 2 + 2 * MAX_PLAYERS
CELLS = 2 + 3 * MAX_PLAYERS

EMPTY, WALL, GEM, AGENT, SELF = range(5)
"""What a cell holds, and its plane in a frame; SELF is in frames alone."""
PLANES, ACTIONS = 5, 4
UP, DOWN, LEFT, RIGHT = range(ACTIONS)
GEM_REWARD, WALL_REWARD = 10, -1
CODES_A_WORD, CODE_BITS, CODE_MASK = 15, 4, 15


def frame_words(window: int) -> int:
    """Of a frame as codes."""
    return -(-window * window // CODES_A_WORD)


def state_words(players: int, size: int, window: int, frames: int) -> int:
    return CELLS + size * size + players * (frames - 1) * frame_words(window)


@helper
def words_of_frame(rules):
    return (rules[WINDOW] * rules[WINDOW] + CODES_A_WORD - 1) // CODES_A_WORD


@helper
def past_of(rules, agent):
    """Where the frames that an agent has seen begin."""
    return CELLS + rules[SIZE] * rules[SIZE] + agent * (rules[FRAMES] - 1) * words_of_frame(rules)
