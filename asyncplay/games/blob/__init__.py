"""Blob, an Oh Hell variant for 3 to 8 players: bid how many tricks you will take, and take exactly those.

Modules: layout (the words of a position), turns (the rules), worlds (where unseen cards may be), encode (what
a player sees), endings (the last tricks worked out), yardstick (a rule-based player).
"""

from math import comb

import numpy as np

from asyncplay.errors import AsyncplayError
from asyncplay.games.blob import layout
from asyncplay.games.blob.encode import FEATURES, encode, key
from asyncplay.games.blob.endings import ending
from asyncplay.games.blob.turns import chance, legal, play, reset, returns, to_move
from asyncplay.games.blob.worlds import determinize
from asyncplay.games.blob.yardstick import advise
from asyncplay.games.cards import CARDS
from asyncplay.games.kernels import Kernels
from asyncplay.games.spec import GameSpec, no_symmetries

TRUMPS = {"any": layout.ANY, "spades": 0, "hearts": 1, "clubs": 2, "diamonds": 3, "none": layout.NO_TRUMP}
FEWEST_PLAYERS, MOST_CARDS = 3, 13
VALUE_SCALE = 2 / layout.HIGHEST_SCORE

KERNELS = Kernels(
    name="blob",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
    ending=ending,
)


def spec(
    *, players: int = 4, cards: int = 5, whole: bool = False, dealer: int = layout.ANY, trump: str = "any"
) -> GameSpec:
    """A single round of ``cards`` cards, dealer and trump drawn unless set; or a whole game that starts with them."""
    _check(players, cards, dealer, trump)
    sizes = round_sizes(players, cards) if whole else [cards]
    return GameSpec(
        name="blob",
        players=players,
        rules=_rules(players, sizes, is_whole=whole, dealer=dealer, trump=TRUMPS[trump]),
        state_words=layout.STATE_WORDS,
        actions=CARDS,
        features=FEATURES,
        feature_dtype=np.float32,
        planes=None,
        max_legal=cards + 1,
        max_decisions=sum(players * (size + 1) for size in sizes),
        zero_sum=False,
        is_hidden=True,
        n_symmetries=1,
        # suits could be exchanged, but not the order in which trumps come
        symmetries=lambda: no_symmetries(FEATURES, CARDS),
        kernels=KERNELS,
        entry_module="asyncplay.search.entries.blob",
        value_scale=VALUE_SCALE,
        value_offset=-1.0,
        is_staged=whole,
        advise=advise,
    )


def round_sizes(players: int, start: int) -> list[int]:
    """Cards dealt in each round of a whole game."""
    return [*range(start, 0, -1), *[1] * players, *range(2, start + 1)]


def _rules(players: int, sizes: list[int], *, is_whole: bool, dealer: int, trump: int) -> np.ndarray:
    most_points = sum(10 + size for size in sizes)
    options = [players, sizes[0], int(is_whole), dealer, trump, len(sizes), most_points]
    row = range(layout.BINOMIAL_ROW)
    return np.array([*options, *(comb(n, k) for n in row for k in row)], np.int64)


def _check(players: int, cards: int, dealer: int, trump: str) -> None:
    whole_numbers = {"players": players, "cards": cards, "dealer": dealer}
    for name, value in whole_numbers.items():
        if type(value) is not int:
            raise AsyncplayError(f"option {name} of blob is {value!r}, must be a whole number")
    if not FEWEST_PLAYERS <= players <= layout.MAX_PLAYERS:
        raise AsyncplayError(f"option players of blob is {players}, must be 3 to 8")
    most = min(MOST_CARDS, CARDS // players)
    if not 1 <= cards <= most:
        raise AsyncplayError(f"option cards of blob is {cards}, must be 1 to {most} with {players} players")
    if not layout.ANY <= dealer < players:
        raise AsyncplayError(f"option dealer of blob is {dealer}, must be a seat 0 to {players - 1}, or -1 for any")
    if trump not in TRUMPS:
        raise AsyncplayError(f"option trump of blob is {trump!r}, must be one of {', '.join(TRUMPS)}")
