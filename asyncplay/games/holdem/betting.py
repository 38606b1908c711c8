"""The betting of hold'em: who may do what, and what it does to pots, turns and streets. Layout in layout.py.

Nothing here looks at cards: a betting tree is compiled with the same functions that play the game.
"""

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.holdem.layout import (
    ACTED,
    BETS,
    BIG_BLIND,
    CALL,
    DECISIONS,
    FOLD,
    FOLDED,
    HISTORY,
    LARGEST,
    MAX_PLAYERS,
    MOVER,
    N_RAISES,
    PAID,
    PLAYERS,
    PREFLOP,
    RAISE,
    RAISE_TO,
    RIVER,
    SMALL_BLIND,
    STREET,
    behind,
    count_in,
    is_in,
)
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER


@kernel(contract.RESET)
def reset(rules, state):
    """Blinds are in, nothing is dealt."""
    for word in range(len(state)):
        state[word] = 0
    small = 1 if rules[PLAYERS] == 2 else 0  # heads-up the button has the small blind
    put_in(state, small, rules[SMALL_BLIND])
    put_in(state, 1 - small, rules[BIG_BLIND])
    state[LARGEST] = rules[BIG_BLIND]
    state[MOVER] = CHANCE_TURN


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """Every change writes down who is next."""
    return state[MOVER]


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Fold against a bet, check or call, raise to any amount from the least to all chips."""
    if state[MOVER] < 0:
        return 0
    count = 0
    if to_call(state) > 0:
        actions[count] = FOLD
        count += 1
    actions[count] = CALL
    count += 1
    if may_raise(rules, state):
        most = all_in(rules, state)
        for amount in range(min(least_raise(rules, state), most), most + 1):
            actions[count] = RAISE_TO + amount
            count += 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Write the decision down and let it happen."""
    state[HISTORY + state[DECISIONS]] = action
    state[DECISIONS] += 1
    bet(rules, state, action)


@helper
def bet(rules, state, action):
    """Fold, pay or raise; then comes the next who owes a decision, or the next street, or the end."""
    seat = state[MOVER]
    state[ACTED] |= 1 << seat
    if action == FOLD:
        state[FOLDED] |= 1 << seat
    else:
        most = all_in(rules, state)
        amount = min(state[LARGEST], most) if action == CALL else action - RAISE_TO
        put_in(state, seat, amount - state[BETS + seat])
        if amount > state[LARGEST]:
            state[RAISE] = max(state[RAISE], amount - state[LARGEST])
            state[LARGEST] = amount
            state[N_RAISES] += 1
    state[MOVER] = next_mover(rules, state, seat)
    if state[MOVER] == CHANCE_TURN:
        open_street(state)


@helper
def put_in(state, seat, chips):
    """Move chips from a seat's stack to its bet."""
    state[BETS + seat] += chips
    state[PAID + seat] += chips


@helper
def next_mover(rules, state, seat):
    """Who decides after this seat; CHANCE_TURN: the street is over, GAME_OVER: the hand."""
    if count_in(rules, state) == 1:
        return GAME_OVER
    for step in range(1, rules[PLAYERS]):
        other = (seat + step) % rules[PLAYERS]
        is_due = (state[ACTED] >> other) & 1 == 0 or state[BETS + other] < state[LARGEST]
        if is_due and is_in(state, other) and behind(rules, state, other) > 0:
            return other
    return GAME_OVER if state[STREET] == RIVER else CHANCE_TURN


@helper
def open_street(state):
    """The next street, before its cards: no bets yet."""
    for seat in range(MAX_PLAYERS):
        state[BETS + seat] = 0
    state[LARGEST] = 0
    state[RAISE] = 0
    state[N_RAISES] = 0
    state[ACTED] = 0
    state[STREET] += 1


@helper
def begin_betting(rules, state):
    """The cards of the street are out: its first player decides, unless at most one could bet."""
    players, first, n_able = rules[PLAYERS], -1, 0
    start = min(np.int64(2), players - 1) if state[STREET] == PREFLOP else 0  # left of the big blind, of the button
    for step in range(players):
        seat = (start + step) % players
        if is_in(state, seat) and behind(rules, state, seat) > 0:
            first = seat if n_able == 0 else first
            n_able += 1
    if n_able > 1:
        state[MOVER] = first
    elif state[STREET] == RIVER:
        state[MOVER] = GAME_OVER
    else:
        open_street(state)


@helper
def to_call(state):
    """What the mover would have to put in to stay, more than its stack perhaps."""
    return state[LARGEST] - state[BETS + state[MOVER]]


@helper
def all_in(rules, state):
    """The mover's bet if it puts in all it has."""
    return state[BETS + state[MOVER]] + behind(rules, state, state[MOVER])


@helper
def least_raise(rules, state):
    """The least bet that is a full raise."""
    return state[LARGEST] + max(state[RAISE], rules[BIG_BLIND])


@helper
def may_raise(rules, state):
    """Say whether the mover may raise: it can, another could pay more, and nothing less than a full raise is faced
    by one that has decided before."""
    mover = state[MOVER]
    has_acted = (state[ACTED] >> mover) & 1 == 1
    if all_in(rules, state) <= state[LARGEST] or (has_acted and to_call(state) < state[RAISE]):
        return False
    for seat in range(rules[PLAYERS]):
        could_pay = state[BETS + seat] + behind(rules, state, seat) > state[LARGEST]
        if seat != mover and is_in(state, seat) and could_pay:
            return True
    return False
