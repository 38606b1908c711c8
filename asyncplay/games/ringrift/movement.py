"""Placements, moves and captures: what is legal and what it does."""

import numpy as np

from asyncplay.games.kernels import body, helper, routine
from asyncplay.games.ringrift.boards import MOST_DIRECTIONS
from asyncplay.games.ringrift.layout import (
    CELLS,
    COLLAPSED,
    CREDITS,
    EMPTY,
    GO,
    HANDS,
    IS_STACK,
    MARKER,
    MOST_PLACED,
    N_CELLS,
    N_DIRECTIONS,
    RAYS,
    STEPS,
    TURN,
    WIDTH,
    cap_of,
    collapse,
    height_of,
    is_controlled,
    top_of,
    with_bottom,
    with_top,
    without_top,
)

MOVES, CAPTURES = 1, 2  # kinds


@routine
def reach(rules, state, cell, direction, height, cap):  # noqa: PLR0917  # kernels take no keywords
    """Where a stack could go from a cell in a direction: two sets of distances, of plain moves and of captures."""
    step, length = rules[STEPS + direction], rules[RAYS + MOST_DIRECTIONS * cell + direction]
    moves, captures, distance, at = np.int64(0), np.int64(0), np.int64(1), CELLS + cell + step
    while distance <= length and state[at] < COLLAPSED:
        if distance >= height:
            moves |= 1 << distance
        distance += 1
        at += step
    if distance <= length and state[at] >= IS_STACK and cap_of(state[at]) <= cap:
        distance += 1
        at += step
        while distance <= length and state[at] < COLLAPSED:
            if distance >= height:
                captures |= 1 << distance
            distance += 1
            at += step
    return moves, captures


@helper
def distances(rules, state, cell, direction, kinds):
    """Where the stack on a cell may go in a direction by moves, captures or both: a set of distances."""
    word = state[CELLS + cell]
    moves, captures = reach(rules, state, cell, direction, height_of(word), cap_of(word))
    return (moves if kinds & MOVES else 0) | (captures if kinds & CAPTURES else 0)


@routine
def can_go(rules, state, cell, kinds):
    """Whether the stack on a cell has a move, a capture or either."""
    for direction in range(rules[N_DIRECTIONS]):
        if distances(rules, state, cell, direction, kinds) != 0:
            return True
    return False


@routine
def can_move(rules, state, seat):
    """Whether some stack of a seat has a legal move or capture."""
    for cell in range(rules[N_CELLS]):
        if is_controlled(state[CELLS + cell], seat) and can_go(rules, state, cell, MOVES | CAPTURES):
            return True
    return False


@body
def counts_on_empty(rules, state, cell, most):
    """How many of 1 .. ``most`` rings a new stack on an empty cell may have, so that it can go on from there: a set.

    A new stack is all cap. In a direction with f free cells it may have up to f rings. Over a stack behind those, with
    free cells up to distance g beyond it, it may have from that stack's cap height up to g.
    """
    counts, wanted = 0, (1 << (most + 1)) - 2
    for direction in range(rules[N_DIRECTIONS]):
        step, length = rules[STEPS + direction], rules[RAYS + MOST_DIRECTIONS * cell + direction]
        distance, at = 1, CELLS + cell + step
        while distance <= length and distance <= most and state[at] < COLLAPSED:
            counts |= 1 << distance
            distance += 1
            at += step
        if counts & wanted == wanted:
            return wanted
        if distance <= length and distance <= most and state[at] >= IS_STACK:
            cap, beyond = cap_of(state[at]), distance
            while beyond < length and beyond <= most and state[at + step] < COLLAPSED:
                beyond += 1
                at += step
            if beyond > distance:
                for count in range(cap, beyond + 1):
                    counts |= 1 << count
    return counts & wanted


