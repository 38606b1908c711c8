"""Turns of RingRift: the phases in their order, what each offers and what its decisions do."""

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.kernels import body, helper, kernel
from asyncplay.games.ringrift.endings import check_end_of_turn, check_limit, check_start_of_turn
from asyncplay.games.ringrift.layout import (
    CAPTURING,
    CELLS,
    CHAINING,
    CHANGED,
    CHOOSING_LINE,
    CHOOSING_SLID_LINE,
    CLAIMING,
    CREDITS,
    DECISIONS,
    ELIMINATING,
    EMPTY,
    EXTRACTING,
    EXTRACTING_CLAIM,
    FINISHED,
    FOCUS,
    GO,
    GOING_ON,
    GONE,
    HANDS,
    HAS_SWAP,
    MOVING,
    N_CELLS,
    NOWHERE,
    OFF,
    PAYING_CLAIM,
    PAYING_LINE,
    PHASE,
    PLACING,
    PLAYERS,
    RECOVERED,
    RECOVERING,
    RESULT,
    RINGS,
    SKIP,
    STEPS,
    SWAP,
    SWAPPED,
    TURN,
    TURNS,
    WIDTH,
    cap_of,
    claim_plane,
    controls_any,
    global_action,
    has_buried,
    is_controlled,
    is_on_board,
    pay_plane,
    slide_plane,
    without_top,
)
from asyncplay.games.ringrift.lines import collapse_line, has_line, list_lines
from asyncplay.games.ringrift.movement import (
    CAPTURES,
    MOVES,
    can_go,
    can_move,
    can_place,
    go,
    list_moves,
    list_placements,
    place,
)
from asyncplay.games.ringrift.recovery import (
    LINE_FORMING,
    NOT_OFFERED,
    extract,
    has_any_buried,
    is_eligible,
    list_slides,
    slide,
    slides_offered,
)
from asyncplay.games.ringrift.territory import claim, list_claims
from asyncplay.games.spec import GAME_OVER

# Parts of a turn; numpy's, as numba compiles a function once more for each plain constant that is passed to it
START, PLACEMENT, MOVEMENT, LINES, TERRITORY, ELIMINATION, END = (np.int64(part) for part in range(7))


@kernel(contract.RESET)
def reset(rules, state):
    """All rings in hand, the first seat to place; it holds last-player-standing, as it has a real action."""
    for word in range(CELLS):
        state[word] = 0
    for cell in range(rules[N_CELLS]):
        state[CELLS + cell] = EMPTY if is_on_board(rules, cell) else OFF
    for seat in range(rules[PLAYERS]):
        state[HANDS + seat] = rules[RINGS]
    state[PHASE], state[FOCUS], state[TURNS] = PLACING, NOWHERE, 1


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """The player who holds the seat to act."""
    return state[TURN] ^ state[SWAPPED] if state[RESULT] == GOING_ON else GAME_OVER


@helper
def can_swap(rules, state):
    """Whether sides may be swapped: at the start of the second seat's first turn, once."""
    return rules[HAS_SWAP] != 0 and state[TURNS] == 2 and state[PHASE] == PLACING and state[SWAPPED] == 0


@body
def may_skip(rules, state):
    """Whether the phase offers a skip besides what else it offers."""
    if state[PHASE] == PLACING:
        return can_move(rules, state, state[TURN]) or is_eligible(rules, state, state[TURN])
    return state[PHASE] in (CAPTURING, RECOVERING, CLAIMING)


@body
def list_payers(rules, state, is_extraction, actions):
    """Write the stacks of which one pays: those of the seat to act, or those with a buried ring of it."""
    count, first, seat = 0, pay_plane(rules) * rules[N_CELLS], state[TURN]
    for cell in range(rules[N_CELLS]):
        word = state[CELLS + cell]
        if has_buried(word, seat) if is_extraction else is_controlled(word, seat):
            actions[count] = first + cell
            count += 1
    return count


@kernel(contract.LEGAL, is_long=True)
def legal(rules, state, actions, room):
    """What the phase offers, then a skip where one is allowed, then the swap."""
    phase, count = state[PHASE], 0
    if phase == FINISHED:
        return 0
    if phase == PLACING:
        count = list_placements(rules, state, actions, room)
    elif phase in (MOVING, CAPTURING, CHAINING):
        kinds = MOVES | CAPTURES if phase == MOVING else CAPTURES
        count = list_moves(rules, state, state[FOCUS], kinds, actions, room)
    elif phase == RECOVERING:
        count = list_slides(rules, state, actions)
    elif phase in (CHOOSING_LINE, CHOOSING_SLID_LINE):
        count = list_lines(rules, state, state[FOCUS], actions)
    elif phase == CLAIMING:
        count = list_claims(rules, state, actions, room, len(actions))
    else:
        count = list_payers(rules, state, phase in (EXTRACTING, EXTRACTING_CLAIM), actions)
    if may_skip(rules, state):
        actions[count] = global_action(rules, SKIP)
        count += 1
    if can_swap(rules, state):
        actions[count] = global_action(rules, SWAP)
        count += 1
    return count


