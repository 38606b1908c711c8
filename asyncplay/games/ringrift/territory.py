"""Regions: flood fills, which regions may be claimed, and what a claim takes."""

from asyncplay.games.kernels import body, helper, routine
from asyncplay.games.ringrift.boards import MOST_DIRECTIONS
from asyncplay.games.ringrift.layout import (
    CELLS,
    COLLAPSED,
    CREDITS,
    IS_HEXAGONAL,
    IS_STACK,
    MARKER,
    N_AXES,
    N_CELLS,
    N_DIRECTIONS,
    NO_BORDER,
    OFF,
    PLAYERS,
    RAYS,
    RECOVERED,
    STEPS,
    TURN,
    claim_plane,
    collapse,
    colours_on_board,
    has_buried,
    has_neighbour,
    height_of,
    is_controlled,
    top_of,
)

NO_MARKER = -1


@body
def is_adjacent(rules, direction):
    """Whether territory is connected in this direction: on squares not along diagonals."""
    return rules[IS_HEXAGONAL] != 0 or direction % rules[N_AXES] < 2


@helper
def border_marker(rules, state, border):
    """The word of markers of a border colour, counted from the seat to act; NO_MARKER for NO_BORDER."""
    return NO_MARKER if border == NO_BORDER else MARKER + (state[TURN] + border) % rules[PLAYERS]


@helper
def can_pay(state, word):
    """Whether the stack on a cell may pay for a claim of the seat to act."""
    return has_buried(word, state[TURN]) if state[RECOVERED] else is_controlled(word, state[TURN])


@body
def count_payers(rules, state):
    """Stacks that may pay for a claim."""
    count = 0
    for cell in range(rules[N_CELLS]):
        count += can_pay(state, state[CELLS + cell])
    return count


@routine
def flood(rules, state, first, marker, room):
    """Find the region of a cell between collapsed cells and these markers. Room: a 0 or 1 for each cell, all 0 before
    the first call, then the cells of the region; return how many, and whether a marker borders on them."""
    n_cells, n_found, done, has_border = rules[N_CELLS], 1, 0, False
    queue = room[n_cells:]
    queue[0], room[first] = first, 1
    while done < n_found:
        cell = queue[done]
        done += 1
        for direction in range(rules[N_DIRECTIONS]):
            if rules[RAYS + MOST_DIRECTIONS * cell + direction] > 0 and is_adjacent(rules, direction):
                other = cell + rules[STEPS + direction]
                word = state[CELLS + other]
                if word == marker:
                    has_border = True
                elif room[other] == 0 and not COLLAPSED <= word <= OFF:
                    queue[n_found], room[other] = other, 1
                    n_found += 1
    return n_found, has_border


@helper
def forget_regions(rules, room):
    """Make the room ready for regions of another border."""
    for cell in range(rules[N_CELLS]):
        room[cell] = 0


@body
def is_claimable(rules, state, n_region, active, n_payers, room):  # noqa: PLR0917  # kernels take no keywords
    """Whether not all active colours control a stack in the region just found, and a stack outside can pay."""
    region, controllers, n_inside = room[rules[N_CELLS] :], 0, 0
    for i in range(n_region):
        word = state[CELLS + region[i]]
        if word >= IS_STACK:
            controllers |= 1 << top_of(word)
            n_inside += can_pay(state, word)
    return controllers != active and n_inside < n_payers


@routine
def list_claims(rules, state, actions, room, most):
    """Write the claims of the seat to act, ``most`` of them at most; return how many."""
    n_payers, active, count = count_payers(rules, state), colours_on_board(rules, state), 0
    if n_payers == 0:
        return 0
    for border in range(NO_BORDER + 1):
        if rules[PLAYERS] <= border < NO_BORDER:
            continue
        marker, plane = border_marker(rules, state, border), claim_plane(rules) + border
        forget_regions(rules, room)
        for cell in range(rules[N_CELLS]):
            word = state[CELLS + cell]
            if room[cell] != 0 or word == marker or COLLAPSED <= word <= OFF:
                continue
            n_region, has_border = flood(rules, state, cell, marker, room)
            is_candidate = has_border or border == NO_BORDER
            if is_candidate and is_claimable(rules, state, n_region, active, n_payers, room):
                actions[count] = plane * rules[N_CELLS] + cell
                count += 1
                if count == most:
                    return count
    return count


@body
def claim(rules, state, cell, border, room):
    """Take a region with the markers around it, and eliminate the rings in it."""
    marker = border_marker(rules, state, border)
    forget_regions(rules, room)
    n_region, _ = flood(rules, state, cell, marker, room)
    region = room[rules[N_CELLS] :]
    for i in range(n_region):
        word = state[CELLS + region[i]]
        if word >= IS_STACK:
            state[CREDITS + state[TURN]] += height_of(word)
        collapse(state, region[i])
    for i in range(n_region):
        for direction in range(rules[N_DIRECTIONS]):
            if has_neighbour(rules, region[i], direction):
                other = region[i] + rules[STEPS + direction]
                if state[CELLS + other] == marker:
                    collapse(state, other)
