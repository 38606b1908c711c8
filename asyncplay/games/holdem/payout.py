"""Who gets the chips at the end of a hand of hold'em: main pot, side pots, ties and odd chips."""

from asyncplay.games import spec as contract
from asyncplay.games.holdem.layout import HANDS, MOVER, PAID, PLAYERS, board_of, count_in, is_in
from asyncplay.games.holdem.strength import strength
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import GAME_OVER

NO_LEVEL = -1


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """What each seat wins or loses in chips; 0 until the hand is over.

    Neighbouring pots with the same winners are one: it matters where a chip does not divide.
    """
    for seat in range(rules[PLAYERS]):
        gains[seat] = 0.0
    if state[MOVER] != GAME_OVER:
        return
    below, pot, winners = 0, 0, 0
    level = next_level(rules, state, below)
    while level != NO_LEVEL:
        takers = best_of(rules, state, level)
        if takers != winners:
            share(rules, gains, pot, winners)
            pot, winners = 0, takers
        pot += pot_between(rules, state, below, level)
        below = level
        level = next_level(rules, state, below)
    share(rules, gains, pot, winners)
    for seat in range(rules[PLAYERS]):
        gains[seat] -= state[PAID + seat]


@helper
def next_level(rules, state, below):
    """The least amount above ``below`` that a seat still in has paid; a pot ends there."""
    level = NO_LEVEL
    for seat in range(rules[PLAYERS]):
        paid = state[PAID + seat]
        if is_in(state, seat) and paid > below and (level == NO_LEVEL or paid < level):
            level = paid
    return level


@helper
def pot_between(rules, state, below, level):
    """The chips that all seats, folded ones too, paid between two levels."""
    pot = 0
    for seat in range(rules[PLAYERS]):
        pot += min(state[PAID + seat], level) - min(state[PAID + seat], below)
    return pot


@helper
def best_of(rules, state, level):
    """Set of the seats with the best hand among those who paid up to this level; nothing is shown to a single one."""
    board, best, seats = board_of(state), -1, 0
    is_shown = count_in(rules, state) > 1
    for seat in range(rules[PLAYERS]):
        if is_in(state, seat) and state[PAID + seat] >= level:
            worth = strength(board | state[HANDS + seat]) if is_shown else 0
            if worth > best:
                best, seats = worth, 0
            seats |= (1 << seat) if worth == best else 0
    return seats


@helper
def share(rules, gains, pot, winners):
    """Divide a pot among a set of seats; all odd chips go to the lowest seat, the first left of the button."""
    count = 0
    for seat in range(rules[PLAYERS]):
        count += (winners >> seat) & 1
    odd = pot % count if count else 0
    for seat in range(rules[PLAYERS]):
        if (winners >> seat) & 1:
            gains[seat] += pot // count + odd
            odd = 0
