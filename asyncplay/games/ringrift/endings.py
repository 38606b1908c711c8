"""How a game ends: the checks when a turn ends, last-player-standing when one starts, and the final ranks."""

from asyncplay.games import spec as contract
from asyncplay.games.kernels import body, helper, kernel, routine
from asyncplay.games.ringrift.layout import (
    BY_EARLY_STANDING,
    BY_ELIMINATION,
    BY_MAX_MOVES,
    BY_STALEMATE,
    BY_STANDING,
    BY_TERRITORY,
    CELLS,
    COUNT,
    CREDITS,
    DECISIONS,
    FINISHED,
    GOING_ON,
    GONE,
    HANDS,
    HOLDER,
    IS_STACK,
    LIMIT,
    MINIMUM,
    N_CELLS,
    NOBODY,
    PHASE,
    PLAYERS,
    RANKS,
    RESULT,
    ROUNDS,
    SWAPPED,
    TERRITORIES,
    THRESHOLD,
    TURN,
    TURNS,
    colours_on_board,
    count_markers,
    top_of,
)
from asyncplay.games.ringrift.movement import can_place, has_real_action

REASONS = (
    "ring_elimination",
    "territory",
    "early_last_player_standing",
    "last_player_standing",
    "stalemate",
    contract.BY_LIMIT,
)


@routine
def finish(rules, state, reason, winner):
    """End the game with ranks: the winner, then by territory, credit, markers and time of elimination."""
    state[RESULT], state[PHASE] = 1 + reason, FINISHED
    for seat in range(rules[PLAYERS]):
        rank = 1
        for other in range(rules[PLAYERS]):
            rank += other != seat and is_ahead(rules, state, other, seat, winner)
        state[RANKS + seat] = rank


@body
def is_ahead(rules, state, one, other, winner):
    """Whether one seat ranks before another."""
    if winner in (one, other):
        return winner == one
    lead = lead_of(rules, state, one, other)
    if lead == 0 and state[GONE + one] != state[GONE + other]:
        return state[GONE + one] == 0 or state[GONE + one] > state[GONE + other] > 0
    return lead > 0


@routine
def lead_of(rules, state, one, other):
    """By how much one seat has more territory than another; if as much, more credit; if that too, more markers."""
    lead = state[TERRITORIES + one] - state[TERRITORIES + other]
    if lead == 0:
        lead = state[CREDITS + one] - state[CREDITS + other]
    if lead == 0:
        lead = count_markers(rules, state, one) - count_markers(rules, state, other)
    return lead


@helper
def has_rings(state, seat, on_board):
    """Whether a seat has a ring anywhere; ``on_board``: the colours that have one there."""
    return state[HANDS + seat] > 0 or (on_board >> seat) & 1 == 1


@body
def note_elimination(rules, state, on_board):
    """Note which seats have no ring left as this turn ends."""
    for seat in range(rules[PLAYERS]):
        if state[GONE + seat] == 0 and not has_rings(state, seat, on_board):
            state[GONE + seat] = state[TURNS]


@body
def has_territory_to_win(rules, state, seat):
    """Enough of it, and more than all others together."""
    others = -state[TERRITORIES + seat]
    for other in range(rules[PLAYERS]):
        others += state[TERRITORIES + other]
    return state[TERRITORIES + seat] >= rules[MINIMUM] and state[TERRITORIES + seat] > others


@body
def controllers_on_board(rules, state):
    """The set of seats that control a stack."""
    controllers = 0
    for cell in range(rules[N_CELLS]):
        if state[CELLS + cell] >= IS_STACK:
            controllers |= 1 << top_of(state[CELLS + cell])
    return controllers


@body
def sole_survivor(rules, state, controllers, on_board):
    """The only seat that controls stacks, if no other has a ring anywhere; else NOBODY."""
    for seat in range(rules[PLAYERS]):
        if controllers == 1 << seat:
            for other in range(rules[PLAYERS]):
                if other != seat and has_rings(state, other, on_board):
                    return NOBODY
            return seat
    return NOBODY


@body
def check_end_of_turn(rules, state):
    """Checks 1, 2, 3 and 5 of the rules, in this order; return whether the game is over."""
    on_board = colours_on_board(rules, state)
    note_elimination(rules, state, on_board)
    if state[CREDITS + state[TURN]] >= rules[THRESHOLD]:
        finish(rules, state, BY_ELIMINATION, state[TURN])
        return True
    for seat in range(rules[PLAYERS]):
        if has_territory_to_win(rules, state, seat):
            finish(rules, state, BY_TERRITORY, seat)
            return True
    controllers = controllers_on_board(rules, state)
    survivor = sole_survivor(rules, state, controllers, on_board)
    if survivor != NOBODY:
        finish(rules, state, BY_EARLY_STANDING, survivor)
        return True
    if controllers == 0:
        return check_stalemate(rules, state)
    return False


@body
def check_stalemate(rules, state):
    """Without stacks: if nobody can place, rings in hand count as credit and the best seat wins."""
    for seat in range(rules[PLAYERS]):
        if can_place(rules, state, seat):
            return False
    for seat in range(rules[PLAYERS]):
        state[CREDITS + seat] += state[HANDS + seat]
        state[HANDS + seat] = 0
    best = state[TURN]
    for seat in range(rules[PLAYERS]):
        if lead_of(rules, state, seat, best) > 0:
            best = seat
    finish(rules, state, BY_STALEMATE, best)
    return True


@body
def check_start_of_turn(rules, state):
    """Last-player-standing, check 4; return whether the game is over."""
    seat = state[TURN]
    if not has_real_action(rules, state, seat):
        if state[HOLDER] == seat:
            state[HOLDER], state[COUNT] = NOBODY, 0
        return False
    if state[HOLDER] != seat:
        state[HOLDER], state[COUNT] = seat, 0
        return False
    state[COUNT] += 1
    if state[COUNT] < rules[ROUNDS]:
        return False
    for other in range(rules[PLAYERS]):
        if other != seat and has_real_action(rules, state, other):
            return False
    finish(rules, state, BY_STANDING, seat)
    return True


@body
def check_limit(rules, state):
    """A game that is not over after its last decision ends without a winner."""
    if state[RESULT] == GOING_ON and state[DECISIONS] >= rules[LIMIT]:
        state[RESULT], state[PHASE] = 1 + BY_MAX_MOVES, FINISHED


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """1 for the first, -1 for the last, evenly between; 0 until the end and at the limit."""
    players = rules[PLAYERS]
    for seat in range(players):
        rank = state[RANKS + seat]
        gains[seat ^ state[SWAPPED]] = 1.0 - 2.0 * (rank - 1) / (players - 1) if rank > 0 else 0.0


@kernel(contract.WHY)
def why(rules, state):
    """One of the REASONS."""
    return state[RESULT] - 1
