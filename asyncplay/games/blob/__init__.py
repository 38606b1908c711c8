"""Blob, an Oh Hell variant for 3 to 8 players: bid how many tricks you will take, and take exactly those.

Modules: layout (the words of a position), turns (the rules), worlds (where unseen cards may be), encode (what
a player sees), symmetry (suits exchanged), endings (the last tricks worked out), yardstick (a rule-based player),
show (for people).
"""

from functools import partial
from math import comb

import numpy as np

from asyncplay.games.blob import layout
from asyncplay.games.blob.encode import FEATURES, encode, key
from asyncplay.games.blob.endings import ending
from asyncplay.games.blob.symmetry import ORDERS, symmetries, turn
from asyncplay.games.blob.turns import chance, legal, play, reset, returns, to_move
from asyncplay.games.blob.worlds import determinize
from asyncplay.games.blob.yardstick import advise
from asyncplay.games.cards import CARDS
from asyncplay.games.kernels import Kernels
from asyncplay.games.options import By, GameOption
from asyncplay.games.spec import GameSpec

TRUMPS = {"any": layout.ANY, "spades": 0, "hearts": 1, "clubs": 2, "diamonds": 3, "none": layout.NO_TRUMP}
FEWEST_PLAYERS, MOST_CARDS = 3, 13
VALUE_SCALE = 2 / layout.HIGHEST_SCORE


def card_range(players: int) -> tuple[int, int]:
    """Of what each player may be dealt."""
    return 1, min(MOST_CARDS, CARDS // players)


OPTIONS = (
    GameOption("players", int, 4, "Seats at the table.", within=(FEWEST_PLAYERS, layout.MAX_PLAYERS)),
    GameOption("cards", int, 5, "Dealt to each player in the first round.", within=By(card_range, ("players",))),
    GameOption("whole", bool, False, "A whole game, down to one card and up again, instead of a single round."),
    GameOption(
        "dealer",
        int,
        layout.ANY,
        "The seat that deals a single round; -1 draws it.",
        within=By(lambda players: (layout.ANY, players - 1), ("players",)),
    ),
    GameOption("trump", str, "any", "The trumps of a single round; any draws them.", choices=tuple(TRUMPS)),
)

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
    turn=turn,
)


def spec(*, players: int, cards: int, whole: bool, dealer: int, trump: str) -> GameSpec:
    """A single round of ``cards`` cards, dealer and trump drawn unless set; or a whole game that starts with them."""
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
        n_symmetries=len(ORDERS),
        symmetries=partial(symmetries, players),
        kernels=KERNELS,
        entry_module="asyncplay.search.entries.blob",
        show_module="asyncplay.games.blob.show",
        value_scale=VALUE_SCALE,
        value_offset=-1.0,
        is_staged=whole,
        advise=advise,
        hidden_features=CARDS * (players - 1),
    )


def round_sizes(players: int, start: int) -> list[int]:
    """Cards dealt in each round of a whole game."""
    return [*range(start, 0, -1), *[1] * players, *range(2, start + 1)]


def _rules(players: int, sizes: list[int], *, is_whole: bool, dealer: int, trump: int) -> np.ndarray:
    most_points = sum(10 + size for size in sizes)
    options = [players, sizes[0], int(is_whole), dealer, trump, len(sizes), most_points]
    row = range(layout.BINOMIAL_ROW)
    suit_turns = (suit for order in ORDERS for suit in order)
    return np.array([*options, *(comb(n, k) for n in row for k in row), *suit_turns], np.int64)
