"""Kuhn's poker for 2 to 4 players: one card each from a deck of one card more, one bet of 1 over an ante of 1.

The seats take turns. After the first bet each of the other seats either calls it (BET) or folds (PASS), once. The
highest card of the seats that bet wins the pot; without a bet it is the highest of all. State as in dealt.py.
"""

from asyncplay.games import dealt
from asyncplay.games import spec as contract
from asyncplay.games.dealt import DECISIONS, HANDS, HISTORY, MAX_PLAYERS, PLAYERS, hands_are_out, note
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

PASS, BET = 0, 1
NOBODY = -1
OPTIONS = (GameOption("players", int, 2, "Seats at the table.", within=(2, MAX_PLAYERS)),)


@helper
def opener(rules, state):
    """The seat that bet first, or NOBODY: it is among the first P decisions."""
    for seat in range(min(state[DECISIONS], rules[PLAYERS])):
        if state[HISTORY + seat] == BET:
            return seat
    return NOBODY


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """A round of passes ends it, or a round of answers to the first bet."""
    if not hands_are_out(rules, state):
        return CHANCE_TURN
    last = rules[PLAYERS] + max(opener(rules, state), 0)
    return GAME_OVER if state[DECISIONS] == last else state[DECISIONS] % rules[PLAYERS]


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Both, always."""
    if to_move(rules, state) < 0:
        return 0
    actions[0] = PASS
    actions[1] = BET
    return 2


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """History is all there is."""
    note(state, action)


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """The pot goes to the highest card among the seats that bet, or among all without a bet."""
    for seat in range(rules[PLAYERS]):
        gains[seat] = 0.0
    if to_move(rules, state) != GAME_OVER:
        return
    nobody_bet = opener(rules, state) == NOBODY
    pot, winner = 0, NOBODY
    for seat in range(rules[PLAYERS]):
        later = seat + rules[PLAYERS]  # a seat's latest decision says whether it is in for the bet
        is_in = state[HISTORY + (later if later < state[DECISIONS] else seat)] == BET
        pot += 2 if is_in else 1
        gains[seat] = -2.0 if is_in else -1.0
        if (is_in or nobody_bet) and (winner == NOBODY or state[HANDS + seat] > state[HANDS + winner]):
            winner = seat
    gains[winner] += pot


KERNELS = dealt.kernels("kuhn", to_move=to_move, legal=legal, play=play, returns=returns)


def spec(*, players: int) -> GameSpec:
    """Kuhn's poker for so many players."""
    return dealt.make_spec(
        KERNELS,
        players=players,
        values=players + 1,
        actions=2,
        max_decisions=2 * players - 1,
        max_return=2.0 * (players - 1),
    )
