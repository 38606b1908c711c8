"""Liar's dice for two with a die each.

A bid says how many of the two dice show a face: bid k is a count of k // FACES + 1 and the face k % FACES.
Each bid is higher than the last; the highest face stands for any. Instead of bidding, a player may call the
last bid a lie (the last action): the player who is wrong loses 1 to the other. State as in dealt.py.
"""

from asyncplay.games import dealt
from asyncplay.games import spec as contract
from asyncplay.games.dealt import ACTIONS, DECISIONS, HANDS, HISTORY, HISTORY_ROOM, VALUES, hands_are_out, note
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

PLAYERS, NO_BID = 2, -1
MAX_FACES = (HISTORY_ROOM - 1) // PLAYERS
OPTIONS = (GameOption("faces", int, 6, "Faces of a die; the highest stands for any.", within=(2, MAX_FACES)),)


@helper
def last(state, back):
    """The latest action, or the one ``back`` before it; NO_BID before the first."""
    decision = state[DECISIONS] - 1 - back
    return state[HISTORY + decision] if decision >= 0 else NO_BID


@helper
def liar(rules):
    """The action that calls a bid a lie."""
    return rules[ACTIONS] - 1


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """Turn by turn until a seat calls a lie."""
    if not hands_are_out(rules, state):
        return CHANCE_TURN
    return GAME_OVER if last(state, 0) == liar(rules) else state[DECISIONS] % PLAYERS


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """The higher bids; the lie once there is a bid."""
    if to_move(rules, state) < 0:
        return 0
    count = 0
    for action in range(last(state, 0) + 1, rules[ACTIONS]):
        if action != liar(rules) or state[DECISIONS] > 0:
            actions[count] = action
            count += 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """History is all there is."""
    note(state, action)


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """1 to the bidder if the bid was true, else to the one who doubted it."""
    gains[0] = 0.0
    gains[1] = 0.0
    if to_move(rules, state) != GAME_OVER:
        return
    bid = last(state, 1)
    matching = 0
    for seat in range(PLAYERS):
        face = state[HANDS + seat]
        matching += face == bid % rules[VALUES] or face == rules[VALUES] - 1
    bidder = state[DECISIONS] % PLAYERS  # bid, lie: so the bidder would be next
    gains[bidder] = 1.0 if matching > bid // rules[VALUES] else -1.0
    gains[1 - bidder] = -gains[bidder]


KERNELS = dealt.kernels("liarsdice", to_move=to_move, legal=legal, play=play, returns=returns)


def spec(*, faces: int) -> GameSpec:
    """Liar's dice with dice of so many faces."""
    return dealt.make_spec(
        KERNELS,
        players=PLAYERS,
        values=faces,
        is_deck=False,
        actions=PLAYERS * faces + 1,
        max_decisions=PLAYERS * faces + 1,
        max_return=1.0,
    )