@body
def can_place_on(rules, state, cell, seat):
    """Whether a stack with one more ring of this seat could go on."""
    word = state[CELLS + cell]
    height, cap = height_of(word) + 1, cap_of(word) + 1 if top_of(word) == seat else 1
    for direction in range(rules[N_DIRECTIONS]):
        moves, captures = reach(rules, state, cell, direction, height, cap)
        if moves | captures != 0:
            return True
    return False


@routine
def placements(rules, state, cell, seat):
    """How many rings a seat, with some in hand, may place on a cell: a set of numbers."""
    word = state[CELLS + cell]
    if word == EMPTY:
        return counts_on_empty(rules, state, cell, min(state[HANDS + seat], MOST_PLACED))
    if word >= IS_STACK and can_place_on(rules, state, cell, seat):
        return 1 << 1
    return 0


@routine
def can_place(rules, state, seat):
    """Whether a seat has a legal placement."""
    if state[HANDS + seat] == 0:
        return False
    for cell in range(rules[N_CELLS]):
        if placements(rules, state, cell, seat) != 0:
            return True
    return False


@helper
def has_real_action(rules, state, seat):
    """A placement, move or capture if its turn started here."""
    return can_place(rules, state, seat) or can_move(rules, state, seat)


@body
def list_placements(rules, state, actions, room):
    """Write the placements of the seat to act; return how many."""
    n_cells, seat, count = rules[N_CELLS], state[TURN], 0
    for cell in range(n_cells):
        room[cell] = placements(rules, state, cell, seat)
    for n_rings in range(1, MOST_PLACED + 1):
        for cell in range(n_cells):
            if (room[cell] >> n_rings) & 1:
                actions[count] = (n_rings - 1) * n_cells + cell
                count += 1
    return count


@body
def list_moves(rules, state, only, kinds, actions, room):  # noqa: PLR0917
    """Write the moves and captures of the seat to act, of the stack on cell ``only`` unless it is below 0.

    ``room`` gets the cells of the stacks, then for each direction and stack a set of distances.
    """
    n_cells, n_stacks = rules[N_CELLS], 0
    for cell in range(n_cells):
        if is_controlled(state[CELLS + cell], state[TURN]) and (only < 0 or only == cell):
            room[n_stacks] = cell
            for direction in range(rules[N_DIRECTIONS]):
                room[(direction + 1) * n_cells + n_stacks] = distances(rules, state, cell, direction, kinds)
            n_stacks += 1
    count, plane = 0, GO
    for direction in range(rules[N_DIRECTIONS]):
        sets = room[(direction + 1) * n_cells :]
        for distance in range(1, rules[WIDTH]):
            for stack in range(n_stacks):
                if (sets[stack] >> distance) & 1:
                    actions[count] = plane * n_cells + room[stack]
                    count += 1
            plane += 1
    return count


@body
def place(state, cell, n_rings):
    """Put rings from the hand of the seat to act on a cell."""
    for _ in range(n_rings):
        state[CELLS + cell] = with_top(state[CELLS + cell], state[TURN])
    state[HANDS + state[TURN]] -= n_rings


@body
def go(rules, state, cell, direction, distance):
    """Take a stack so far; what it meets on the way it flips, collapses or captures. Return whether it captured."""
    step, seat, is_capture = rules[STEPS + direction], state[TURN], False
    mover = state[CELLS + cell]
    state[CELLS + cell] = MARKER + seat
    for passed in range(1, distance):
        at = cell + step * passed
        word = state[CELLS + at]
        if word == MARKER + seat:
            collapse(state, at)
        elif word >= IS_STACK:
            mover, is_capture = with_bottom(mover, top_of(word)), True
            state[CELLS + at] = without_top(word, 1)
        elif word != EMPTY:
            state[CELLS + at] = MARKER + seat
    landing = cell + step * distance
    if state[CELLS + landing] != EMPTY:  # a marker, which is removed
        mover = without_top(mover, 1)
        state[CREDITS + seat] += 1
    state[CELLS + landing] = mover
    return is_capture
