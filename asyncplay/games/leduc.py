"""Leduc poker for 2 or 3 players: one card each, one turned up for all, a round of betting before and after.

The deck has two cards of each of P+1 ranks; card c has rank c // 2, and suits count for nothing. Ante 1; a
raise is 2 in the first round and 4 in the second, at most two in a round. A pair with the upcard wins,
otherwise the higher rank; equal ranks share the pot.

state: as in dealt.py, then ROUNDS finished, STAKES (what staying in costs beyond the ante), RAISES of this
round, CALLS since the last of them, FOLDS, SEAT to move, and by seat PAID beyond the ante and FOLDED.
"""

from asyncplay.games import dealt
from asyncplay.games import spec as contract
from asyncplay.games.dealt import HANDS, MAX_PLAYERS, OWN, PLAYERS, hands_are_out, note, upcard
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

FOLD, CALL, RAISE = 0, 1, 2
ROUNDS, STAKES, RAISES, CALLS, FOLDS, SEAT, PAID = range(OWN, OWN + 7)
FOLDED = PAID + MAX_PLAYERS
OWN_WORDS = FOLDED + MAX_PLAYERS - OWN
MAX_ROUNDS, MAX_RAISES, SUITS, ANTE = 2, 2, 2, 1
RAISE_OF_FIRST_ROUND = 2  # doubled in the second
MAX_DECISIONS = {2: 8, 3: 14}
ABOVE_ALL_RANKS = 100
OPTIONS = (GameOption("players", int, 2, "Seats at the table.", within=(min(MAX_DECISIONS), max(MAX_DECISIONS))),)


@helper
def left(rules, state):
    """How many seats have not folded."""
    return rules[PLAYERS] - state[FOLDS]


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """Hands, betting, the upcard, betting."""
    if left(rules, state) == 1 or state[ROUNDS] == MAX_ROUNDS:
        return GAME_OVER
    if not hands_are_out(rules, state) or (state[ROUNDS] == 1 and upcard(rules, state) < 0):
        return CHANCE_TURN
    return state[SEAT]


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Fold only against a raise; raise until the round has two."""
    if to_move(rules, state) < 0:
        return 0
    count = 0
    if state[STAKES] > state[PAID + state[SEAT]]:
        actions[count] = FOLD
        count += 1
    actions[count] = CALL
    count += 1
    if state[RAISES] < MAX_RAISES:
        actions[count] = RAISE
        count += 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Fold, or pay what the others have paid, or more; then the next seat or the next round."""
    seat = state[SEAT]
    note(state, action)
    if action == FOLD:
        state[FOLDED + seat] = 1
        state[FOLDS] += 1
    else:
        if action == RAISE:
            state[STAKES] += RAISE_OF_FIRST_ROUND * (1 + state[ROUNDS])
            state[RAISES] += 1
        state[CALLS] = state[CALLS] + 1 if action == CALL else 0
        state[PAID + seat] = state[STAKES]
    if state[CALLS] == left(rules, state) - min(state[RAISES], 1):  # the last to raise need not call
        state[ROUNDS] += 1
        state[RAISES] = 0
        state[CALLS] = 0
        seat = -1
    state[SEAT] = next_seat(rules, state, seat)


@helper
def next_seat(rules, state, seat):
    """The first seat after this one that has not folded."""
    seat = (seat + 1) % rules[PLAYERS]
    while state[FOLDED + seat]:
        seat = (seat + 1) % rules[PLAYERS]
    return seat


@helper
def strength(rules, state, seat):
    """What a hand is worth at the end: a pair beats everything, folded hands lose to all."""
    if state[FOLDED + seat]:
        return -1
    rank = state[HANDS + seat] // SUITS
    return ABOVE_ALL_RANKS if rank == upcard(rules, state) // SUITS else rank


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """The pot, shared by the strongest hands, less what each seat paid."""
    for seat in range(rules[PLAYERS]):
        gains[seat] = 0.0
    if to_move(rules, state) != GAME_OVER:
        return
    pot, best, winners = 0, -1, 0
    for seat in range(rules[PLAYERS]):
        pot += ANTE + state[PAID + seat]
        worth = strength(rules, state, seat)
        winners = 1 if worth > best else winners + (worth == best)
        best = max(best, worth)
    for seat in range(rules[PLAYERS]):
        share = pot / winners if strength(rules, state, seat) == best else 0.0
        gains[seat] = share - ANTE - state[PAID + seat]


KERNELS = dealt.kernels("leduc", to_move=to_move, legal=legal, play=play, returns=returns)


def spec(*, players: int) -> GameSpec:
    """Leduc poker for two or three."""
    most_paid = ANTE + MAX_RAISES * RAISE_OF_FIRST_ROUND * 3
    return dealt.make_spec(
        KERNELS,
        players=players,
        values=SUITS * (players + 1),
        copies=SUITS,
        upcards=1,
        actions=3,
        max_decisions=MAX_DECISIONS[players],
        max_return=most_paid * (players - 1.0),
        own_words=OWN_WORDS,
    )
