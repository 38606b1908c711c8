"""Lines of markers: which there are, which choices they leave, and what a choice collapses."""

from asyncplay.games.kernels import body, helper
from asyncplay.games.ringrift.boards import MOST_DIRECTIONS
from asyncplay.games.ringrift.layout import (
    CELLS,
    LINE,
    MARKER,
    N_AXES,
    N_CELLS,
    N_DIRECTIONS,
    RAYS,
    STEPS,
    TURN,
    collapse,
    part_plane,
    whole_plane,
)


@helper
def run_length(rules, state, cell, direction, seat):
    """Markers of a seat in a row behind a cell, in a direction; the cell itself is not counted."""
    step, length = rules[STEPS + direction], rules[RAYS + MOST_DIRECTIONS * cell + direction]
    count = 0
    while count < length and state[CELLS + cell + step * (count + 1)] == MARKER + seat:
        count += 1
    return count


@body
def forms_line(rules, state, cell, direction, seat):
    """Whether the marker on a cell would lie in a line that is long enough once it went a step."""
    n_axes, destination = rules[N_AXES], cell + rules[STEPS + direction]
    for axis in range(n_axes):
        length = run_length(rules, state, destination, axis + n_axes, seat) + 1
        length += run_length(rules, state, destination, axis, seat)
        if axis == direction % n_axes:  # the run behind it has lost the marker that went
            length -= 1 + run_length(rules, state, cell, (direction + n_axes) % rules[N_DIRECTIONS], seat)
        if length >= rules[LINE]:
            return True
    return False


@body
def has_line(rules, state):
    """Whether the seat to act has a line to process."""
    n_axes, seat = rules[N_AXES], state[TURN]
    for cell in range(rules[N_CELLS]):
        if state[CELLS + cell] == MARKER + seat:
            for axis in range(n_axes):
                if run_length(rules, state, cell, axis, seat) + 1 >= rules[LINE]:
                    return True
    return False


@body
def runs_through(rules, cell, axis, before, after, focus):  # noqa: PLR0917  # kernels take no keywords
    """Whether a line that reaches so far before and after a cell has the focus in it."""
    for place in range(-before, after + 1):
        if cell + rules[STEPS + axis] * place == focus:
            return True
    return False


@body
def list_lines(rules, state, focus, actions):
    """Write the choices of the seat to act over all its lines, or those through ``focus`` unless it is below 0."""
    n_cells, n_axes, seat, needed, count = rules[N_CELLS], rules[N_AXES], state[TURN], rules[LINE], 0
    for is_part in range(2):
        first = part_plane(rules) if is_part else whole_plane(rules)
        for axis in range(n_axes):
            for cell in range(n_cells):
                if state[CELLS + cell] != MARKER + seat:
                    continue
                before = run_length(rules, state, cell, axis + n_axes, seat)
                after = run_length(rules, state, cell, axis, seat)
                length = before + 1 + after
                is_choice = length > needed and after + 1 >= needed if is_part else length >= needed and before == 0
                if is_choice and (focus < 0 or runs_through(rules, cell, axis, before, after, focus)):
                    actions[count] = (first + axis) * n_cells + cell
                    count += 1
    return count


@body
def collapse_line(rules, state, plane, cell):
    """Collapse a whole line or a part; return whether it was a whole one, which has a cost."""
    is_whole = plane < part_plane(rules)
    axis = plane - whole_plane(rules) if is_whole else plane - part_plane(rules)
    after = run_length(rules, state, cell, axis, state[TURN]) if is_whole else rules[LINE] - 1
    for place in range(after + 1):
        collapse(state, cell + rules[STEPS + axis] * place)
    return is_whole
