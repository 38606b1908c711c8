"""Pig, a dice race: a game for tests with everything the board games lack.

2 to 8 players (an option), chance between decisions, several decisions of one player in a row, forced
decisions, rewards on the way, no zero sum, floats as features. A turn starts with a roll, the only legal
action; a roll of 1 ends it for nothing, otherwise the pips pile up and the player may HOLD, which banks
them, or ROLL again. The game ends when somebody has banked TARGET points, or after LIMIT decisions.

rules: players, target. state: DECISIONS, SEAT, PILE, ROLLING (a die is in the air), banked points by seat.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, no_symmetries
from asyncplay.search import examples, policy, puct

DECISIONS, SEAT, PILE, ROLLING, BANKED = 0, 1, 2, 3, 4
ROLL, HOLD = 0, 1
FACES, LIMIT, MAX_PLAYERS = 4, 40, 8
PLAYERS, TARGET = 0, 1
FEATURES = 3 + MAX_PLAYERS


@kernel(contract.RESET)
def reset(rules, state):
    """Nobody has anything."""
    for word in range(BANKED + MAX_PLAYERS):
        state[word] = 0


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """The die first; over at the target or the limit."""
    if state[ROLLING]:
        return CHANCE_TURN
    for seat in range(rules[PLAYERS]):
        if state[BANKED + seat] >= rules[TARGET]:
            return GAME_OVER
    return GAME_OVER if state[DECISIONS] == LIMIT else state[SEAT]


@kernel(contract.WHY)
def why(rules, state):
    """The rules where somebody has got there, even with the last decision allowed."""
    for seat in range(rules[PLAYERS]):
        if state[BANKED + seat] >= rules[TARGET]:
            return 0
    return 1


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Roll; hold too if there is something to bank."""
    if to_move(rules, state) < 0:
        return 0
    actions[0] = ROLL
    if state[PILE] == 0:
        return 1
    actions[1] = HOLD
    return 2


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Throw the die into the air, or bank and pass the turn on."""
    state[DECISIONS] += 1
    if action == ROLL:
        state[ROLLING] = 1
    else:
        state[BANKED + state[SEAT]] += state[PILE]
        state[PILE] = 0
        state[SEAT] = (state[SEAT] + 1) % rules[PLAYERS]


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """The die lands."""
    pips = 1 + rng.below(stream, FACES)
    state[ROLLING] = 0
    state[PILE] = 0 if pips == 1 else state[PILE] + pips
    if pips == 1:
        state[SEAT] = (state[SEAT] + 1) % rules[PLAYERS]


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """Points banked so far, at most the target."""
    for seat in range(rules[PLAYERS]):
        gains[seat] = min(state[BANKED + seat], rules[TARGET])


@kernel(contract.ENCODE_FLOATS)
def encode(rules, state, viewer, features, room):
    """Decisions, pile, whose turn; points from the viewer's seat on."""
    features[0] = state[DECISIONS] / LIMIT
    features[1] = state[PILE] / (FACES * LIMIT)
    features[2] = ((state[SEAT] - viewer) % rules[PLAYERS]) / MAX_PLAYERS
    for k in range(MAX_PLAYERS):
        seat = (viewer + k) % rules[PLAYERS]
        banked = min(state[BANKED + seat], rules[TARGET]) / rules[TARGET]
        features[3 + k] = banked if k < rules[PLAYERS] else 0.0


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash over all words."""
    mixed = rng.mix(np.uint64(viewer))
    for word in range(BANKED + MAX_PLAYERS):
        mixed = rng.mix(mixed ^ np.uint64(state[word]))
    return mixed


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(len(state)):
            worlds[world, word] = state[word]


KERNELS = Kernels(
    name="pig",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
    ending=contract.no_ending,
)


def spec(*, players: int = 3, target: int = 12) -> GameSpec:
    """A race of ``players`` to ``target`` points."""
    return GameSpec(
        name="pig",
        players=players,
        rules=np.array([players, target], np.int64),
        state_words=BANKED + MAX_PLAYERS,
        actions=2,
        features=FEATURES,
        feature_dtype=np.float32,
        planes=None,
        max_legal=2,
        max_decisions=LIMIT,
        reasons=(contract.BY_RULES, contract.BY_LIMIT),
        why=why,
        zero_sum=False,
        is_hidden=False,
        n_symmetries=1,
        symmetries=lambda: no_symmetries(FEATURES, 2),
        kernels=KERNELS,
        entry_module="games.pig",
        value_scale=2 / target,
        value_offset=-1.0,
    )


@kernel(puct.SELECT_FLOATS)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_FLOATS)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)
