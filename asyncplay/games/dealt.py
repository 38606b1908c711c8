"""What small games share: chance deals each seat one card or die, and may turn one up for all.

rules: the words below, then the game's own. state: DECISIONS so far; DEALT, how many values chance has
handed out; HANDS, the value of each seat and then the one turned up, NOT_DEALT until then; HISTORY, the
action of each decision; the game's own words from OWN on. All but the hands is public.

Values are 0 .. VALUES-1. COPIES neighbours look alike (suits that never count): keys and features tell
looks apart, not values. Cards of a deck are dealt once; dice may show the same face.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernel, Kernels, helper, kernel
from asyncplay.games.spec import GameSpec, no_symmetries

PLAYERS, VALUES, COPIES, IS_DECK, UPCARDS, MAX_DECISIONS, ACTIONS, FIRST_RULE = range(8)

MAX_PLAYERS, HISTORY_ROOM = 4, 24
DECISIONS, DEALT, HANDS, HISTORY = 0, 1, 2, 3 + MAX_PLAYERS
OWN = HISTORY + HISTORY_ROOM
NOT_DEALT = -1


@helper
def hands_are_out(rules, state):
    """Say whether every seat has its card."""
    return state[DEALT] >= rules[PLAYERS]


@helper
def upcard(rules, state):
    """The value turned up for all, or NOT_DEALT."""
    return state[HANDS + rules[PLAYERS]]


@helper
def note(state, action):
    """Write a decision down."""
    state[HISTORY + state[DECISIONS]] = action
    state[DECISIONS] += 1


@helper
def is_free(rules, state, value):
    """Say whether chance may hand out this value: a card only once, a face always."""
    if rules[IS_DECK]:
        for place in range(HANDS, HANDS + rules[PLAYERS] + 1):
            if state[place] == value:
                return False
    return True


@helper
def draw_free(rules, state, stream):
    """Draw one of the free values, each equally likely."""
    value = rng.below(stream, rules[VALUES])
    while not is_free(rules, state, value):
        value = rng.below(stream, rules[VALUES])
    return value


@kernel(contract.RESET)
def reset(rules, state):
    """Nothing dealt, nothing decided."""
    for word in range(len(state)):
        state[word] = 0
    for place in range(HANDS, HISTORY):
        state[place] = NOT_DEALT


@kernel(contract.OUTCOMES)
def outcomes(rules, state, values, odds):
    """Every free value, equally likely."""
    count = 0
    for value in range(rules[VALUES]):
        if is_free(rules, state, value):
            values[count] = value
            count += 1
    for k in range(count):
        odds[k] = 1.0 / count
    return count


@kernel(contract.HAPPEN)
def happen(rules, state, value):
    """Hand the value to the next seat, or turn it up once all have theirs."""
    state[HANDS + state[DEALT]] = value
    state[DEALT] += 1


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """One of the free values."""
    happen(rules, state, draw_free(rules, state, stream))


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """The viewer's seat, its look, the look turned up, each decision so far: all one-hot."""
    looks = rules[VALUES] // rules[COPIES]
    for k in range(len(features)):
        features[k] = 0
    features[viewer] = 1
    first = rules[PLAYERS]
    if state[HANDS + viewer] != NOT_DEALT:
        features[first + state[HANDS + viewer] // rules[COPIES]] = 1
    first += looks
    if rules[UPCARDS]:
        if upcard(rules, state) != NOT_DEALT:
            features[first + upcard(rules, state) // rules[COPIES]] = 1
        first += looks
    for decision in range(state[DECISIONS]):
        features[first + decision * rules[ACTIONS] + state[HISTORY + decision]] = 1


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash over the viewer, the two looks it sees and the decisions."""
    mixed = rng.mix(np.uint64(viewer + 1))
    mixed = rng.mix(mixed ^ np.uint64(state[HANDS + viewer] // rules[COPIES] + 1))
    mixed = rng.mix(mixed ^ np.uint64(upcard(rules, state) // rules[COPIES] + 1))
    for decision in range(state[DECISIONS]):
        mixed = rng.mix(mixed ^ np.uint64(state[HISTORY + decision] + 1))
    return mixed


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """The others' values are dealt again from what the viewer cannot see; a seat without a value gets none."""
    for world in range(len(worlds)):
        for word in range(len(state)):
            worlds[world, word] = state[word]
        for seat in range(rules[PLAYERS]):
            if seat != viewer:
                worlds[world, HANDS + seat] = NOT_DEALT
        for seat in range(min(rules[PLAYERS], state[DEALT])):
            if seat != viewer:
                worlds[world, HANDS + seat] = draw_free(rules, worlds[world], stream)


def kernels(name: str, *, to_move: Kernel, legal: Kernel, play: Kernel, returns: Kernel) -> Kernels:
    """A game's kernels: what it does itself, and the rest from here."""
    return Kernels(
        name=name,
        reset=reset,
        legal=legal,
        play=play,
        chance=chance,
        to_move=to_move,
        returns=returns,
        encode=encode,
        key=key,
        determinize=determinize,
        outcomes=outcomes,
        happen=happen,
    )


def make_spec(
    own: Kernels,
    *,
    players: int,
    values: int,
    actions: int,
    max_decisions: int,
    max_return: float,
    copies: int = 1,
    is_deck: bool = True,
    upcards: int = 0,
    own_words: int = 0,
    own_rules: tuple[int, ...] = (),
) -> GameSpec:
    """A zero-sum game of this kind; ``max_return`` is the most a seat can win or lose."""
    shared = (players, values, copies, is_deck, upcards, max_decisions, actions)
    features = players + (1 + upcards) * (values // copies) + max_decisions * actions

    return GameSpec(
        name=own.name,
        players=players,
        rules=np.array(shared + own_rules, np.int64),
        state_words=OWN + own_words,
        actions=actions,
        features=features,
        feature_dtype=np.uint8,
        max_legal=actions,
        max_decisions=max_decisions,
        max_outcomes=values,
        symmetries=lambda: no_symmetries(features, actions),
        kernels=own,
        entry_module=None,
        show_module=f"asyncplay.games.show.{own.name}",
        value_scale=1.0 / max_return,
        planes=None,
        zero_sum=True,
        is_hidden=True,
        n_symmetries=1,
    )
