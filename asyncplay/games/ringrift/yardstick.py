"""A fixed opponent for RingRift: the one-ply player of the rules, without chance."""

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.kernels import body, helper, kernel
from asyncplay.games.ringrift.layout import (
    BY_MAX_MOVES,
    CELLS,
    CREDITS,
    GOING_ON,
    IS_STACK,
    MARKER,
    MINIMUM,
    N_CELLS,
    N_DIRECTIONS,
    PLAYERS,
    RANKS,
    RESULT,
    SWAPPED,
    TERRITORIES,
    THRESHOLD,
    TURN,
    cap_of,
    top_of,
)
from asyncplay.games.ringrift.turns import legal, play

UNITS = 200  # of a point: stacks, caps and markers count in two-hundredths
WIN = 10 * UNITS


def room_words(n_cells: int, n_directions: int, state_words: int, max_legal: int) -> int:
    """Of all kernels: those of the rules need a word a cell and direction, and one more; behind them this player puts
    a position and its legal actions, two a word."""
    return (1 + n_directions) * n_cells + state_words + (max_legal + 1) // 2


@helper
def scale(rules):
    """What makes every score a whole number, so that equal ones are equal to the last bit."""
    return rules[MINIMUM] * rules[THRESHOLD]


@helper
def worth(rules, state, seat):
    """Territory and credit as parts of what wins, then stacks, caps and markers as small change; scaled."""
    n_stacks, caps, n_markers = 0, 0, 0
    for cell in range(rules[N_CELLS]):
        word = state[CELLS + cell]
        if word >= IS_STACK and top_of(word) == seat:
            n_stacks += 1
            caps += cap_of(word)
        n_markers += word == MARKER + seat
    main = state[TERRITORIES + seat] * rules[THRESHOLD] + state[CREDITS + seat] * rules[MINIMUM]
    return 2 * UNITS * main + (4 * n_stacks + 2 * caps + n_markers) * scale(rules)


@body
def score(rules, state, seat):
    """How a position looks to a seat, scaled."""
    if state[RESULT] == 1 + BY_MAX_MOVES:
        return 0
    if state[RESULT] != GOING_ON:
        return (WIN if state[RANKS + seat] == 1 else -WIN) * scale(rules)
    best = 0  # no worth is negative
    for other in range(rules[PLAYERS]):
        if other != seat:
            best = max(best, worth(rules, state, other))
    return worth(rules, state, seat) - best


@kernel(contract.ADVISE)
def advise(rules, state, room):
    """The action after which the position has the highest score; the first of several."""
    start = (1 + rules[N_DIRECTIONS]) * rules[N_CELLS]
    after, actions = room[start : start + len(state)], room[start + len(state) :].view(np.int32)
    n_actions, best, best_score = legal(rules, state, actions, room), -1, 0
    for i in range(n_actions):
        action = np.int64(actions[i])
        for word in range(len(state)):
            after[word] = state[word]
        play(rules, after, action, room)
        seat = state[TURN] ^ state[SWAPPED] ^ after[SWAPPED]  # who swaps sides sits at the other one
        found = score(rules, after, seat)
        if best < 0 or found > best_score:
            best, best_score = action, found
    return best
