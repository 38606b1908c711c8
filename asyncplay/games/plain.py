"""Games that users write as a plain Python class: ``python:MODULE:CLASS``.

A position is any object that never changes and says in ``player`` who is to decide: a seat, CHANCE (-1), or OVER (-2).
The class has five methods and some sizes, see ``PlainGame``; with chance a sixth method. Everything is visible to
everybody. docs/other-games.md has an example.
"""

import json
import os
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import isfinite, prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.options import GameOption
from asyncplay.games.slow import SlowSizes, make_spec
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

PREFIX = "python:"
OPTIONS = (GameOption("arguments", str, "", "Of the class.", form='JSON such as {"size": 5}, or empty'),)
CHANCE, OVER = CHANCE_TURN, GAME_OVER
MOST_PLAYERS, MOST_SIZE = 8, 1 << 20
METHODS = ("start", "legal", "play", "returns", "features")
TRIED_GAMES = 3  # at random, before a run begins


class PlainGame(Protocol):
    """What a class must have; positions are its own objects with an attribute ``player``."""

    players: int  # 2 to 8
    actions: int  # they are numbers 0 .. actions - 1
    shape: tuple[int, ...]  # of the features; three numbers are channels, rows and columns of a board
    longest: int  # decisions of a game, at most
    # least_return = -1.0, most_return = 1.0: the range of what a seat gets, if it is another one
    # chances(position): list of (outcome, probability) where position.player is CHANCE, if there is chance

    def start(self) -> Any:
        """The position before anything happened."""

    def legal(self, position: Any) -> list[int]:
        """Ascending; asked only where a seat decides."""

    def play(self, position: Any, action: int) -> Any:
        """The position after an action, or an outcome of chance; ``position`` itself must stay as it is."""

    def returns(self, position: Any) -> Sequence[float]:
        """What each seat got; asked at the end."""

    def features(self, position: Any, player: int) -> Any:
        """Numbers of the declared shape, as the player sees the position."""


def load(name: str, chosen: Mapping[str, Any]) -> GameSpec:
    """AsyncplayError if there is no such class, or it is no such game."""
    game = _make(name, str(chosen["arguments"]))
    for method in METHODS:
        if not callable(getattr(game, method, None)):
            raise AsyncplayError(f"{name} has no method {method}; wanted are {', '.join(METHODS)}")
    for size, most in (("players", MOST_PLAYERS), ("actions", MOST_SIZE), ("longest", MOST_SIZE)):
        value, least = getattr(game, size, None), 2 if size == "players" else 1
        if type(value) is not int or not least <= value <= most:
            raise AsyncplayError(f"{name}: {size} is {value!r:.40}, must be a whole number from {least} to {most}")
    shape = getattr(game, "shape", None)
    if not (isinstance(shape, tuple) and shape and all(type(side) is int and side > 0 for side in shape)):
        raise AsyncplayError(f"{name}: shape is {shape!r:.40}, must be a tuple of whole numbers such as (3, 8, 8)")
    low, high = float(getattr(game, "least_return", -1.0)), float(getattr(game, "most_return", 1.0))
    if not (isfinite(low) and isfinite(high) and low < high):
        raise AsyncplayError(f"{name}: least_return is {low}, most_return {high}; the second must be larger")
    rules = PlainRules(game)
    sizes = SlowSizes(
        players=game.players,
        actions=game.actions,
        features=prod(shape),
        planes=(shape[0], shape[1], shape[2]) if len(shape) == 3 else None,
        longest=game.longest,
        most_chances=game.longest * 2 + 2 if rules.has_chance else 0,
        most_outcomes=game.actions,
        least_return=low,
        most_return=high,
        is_cut=True,
    )
    for seed in range(TRIED_GAMES):
        _try_out(name, rules, sizes, random.Random(seed))
    return make_spec(name, rules, sizes)


