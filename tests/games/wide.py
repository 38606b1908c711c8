"""A game for tests whose rows have 100 KB: two players choose numbers in turn, and a hash of all choices decides.

Each decision has 2 to 5 legal actions. The features are bytes of a hash of the choices so far: no two positions look
alike, and a byte that is lost or moved on its way is noticed by whoever encodes the position again.

rules: decisions of a game. state: DECISIONS, HASH.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, kernel
from asyncplay.games.options import GameOption
from asyncplay.games.spec import GAME_OVER, GameSpec, no_symmetries
from asyncplay.search import examples, policy, puct

DECISIONS, HASH = 0, 1
MOST_LEGAL = 5
OPTIONS = (GameOption("decisions", int, 6, "Of a game.", within=(1, 10_000)),)
FEATURES = 100_000


@kernel(contract.RESET)
def reset(rules, state):
    """Nothing was chosen."""
    state[DECISIONS] = state[HASH] = 0


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """In turn."""
    return GAME_OVER if state[DECISIONS] == rules[0] else state[DECISIONS] % 2


@kernel(contract.WHY)
def why(rules, state):
    return 0


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """As many as the hash says."""
    if state[DECISIONS] == rules[0]:
        return 0
    count = 2 + state[HASH] % (MOST_LEGAL - 1)
    for action in range(count):
        actions[action] = action
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """Mix the choice in."""
    state[DECISIONS] += 1
    state[HASH] = np.int64(rng.mix(np.uint64(state[HASH] * 8 + action)) >> np.uint64(8))


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """There is none."""


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """The last bit of the hash decides."""
    is_over = state[DECISIONS] == rules[0]
    sign = 1 - 2 * (state[HASH] & 1)
    gains[0] = sign if is_over else 0
    gains[1] = -sign if is_over else 0


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """Bytes drawn from the hash and the viewer, none above 1."""
    word = np.uint64(0)
    for place in range(len(features)):
        if place % 64 == 0:
            word = rng.mix(np.uint64(state[HASH] * 2 + viewer) + np.uint64(place))
        features[place] = (word >> np.uint64(place % 64)) & np.uint64(1)


@kernel(contract.KEY)
def key(rules, state, viewer):
    return rng.mix(np.uint64(state[HASH] * 2 + viewer) ^ np.uint64(state[DECISIONS] << 40))


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(len(state)):
            worlds[world, word] = state[word]


KERNELS = Kernels(
    name="wide",
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


def spec(*, decisions: int) -> GameSpec:
    """A game of so many decisions."""
    return GameSpec(
        name="wide",
        players=2,
        rules=np.array([decisions], np.int64),
        state_words=2,
        actions=MOST_LEGAL,
        features=FEATURES,
        feature_dtype=np.uint8,
        planes=None,
        max_legal=MOST_LEGAL,
        max_decisions=decisions,
        reasons=(contract.BY_RULES,),
        why=why,
        zero_sum=True,
        is_hidden=False,
        n_symmetries=1,
        symmetries=lambda: no_symmetries(FEATURES, MOST_LEGAL),
        kernels=KERNELS,
        entry_module="games.wide",
    )


@kernel(puct.SELECT_BYTES)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_BYTES)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)
