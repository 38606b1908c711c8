"""No-limit hold'em for 2 to 6 players: any blinds and stacks, side pots, all amounts of whole chips.

This is the real game. An action is a fold, a call or an amount to raise to, so every bet of every opponent can be
played and stored; which few amounts a blueprint considers is its abstraction, and lies in solve/abstraction.

Modules: layout (the words of a position), betting, dealing and payout (the rules), strength (what seven cards are
worth), encode (what a player sees), canonical (hands and boards but for the names of suits).
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
from asyncplay.games.spec import GameSpec, no_symmetries

DECKS = (24, 36, 52)
MOST_CHIPS, MOST_BLINDS = 1_000_000, 10_000
"""Of a stack, in chips and in big blinds: positions hold a word for each decision that could come."""

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


def spec(
    *, players: int = 2, small_blind: int = 1, big_blind: int = 2, stack: int = 200, stacks: str = "", deck: int = CARDS
) -> GameSpec:
    """A hand from these stacks; ``stacks`` is seat by seat, the first left of the button first, like "200/100/150"."""
    _check({"players": players, "small_blind": small_blind, "big_blind": big_blind, "stack": stack, "deck": deck})
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
        value_scale=1.0 / max(sum(min(own, other) for other in chips) - own for own in chips),
    )


def max_decisions(stacks: list[int], big_blind: int) -> int:
    """A bound. Every raise but the all-ins grows a street's largest bet by a big blind, so there are few; before each
    come at most P-2 calls, and on each street P more that do not raise."""
    most_raises = max(stacks) // big_blind + len(stacks)
    return most_raises * (len(stacks) - 1) + layout.STREETS * len(stacks)


def _check(options: dict[str, int]) -> None:
    for name, value in options.items():
        if type(value) is not int:
            raise AsyncplayError(f"option {name} of holdem is {value!r}, must be a whole number")
    if not 2 <= options["players"] <= layout.MAX_PLAYERS:
        raise AsyncplayError(f"option players of holdem is {options['players']}, must be 2 to {layout.MAX_PLAYERS}")
    if not 1 <= options["big_blind"] <= MOST_CHIPS:
        raise AsyncplayError(f"option big_blind of holdem is {options['big_blind']}, must be 1 to {MOST_CHIPS}")
    if not 0 <= options["small_blind"] <= options["big_blind"]:
        most = f"0 to the big blind, {options['big_blind']}"
        raise AsyncplayError(f"option small_blind of holdem is {options['small_blind']}, must be {most}")
    if options["deck"] not in DECKS:
        raise AsyncplayError(f"option deck of holdem is {options['deck']}, must be 24 (from nines), 36 (sixes) or 52")


def _stacks(players: int, big_blind: int, stack: int, stacks: str) -> list[int]:
    """Chips seat by seat."""
    words = stacks.split("/") if isinstance(stacks, str) and stacks else [str(stack)] * players
    name, value = ("stacks", stacks) if stacks else ("stack", stack)
    if not isinstance(stacks, str) or len(words) != players or not all(word.strip().isdecimal() for word in words):
        like = "/".join(["200"] * players)
        raise AsyncplayError(f"option stacks of holdem is {stacks!r}, must be whole numbers seat by seat like {like}")
    chips, most = [int(word) for word in words], min(MOST_CHIPS, MOST_BLINDS * big_blind)
    if not all(big_blind < own <= most for own in chips):
        bounds = f"more than the big blind, {big_blind}, and at most {most}"
        raise AsyncplayError(f"option {name} of holdem is {value}, must be {bounds}")
    return chips
