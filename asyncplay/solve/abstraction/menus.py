"""The action abstraction of hold'em: which few raises are considered, by street, position and raise number.

A menu table is int64[4 streets, 2 positions, MOST_RAISES, 1 + MOST_SIZES]: how many sizes, NO_RAISE for no raise at
all, then the sizes in percent of the pot after a call, ascending. Raises beyond MOST_RAISES use the last row.
"""

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.menus import MOST_RAISES, MOST_SIZES, parse_menu
from asyncplay.config.tables import AbstractionSettings
from asyncplay.games.holdem.betting import all_in, least_raise, may_raise, to_call
from asyncplay.games.holdem.layout import (
    BETS,
    CALL,
    FOLD,
    LARGEST,
    MOVER,
    N_RAISES,
    PLAYERS,
    RAISE_TO,
    STREET,
    STREETS,
    behind,
    is_in,
    pot_of,
)
from asyncplay.games.kernels import helper

NO_RAISE = -1
OUT_OF_POSITION, IN_POSITION = 0, 1
MOST_ACTIONS = MOST_SIZES + 3  # fold, call and all-in besides
ALL_IN_PERCENT = 97  # a raise of this much of the stack is the all-in
STREET_NAMES = ("preflop", "flop", "turn", "river")


def menu_table(settings: AbstractionSettings) -> NDArray[np.int64]:
    """The menus of a configuration as kernels read them."""
    table = np.zeros((STREETS, 2, MOST_RAISES, 1 + MOST_SIZES), np.int64)
    for street, name in enumerate(STREET_NAMES):
        for position, suffix in ((OUT_OF_POSITION, "out"), (IN_POSITION, "in")):
            menus = parse_menu(getattr(settings, f"{name}_{suffix}"))
            for number in range(MOST_RAISES):
                menu, row = menus[min(number, len(menus) - 1)], table[street, position, number]
                row[0] = NO_RAISE if menu is None else len(menu)
                row[1 : 1 + len(menu or ())] = menu or ()
    return table


@helper
def considered(rules, menus, state, actions):
    """Write what the mover considers, as ascending actions of the real game: fold, call, raises, all-in."""
    count = 0
    if to_call(state) > 0:
        actions[count] = FOLD
        count += 1
    actions[count] = CALL
    count += 1
    position = is_in_position(rules, state)
    number = min(state[N_RAISES], MOST_RAISES - 1)
    n_sizes = menus[state[STREET], position, number, 0]
    if n_sizes == NO_RAISE or not may_raise(rules, state):
        return count
    most, before = all_in(rules, state), np.int64(0)
    for k in range(1, n_sizes + 1):
        amount = raise_to(rules, state, menus[state[STREET], position, number, k])
        if before < amount < most:
            actions[count] = RAISE_TO + amount
            count += 1
            before = amount
    actions[count] = RAISE_TO + most
    return count + 1


@helper
def raise_to(rules, state, percent):
    """The amount to raise to for a part of the pot after a call, halves rounded up: at least the least raise, and all
    chips where it would be nearly all."""
    raised = (percent * (pot_of(rules, state) + to_call(state)) + 50) // 100
    amount, most = max(state[LARGEST] + raised, least_raise(rules, state)), all_in(rules, state)
    bet, stack = state[BETS + state[MOVER]], behind(rules, state, state[MOVER])
    return most if 100 * (amount - bet) >= ALL_IN_PERCENT * stack else amount


@helper
def is_in_position(rules, state):
    """1 if the mover is, of those in with chips behind, the last to act after the flop; else 0."""
    for seat in range(state[MOVER] + 1, rules[PLAYERS]):
        if is_in(state, seat) and behind(rules, state, seat) > 0:
            return OUT_OF_POSITION
    return IN_POSITION