def _make(name: str, arguments: str) -> Any:
    module_name, colon, class_name = name.removeprefix(PREFIX).partition(":")
    if not (module_name and colon and class_name):
        raise AsyncplayError(f"game.name is {name}, must be {PREFIX}MODULE:CLASS")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # a file beside which the command was typed, as of `python -m`
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise AsyncplayError(f"game.name is {name}: {module_name} cannot be imported: {error}") from None
    if not isinstance(kind := getattr(module, class_name, None), type):
        raise AsyncplayError(f"game.name is {name}: {module_name} has no class {class_name}")
    try:
        given = json.loads(arguments) if arguments else {}
        if not isinstance(given, dict):
            raise ValueError("it is no object")
        return kind(**given)
    except ValueError as error:
        raise AsyncplayError(f"option arguments of {name} is {arguments!r:.60}, must be JSON: {error}") from None
    except TypeError as error:
        raise AsyncplayError(f"option arguments of {name}: {error}") from None


class PlainRules:
    """A user's game behind the interface of the slow lane."""

    def __init__(self, game: Any) -> None:
        self._game, self.has_chance = game, callable(getattr(game, "chances", None))
        self.start: Any = game.start
        self.legal: Any = game.legal
        self.play: Any = game.play
        self.returns: Any = game.returns

    def player(self, position: Any) -> int:
        return int(position.player)

    def chances(self, position: Any) -> list[tuple[int, float]]:
        return list(self._game.chances(position))

    def encode(self, position: Any, viewer: int, row: NDArray[np.float32]) -> None:
        row[:] = np.asarray(self._game.features(position, viewer), np.float32).ravel()

    def look(self, position: Any, viewer: int) -> str:
        raise AsyncplayError("a game in plain Python does not say what its players know: it cannot be solved by table")

    def imagine(self, position: Any, viewer: int, draw: Callable[[], float]) -> list[int]:
        raise AssertionError("nothing is hidden")


def _try_out(name: str, rules: PlainRules, sizes: SlowSizes, numbers: random.Random) -> None:
    """AsyncplayError about what a random game shows to be wrong."""
    position, row, n_decisions, n_words = rules.start(), np.zeros(sizes.features, np.float32), 0, 0
    while (player := rules.player(position)) >= 0 or player == CHANCE:
        if player == CHANCE:
            if not rules.has_chance:
                raise AsyncplayError(f"{name}: it is chance's turn, but there is no method chances")
            listed = rules.chances(position)
            if not listed or abs(sum(odds for _, odds in listed) - 1.0) > 1e-6 or len(listed) > sizes.most_outcomes:
                told = f"{len(listed)} outcomes of chance with {sum(odds for _, odds in listed):g} in all"
                raise AsyncplayError(
                    f"{name}: {told}, wanted are 1 to {sizes.most_outcomes} whose probabilities make 1"
                )
            action = numbers.choices([outcome for outcome, _ in listed], [odds for _, odds in listed])[0]
        else:
            legal = rules.legal(position)
            if player >= sizes.players:
                raise AsyncplayError(f"{name}: player is {player}, the seats are 0 to {sizes.players - 1}")
            if not legal or legal != sorted(set(legal)) or not 0 <= legal[0] <= legal[-1] < sizes.actions:
                raise AsyncplayError(
                    f"{name}: legal actions {legal!r:.60}, must ascend within 0 to {sizes.actions - 1}"
                )
            n_features = np.size(rules._game.features(position, player))
            if n_features != sizes.features:
                raise AsyncplayError(f"{name}: {n_features} features, its shape says {sizes.features}")
            rules.encode(position, player, row)
            if not np.isfinite(row).all() or np.abs(row).max() > 100.0:
                raise AsyncplayError(f"{name}: a feature that is no number from -100 to 100")
            if n_decisions == sizes.longest:
                return
            n_decisions += 1
            action = numbers.choice(legal)
        n_words += 1
        if n_words > sizes.longest + sizes.most_chances:
            raise AsyncplayError(f"{name}: more than {sizes.most_chances} turns of chance in {n_decisions} decisions")
        position = rules.play(position, action)
    gains = list(rules.returns(position))
    if len(gains) != sizes.players or not all(sizes.least_return <= gain <= sizes.most_return for gain in gains):
        told = f"{sizes.players} from {sizes.least_return:g} to {sizes.most_return:g}"
        raise AsyncplayError(f"{name}: returns {gains!r:.60}, wanted are {told}")
