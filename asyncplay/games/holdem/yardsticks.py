"""Simple players of hold'em to measure others by; docs/holdem.md says what they do.

They play the real game, each by itself. Some know how good their cards are: ``equity``, from 0 to 1, is what the hand
would win against one other with any cards; where it comes from is the caller's business.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games.holdem.betting import all_in, least_raise, may_raise, to_call
from asyncplay.games.holdem.layout import CALL, FOLD, LARGEST, RAISE_TO, pot_of
from asyncplay.games.kernels import helper

RANDOM, ALWAYS_CALL, ALWAYS_FOLD, TIGHT, AGGRESSIVE = range(1, 6)
YARDSTICKS = {
    "random": RANDOM,
    "always-call": ALWAYS_CALL,
    "always-fold": ALWAYS_FOLD,
    "tight": TIGHT,
    "aggressive": AGGRESSIVE,
}
TIGHT_RAISES, TIGHT_CALLS = 0.7, 0.6  # the least equity
AGGRESSIVE_RAISES, AGGRESSIVE_CALLS = 0.5, 0.35
BLUFFS = 1 / 3  # how often the aggressive one raises with less


@helper
def advise(kind, rules, state, equity, stream):
    """What a player of this kind does for the seat to move."""
    if kind == ALWAYS_CALL:
        return CALL
    if kind == ALWAYS_FOLD:
        return fold_or_check(state)
    if kind == RANDOM:
        return any_action(rules, state, stream)
    if kind == TIGHT:
        raises, calls = equity >= TIGHT_RAISES, equity >= TIGHT_CALLS
    else:
        raises = equity >= AGGRESSIVE_RAISES or rng.uniform(stream) < BLUFFS
        calls = equity >= AGGRESSIVE_CALLS
    if raises and may_raise(rules, state):
        return raise_pot(rules, state)
    return CALL if raises or calls else fold_or_check(state)


@helper
def fold_or_check(state):
    """Put no chip in."""
    return FOLD if to_call(state) > 0 else CALL


@helper
def raise_pot(rules, state):
    """Raise by the pot as it is after a call, or with all chips where they are fewer."""
    most, amount = all_in(rules, state), state[LARGEST] + pot_of(rules, state) + to_call(state)
    return RAISE_TO + min(max(amount, least_raise(rules, state)), most)


@helper
def any_action(rules, state, stream):
    """Fold, call or raise, each equally likely where it is legal; all amounts alike."""
    n_ways = 1 + (1 if to_call(state) > 0 else 0) + (1 if may_raise(rules, state) else 0)
    way = rng.below(stream, n_ways)
    if way == 0:
        return np.int64(CALL)
    if way == 1 and to_call(state) > 0:
        return np.int64(FOLD)
    most = all_in(rules, state)
    least = min(least_raise(rules, state), most)
    return RAISE_TO + least + rng.below(stream, most - least + 1)