@kernel(contract.PLAY, is_long=True)
def play(rules, state, action, room):
    """Take a decision, then go on to the next one that somebody has to take."""
    state[DECISIONS] += 1
    if action == global_action(rules, SWAP):
        state[SWAPPED] = 1
    elif action == global_action(rules, SKIP):
        go_on(rules, state, after_skip(state), room)
    else:
        phase, plane, cell = state[PHASE], action // rules[N_CELLS], action % rules[N_CELLS]
        state[CHANGED] = 1
        if phase == PLACING:
            place(state, cell, plane + 1)
            state[FOCUS], state[PHASE] = cell, MOVING
        elif phase in (MOVING, CAPTURING, CHAINING):
            move(rules, state, plane - GO, cell, room)
        elif phase == RECOVERING:
            recover(rules, state, plane - slide_plane(rules), cell, room)
        elif phase in (CHOOSING_LINE, CHOOSING_SLID_LINE):
            choose_line(rules, state, plane, cell, room)
        elif phase == CLAIMING:
            claim(rules, state, cell, plane - claim_plane(rules), room)
            state[PHASE] = EXTRACTING_CLAIM if state[RECOVERED] else PAYING_CLAIM
        else:
            pay(rules, state, cell, room)
    check_limit(rules, state)


@body
def after_skip(state):
    """The part of the turn that follows what is skipped."""
    if state[PHASE] == PLACING:
        return MOVEMENT
    return ELIMINATION if state[PHASE] == CLAIMING else LINES


@body
def move(rules, state, path, cell, room):
    """Move or capture along a path, direction * (width - 1) + distance - 1; then a capture may or must follow."""
    longest = rules[WIDTH] - 1
    direction, distance = path // longest, path % longest + 1
    is_capture = go(rules, state, cell, direction, distance)
    landing = cell + rules[STEPS + direction] * distance
    if is_controlled(state[CELLS + landing], state[TURN]) and can_go(rules, state, landing, CAPTURES):
        state[FOCUS], state[PHASE] = landing, CHAINING if is_capture else CAPTURING
    else:
        go_on(rules, state, LINES, room)


@body
def recover(rules, state, direction, cell, room):
    """Slide or strike; then a line or a buried ring is chosen."""
    is_line = slides_offered(rules, state) == LINE_FORMING
    slide(rules, state, cell, direction)
    state[RECOVERED] = 1
    if is_line:
        state[FOCUS], state[PHASE] = cell + rules[STEPS + direction], CHOOSING_SLID_LINE
    elif has_any_buried(rules, state, state[TURN]):
        state[PHASE] = EXTRACTING
    else:
        go_on(rules, state, LINES, room)


@body
def choose_line(rules, state, plane, cell, room):
    """Collapse; a whole line has its cost, if there is a stack to pay it."""
    is_slid, is_whole = state[PHASE] == CHOOSING_SLID_LINE, collapse_line(rules, state, plane, cell)
    state[FOCUS] = NOWHERE
    if is_whole and is_slid:
        state[PHASE] = EXTRACTING
    elif is_whole and controls_any(rules, state, state[TURN]):
        state[PHASE] = PAYING_LINE
    else:
        go_on(rules, state, LINES, room)


@body
def pay(rules, state, cell, room):
    """A stack pays what the phase asks for."""
    phase, word = state[PHASE], state[CELLS + cell]
    if phase in (EXTRACTING, EXTRACTING_CLAIM):
        extract(state, cell)
    else:
        n_rings = 1 if phase == PAYING_LINE else cap_of(word)
        state[CELLS + cell] = without_top(word, n_rings)
        state[CREDITS + state[TURN]] += n_rings
    if phase == ELIMINATING:
        go_on(rules, state, END, room)
    else:
        go_on(rules, state, TERRITORY if phase in (PAYING_CLAIM, EXTRACTING_CLAIM) else LINES, room)


@body
def moving_phase(rules, state):
    """The phase of a movement that offers something, or FINISHED."""
    seat = state[TURN]
    if can_move(rules, state, seat):
        return MOVING
    if is_eligible(rules, state, seat) and slides_offered(rules, state) != NOT_OFFERED:
        return RECOVERING
    return FINISHED


@body
def offered_phase(rules, state, part, room):
    """The phase in which the seat to act decides in a part of its turn, or FINISHED where the part is passed."""
    seat, phase = state[TURN], FINISHED
    if part == PLACEMENT and can_place(rules, state, seat):
        phase = PLACING
    elif part == MOVEMENT:
        phase = moving_phase(rules, state)
    elif part == LINES and has_line(rules, state):
        phase = CHOOSING_LINE
    elif part == TERRITORY and list_claims(rules, state, room[2 * rules[N_CELLS] :], room, 1) > 0:
        phase = CLAIMING
    elif part == ELIMINATION and state[CHANGED] == 0 and controls_any(rules, state, seat):
        phase = ELIMINATING
    return phase


@kernel(contract.PLAY, is_long=True)
def go_on(rules, state, part, room):
    """Go on from a part of the turn to the next decision, through all that is passed, or to the end of the game."""
    state[FOCUS] = NOWHERE
    while True:
        if part == START and check_start_of_turn(rules, state):
            return
        if part == END:
            if check_end_of_turn(rules, state):
                return
            begin_turn(rules, state)
            part = START
            continue
        phase = offered_phase(rules, state, part, room)
        if phase != FINISHED:
            state[PHASE] = phase
            return
        part += 1


@body
def begin_turn(rules, state):
    """The next seat that has a ring anywhere is to act."""
    seat = (state[TURN] + 1) % rules[PLAYERS]
    while state[GONE + seat] != 0:
        seat = (seat + 1) % rules[PLAYERS]
    state[TURN] = seat
    state[TURNS] += 1
    state[CHANGED] = state[RECOVERED] = 0
