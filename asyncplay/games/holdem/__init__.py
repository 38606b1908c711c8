"""No-limit hold'em for 2 to 6 players: any blinds and stacks, side pots, all amounts of whole chips.

This is the real game. An action is a fold, a call or an amount to raise to, so every bet of every opponent can be
played and stored; which few amounts a blueprint considers is its abstraction, and lies in solve/abstraction.

Modules: layout (the words of a position), betting, dealing and payout (the rules), strength (what seven cards are
worth), encode (what a player sees), canonical (hands and boards but for the names of suits), show
(for people).
"""

import numpy as np

from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import CARDS
from asyncplay.games.holdem import layout
from asyncplay.games.holdem.betting import legal, play, reset, to_move
from asyncplay.games.holdem.dealing import chance, determinize, happen, outcomes
from asyncplay.games.holdem.encode import encode, key, n_features
from asyncplay.games.holdem.payout import returns
from asyncplay.games.kernels import Kernels
from asyncplay.games.options import By, GameOption
from asyncplay.games.spec import GameSpec, no_symmetries

DECKS = (24, 36, 52)
MOST_CHIPS, MOST_BLINDS = 1_000_000, 10_000
"""Of a stack, in chips and in big blinds: positions hold a word for each decision that could come."""

OPTIONS = (
    GameOption("players", int, 2, "Seats; the first is the one left of the button.", within=(2, layout.MAX_PLAYERS)),
    GameOption("big_blind", int, 2, "Chips of the big blind.", within=(1, MOST_CHIPS // 100)),
    GameOption(
        "small_blind",
        int,
        By(lambda big_blind: (big_blind + 1) // 2, ("big_blind",)),
        "Chips of the small blind.",
        within=By(lambda big_blind: (0, big_blind), ("big_blind",)),
    ),
    GameOption(
        "stack",
        int,
        By(lambda big_blind: 100 * big_blind, ("big_blind",)),
        "Chips of every seat.",
        within=By(lambda big_blind: (big_blind + 1, min(MOST_CHIPS, MOST_BLINDS * big_blind)), ("big_blind",)),
    ),
    GameOption(
        "stacks", str, "", "Chips seat by seat instead of stack.", form="whole numbers like 200/100/150, or empty"
    ),
    GameOption("deck", int, CARDS, "Cards: all, from sixes (36) or from nines (24).", choices=DECKS),
)

KERNELS = Kernels(
    name="holdem",
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


def spec(*, players: int, big_blind: int, small_blind: int, stack: int, stacks: str, deck: int) -> GameSpec:
    """A hand from these stacks."""
    chips = _stacks(players, big_blind, stack, stacks)
    actions, n_decisions = layout.RAISE_TO + max(chips) + 1, max_decisions(chips, big_blind)
    features = n_features(players, n_decisions)
    options = [players, small_blind, big_blind, layout.deck_of(deck), actions]
    return GameSpec(
        name="holdem",
        players=players,
        rules=np.array([*options, *chips, *[0] * (layout.MAX_PLAYERS - players)], np.int64),
        state_words=layout.HISTORY + n_decisions,
        actions=actions,
        features=features,
        feature_dtype=np.float32,
        planes=None,
        max_legal=actions,
        max_decisions=n_decisions,
        max_outcomes=deck,
        zero_sum=True,
        is_hidden=True,
        n_symmetries=1,
        symmetries=lambda: no_symmetries(features, actions),
        kernels=KERNELS,
        entry_module=None,
        show_module="asyncplay.games.holdem.show",
        value_scale=1.0 / max(sum(min(own, other) for other in chips) - own for own in chips),
    )


def max_decisions(stacks: list[int], big_blind: int) -> int:
    """A bound. Every raise but the all-ins grows a street's largest bet by a big blind, so there are few; before each
    come at most P-2 calls, and on each street P more that do not raise."""
    most_raises = max(stacks) // big_blind + len(stacks)
    return most_raises * (len(stacks) - 1) + layout.STREETS * len(stacks)


def _stacks(players: int, big_blind: int, stack: int, stacks: str) -> list[int]:
    """Chips seat by seat."""
    if not stacks:
        return [stack] * players
    words = stacks.split("/")
    if len(words) != players or not all(word.strip().isdecimal() and len(word) < 20 for word in words):
        like = "/".join(["200"] * players)
        raise AsyncplayError(f"option stacks of holdem is {stacks!r}, must be whole numbers seat by seat like {like}")
    chips, most = [int(word) for word in words], min(MOST_CHIPS, MOST_BLINDS * big_blind)
    if not all(big_blind < own <= most for own in chips):
        bounds = f"more than the big blind, {big_blind}, and at most {most}"
        raise AsyncplayError(f"option stacks of holdem is {stacks}, must be {bounds}")
    return chips
