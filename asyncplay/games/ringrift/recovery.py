"""Recovery: slides and strikes of a seat that controls no stack, and buried rings that pay for them."""

from asyncplay.games.kernels import body, helper, routine
from asyncplay.games.ringrift.layout import (
    CELLS,
    CREDITS,
    EMPTY,
    HAS_STRIKE,
    IS_STACK,
    MARKER,
    N_CELLS,
    N_DIRECTIONS,
    STEPS,
    TURN,
    bottommost,
    controls_any,
    count_markers,
    has_buried,
    has_neighbour,
    slide_plane,
    without_ring,
    without_top,
)
from asyncplay.games.ringrift.lines import forms_line

NOT_OFFERED, FALLBACK, LINE_FORMING = 0, 1, 2


@routine
def has_any_buried(rules, state, seat):
    """Whether a ring of this colour is buried somewhere."""
    for cell in range(rules[N_CELLS]):
        if has_buried(state[CELLS + cell], seat):
            return True
    return False


@helper
def is_eligible(rules, state, seat):
    """Whether a seat may recover, if there is a slide for it."""
    if controls_any(rules, state, seat) or count_markers(rules, state, seat) == 0:
        return False
    return has_any_buried(rules, state, seat)


@routine
def kind_of_slide(rules, state, cell, direction):
    """What a slide of the marker on a cell would be, by the rules for the seat to act; a strike is a fallback."""
    if not has_neighbour(rules, cell, direction):
        return NOT_OFFERED
    word = state[CELLS + cell + rules[STEPS + direction]]
    if word >= IS_STACK:
        return FALLBACK if rules[HAS_STRIKE] else NOT_OFFERED
    if word != EMPTY:
        return NOT_OFFERED
    return LINE_FORMING if forms_line(rules, state, cell, direction, state[TURN]) else FALLBACK


@routine
def slides_offered(rules, state):
    """The kind of slides that the seat to act is offered: those that form lines if there are such."""
    best = NOT_OFFERED
    for cell in range(rules[N_CELLS]):
        if state[CELLS + cell] == MARKER + state[TURN]:
            for direction in range(rules[N_DIRECTIONS]):
                best = max(best, kind_of_slide(rules, state, cell, direction))
                if best == LINE_FORMING:
                    return best
    return best


@body
def list_slides(rules, state, actions):
    """Write the slides and strikes of the seat to act; return how many."""
    offered, first, count = slides_offered(rules, state), slide_plane(rules), 0
    for direction in range(rules[N_DIRECTIONS]):
        for cell in range(rules[N_CELLS]):
            is_own = state[CELLS + cell] == MARKER + state[TURN]
            if is_own and kind_of_slide(rules, state, cell, direction) == offered:
                actions[count] = (first + direction) * rules[N_CELLS] + cell
                count += 1
    return count


@body
def slide(rules, state, cell, direction):
    """Take a marker one step; onto a stack it is lost and strikes the top ring."""
    destination = cell + rules[STEPS + direction]
    word = state[CELLS + destination]
    state[CELLS + cell] = EMPTY
    if word >= IS_STACK:
        state[CELLS + destination] = without_top(word, 1)
        state[CREDITS + state[TURN]] += 1
    else:
        state[CELLS + destination] = MARKER + state[TURN]


@body
def extract(state, cell):
    """Take the lowest ring of the seat to act out of a stack."""
    word = state[CELLS + cell]
    state[CELLS + cell] = without_ring(word, bottommost(word, state[TURN]))
    state[CREDITS + state[TURN]] += 1
