"""Games for people: positions described and drawn, actions named and read. Plain Python that no worker imports.

A game's ``show_module`` has an object ``SHOW``, its ``Show``. A game without one is told in numbers.
"""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.show import svg
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

State = NDArray[np.int64]

WIDTH = 80  # columns of a terminal
LISTED = 12  # actions that an error lists
_SUITS = str.maketrans({"♠": "s", "♥": "h", "♣": "c", "♦": "d"})


class LastAction(NamedTuple):
    """The decision that led to a position."""

    state: State  # in which it was made
    player: int
    action: int


class Show:
    """How a game is told to people; this one tells every game in numbers.

    ``viewer`` is the seat that looks, and nothing that is hidden from it shows; None sees everything. An action is
    named in a position where it is legal; no two legal actions of a position have the same name.
    """

    how = "the number of an action"
    """What is typed to act."""

    def player_name(self, spec: GameSpec, state: State, player: int) -> str:
        return f"seat {player}"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return str(action)

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        """What may be typed instead of the name; it counts where no other action is meant."""
        return ()

    def choices(self, spec: GameSpec, state: State, legal: Sequence[int]) -> list[str]:
        """The legal actions as people would list them; a range of amounts may be one entry."""
        return [self.name(spec, state, action) for action in legal]

    def describe(self, spec: GameSpec, state: State, viewer: int | None = None) -> list[str]:
        """The position in words, line by line."""
        lines = [self.turn_line(spec, state)]
        if viewer is None or not spec.is_hidden:
            told = f"state: {' '.join(map(str, state.tolist()))}"
        else:
            row = np.zeros(spec.row_features, spec.feature_dtype)
            spec.kernels.encode(spec.rules, state, viewer, row, spec.new_room())
            seen = row[: spec.features]
            told = " ".join(["features:", *(f"{place}={seen[place]:g}" for place in np.flatnonzero(seen))])
        return [*lines, *wrap(told, WIDTH - 1, subsequent_indent="  ")]

    def turn_line(self, spec: GameSpec, state: State) -> str:
        """Who acts, or what each got."""
        player = int(spec.kernels.to_move(spec.rules, state))
        if player == CHANCE_TURN:
            return "chance is next"
        if player != GAME_OVER:
            return f"{self.player_name(spec, state, player)} to act"
        gains = enumerate(returns_of(spec, state))
        shares = (f"{self.player_name(spec, state, seat)} {share:+g}" for seat, share in gains)
        return f"over: {', '.join(shares)}"

    def told(self, spec: GameSpec, viewer: int | None, last: LastAction) -> str | None:
        """A decision in words; None if the viewer has not seen it."""
        return f"{self.player_name(spec, last.state, last.player)}: {self.name(spec, last.state, last.action)}"

    def last_line(self, spec: GameSpec, viewer: int | None, last: LastAction | None) -> list[str]:
        """The last action where the viewer has seen it, else no line."""
        told = None if last is None else self.told(spec, viewer, last)
        return [] if told is None else [f"last: {told}"]

    def text(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        """A drawing for terminals, without a newline at its end."""
        return "\n".join([*self.describe(spec, state, viewer), *self.last_line(spec, viewer, last)])

    def svg(self, spec: GameSpec, state: State, viewer: int | None = None, last: LastAction | None = None) -> str:
        """A drawing as a whole SVG file."""
        lines = self.text(spec, state, viewer, last).splitlines()
        return svg.document(svg.WIDTH, svg.LINE * (len(lines) + 1), svg.written(lines))

    def animation(self, spec: GameSpec, states: Sequence[State]) -> str | None:
        """All positions of a game in one SVG; None: this game has no such drawing."""
        return None


NUMBERS = Show()


def show_of(spec: GameSpec) -> Show:
    """How this game is told."""
    if spec.show_module is None:
        return NUMBERS
    found: Show = import_module(spec.show_module).SHOW
    return found


def returns_of(spec: GameSpec, state: State) -> list[float]:
    """What each seat has got so far."""
    returns = np.zeros(spec.players)
    spec.kernels.returns(spec.rules, state, returns)
    return [float(share) for share in returns]


def legal_actions(spec: GameSpec, state: State) -> list[int]:
    """Ascending."""
    listed = np.empty(spec.max_legal, np.int32)
    legal: list[int] = listed[: spec.kernels.legal(spec.rules, state, listed, spec.new_room())].tolist()
    return legal


def parse(spec: GameSpec, state: State, typed: str) -> int:
    """The legal action that was typed: its name, another spelling, or # and its number; AsyncplayError tells what is
    legal. Capitals, spaces and punctuation do not count."""
    show, legal, words = show_of(spec), legal_actions(spec, state), _words(typed)
    for action in legal:
        if words in (_words(show.name(spec, state, action)), ["#", str(action)]):
            return action
    meant = [action for action in legal if words in map(_words, show.spellings(spec, state, action))]
    if len(meant) == 1:
        return meant[0]
    listed = list_few(show.choices(spec, state, meant or legal))
    raise AsyncplayError(f"{typed!r} {'may be any of' if meant else 'is not legal here; legal are'} {listed}")


def list_few(choices: Sequence[str]) -> str:
    """The first of them, and how many are left out."""
    more = f" and {len(choices) - LISTED} more" if len(choices) > LISTED else ""
    return f"{', '.join(choices[:LISTED])}{more}"


def _words(typed: str) -> list[str]:
    """What counts of a typed text: its letters and numbers, a1c1 being a 1 c 1."""
    return re.findall(r"[^\W\d_]+|[0-9]+|#", typed.translate(_SUITS).casefold())
