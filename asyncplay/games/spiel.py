"""Games of OpenSpiel: ``openspiel:NAME`` with parameters as OpenSpiel writes them, ``openspiel:hex(board_size=5)``.

Features are the game's own tensor and the seat that looks, as a 1 among zeros: many tensors do not tell who is to
move. What is hidden can be searched where OpenSpiel draws a hidden position anew (``resample_from_infostate``).
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games import options as declarations
from asyncplay.games.options import GameOption
from asyncplay.games.slow import SlowSizes, make_spec
from asyncplay.games.spec import CHANCE_TURN, GameSpec

PREFIX = "openspiel:"
OPTIONS = (
    GameOption(
        "longest", int, 0, "Decisions after which a game is broken off; 0: as the game says.", within=(0, 100_000)
    ),
)
MOST_PLAYERS = 8
MOST_SIZE = 1 << 20  # of actions and decisions: parameters beyond make numbers overflow
TRIED_DECISIONS = 60  # of a random game, to see whether what is hidden can be drawn anew


def load(name: str, chosen: Mapping[str, Any]) -> GameSpec:
    """AsyncplayError if there is no such game, or it cannot be played here."""
    try:
        import pyspiel
    except ImportError:
        raise AsyncplayError(f"{name} needs open_spiel: pip install 'asyncplay[openspiel]'") from None
    game = _load_game(pyspiel, name)
    kind, own_longest = game.get_type(), game.max_game_length()
    _refuse(pyspiel, name, game)
    is_hidden = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
    rules = SpielRules(pyspiel, game, is_hidden=is_hidden)
    longest = min(chosen["longest"] or own_longest, own_longest)
    sizes = SlowSizes(
        players=game.num_players(),
        actions=game.num_distinct_actions(),
        features=rules.features,
        planes=rules.planes,
        longest=longest,
        most_chances=max(game.max_chance_nodes_in_history(), 0) if _has_chance(pyspiel, kind) else 0,
        most_outcomes=game.max_chance_outcomes(),
        least_return=game.min_utility(),
        most_return=game.max_utility(),
        zero_sum=kind.utility == pyspiel.GameType.Utility.ZERO_SUM,
        is_hidden=is_hidden,
        is_cut=longest < own_longest,
        unsearchable=_unsearchable(pyspiel, rules, game, is_hidden=is_hidden),
    )
    return make_spec(name, rules, sizes)


def _load_game(pyspiel: Any, name: str) -> Any:
    words = name.removeprefix(PREFIX)
    short, parenthesis, _ = words.partition("(")
    known = pyspiel.registered_names()
    if short not in known:
        near = get_close_matches(short[: declarations.MOST_LETTERS], known, 1, cutoff=0.0)[0]
        raise AsyncplayError(f"{short[: declarations.MOST_LETTERS]!r} is no game of OpenSpiel, did you mean {near!r}?")
    if parenthesis and not words.endswith(")"):
        raise AsyncplayError(f"{name}: its parameters must be like {PREFIX}{short}(KEY=VALUE,KEY=VALUE)")
    with _quiet():
        try:
            given = pyspiel.game_parameters_from_string(words)
            declared = next(kind for kind in pyspiel.registered_games() if kind.short_name == short)
        except (pyspiel.SpielError, ValueError) as error:
            raise AsyncplayError(f"{name}: {_first_line(error)}") from None
        allowed = sorted(declared.parameter_specification)
        for key in given:
            if key != "name" and key not in allowed:
                raise AsyncplayError(declarations.unknown(f"parameter of {short}", key, allowed))
        try:
            return pyspiel.load_game(words)
        except (pyspiel.SpielError, ValueError) as error:
            raise AsyncplayError(f"{name} cannot be loaded: {_first_line(error)}") from None


def _refuse(pyspiel: Any, name: str, game: Any) -> None:
    """AsyncplayError about what neither a search nor a table can play; of nonsense no state is made, it may crash."""
    kind, kinds = game.get_type(), pyspiel.GameType
    shape = game.observation_tensor_shape() if kind.provides_observation_tensor else []
    if not (0 < game.num_distinct_actions() <= MOST_SIZE and 0 < game.max_game_length() <= MOST_SIZE) or any(
        side <= 0 for side in shape
    ):
        sizes = f"{game.num_distinct_actions()} actions and {game.max_game_length()} decisions"
        raise AsyncplayError(f"{name}: with these parameters it has {sizes}, which no game here can have")
    if kind.dynamics == kinds.Dynamics.SIMULTANEOUS:
        cure = f"solve it as turns by {PREFIX}turn_based_simultaneous_game(game={name.removeprefix(PREFIX)})"
        raise AsyncplayError(f"{name}: its players move at the same time, which is not searched here; {cure}")
    if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
        raise AsyncplayError(f"{name} is a mean field game; wanted are games in which players take turns")
    if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        raise AsyncplayError(f"{name} does not list what chance may bring; wanted are games that do")
    if not 2 <= game.num_players() <= MOST_PLAYERS:
        raise AsyncplayError(f"{name} is for {game.num_players()} player(s), wanted are games of 2 to {MOST_PLAYERS}")


def _has_chance(pyspiel: Any, kind: Any) -> bool:
    return bool(kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC)


def _unsearchable(pyspiel: Any, rules: "SpielRules", game: Any, *, is_hidden: bool) -> str:
    if not rules.features:
        return "it has no tensor of what a player sees; if it is small it is solved by table, --solve.method external"
    if is_hidden and not _can_imagine(pyspiel, rules, game):
        lack = "OpenSpiel cannot draw its hidden positions anew"
        return f"{lack}; if it is small it is solved by table, --solve.method external"
    return ""


def _can_imagine(pyspiel: Any, rules: "SpielRules", game: Any) -> bool:
    """Whether what is hidden can be drawn anew all along a random game, with the history of what was drawn."""
    numbers, position = random.Random(0), game.new_initial_state()
    with _quiet():
        for _ in range(TRIED_DECISIONS):
            player = rules.player(position)
            if position.is_terminal():
                break
            if player == CHANCE_TURN:
                outcomes, odds = zip(*position.chance_outcomes(), strict=True)
                position = position.child(numbers.choices(outcomes, odds)[0])
                continue
            try:
                drawn = game.new_initial_state()
                for action in rules.imagine(position, player, numbers.random):
                    drawn.apply_action(action)
                is_same = drawn.current_player() == player and rules.look(drawn, player) == rules.look(position, player)
            except (pyspiel.SpielError, RuntimeError):
                return False
            if not is_same:
                return False
            position = position.child(numbers.choice(position.legal_actions()))
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """OpenSpiel writes its errors to the process's stderr before it raises them."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class SpielRules:
    """The rules of one game of OpenSpiel; its states are the positions."""

    def __init__(self, pyspiel: Any, game: Any, *, is_hidden: bool) -> None:
        kind = game.get_type()
        self.game = game
        self._tells_history = bool(is_hidden and kind.provides_information_state_string)
        sees_recall = kind.provides_information_state_tensor and (is_hidden or not kind.provides_observation_tensor)
        self._is_recall = sees_recall
        self._is_hidden = is_hidden
        shape: list[int] = []
        if sees_recall:
            shape = game.information_state_tensor_shape()
        elif kind.provides_observation_tensor:
            shape = game.observation_tensor_shape()
        self._n_tensor = prod(shape) if shape else 0
        self.features = self._n_tensor + game.num_players() if shape else 0
        self.planes = (shape[0], shape[1], shape[2]) if len(shape) == 3 else None
        self._observation = None if sees_recall or not shape else _observation(pyspiel, game, self._n_tensor)
        self._seats = np.eye(game.num_players(), dtype=np.float32)
        # OpenSpiel's own methods, without a frame of Python around each call
        self.start: Any = game.new_initial_state
        self.player: Any = pyspiel.State.current_player
        self.legal: Any = pyspiel.State.legal_actions
        self.chances: Any = pyspiel.State.chance_outcomes
        self.play: Any = pyspiel.State.child
        self.returns: Any = pyspiel.State.returns

    def encode(self, position: Any, viewer: int, row: NDArray[np.float32]) -> None:
        size = self._n_tensor
        if self._observation is not None:
            self._observation.set_from(position, viewer)
            row[:size] = self._observation.tensor
        elif self._is_recall:
            row[:size] = position.information_state_tensor(viewer)
        else:
            row[:size] = position.observation_tensor(viewer)
        row[size:] = self._seats[viewer]

    def look(self, position: Any, viewer: int) -> str:
        if self._tells_history:
            return str(position.information_state_string(viewer))
        if self._is_hidden:
            return str(position.observation_string(viewer))
        return " ".join(map(str, position.history()))

    def imagine(self, position: Any, viewer: int, draw: Callable[[], float]) -> list[int]:
        if not self._is_hidden:
            return position.history()
        return position.resample_from_infostate(viewer, draw).history()


def _observation(pyspiel: Any, game: Any, n_tensor: int) -> Any:
    """OpenSpiel's view of the tensor without a list in between, a fifth of the time; None where it has another one."""
    from open_spiel.python.observation import make_observation

    position = game.new_initial_state()
    while position.is_chance_node():
        position = position.child(position.chance_outcomes()[0][0])
    with _quiet():
        try:
            view = make_observation(game)
            if view is None or view.tensor is None or len(view.tensor) != n_tensor:
                return None
            view.set_from(position, 0)
        except (pyspiel.SpielError, RuntimeError, ValueError):
            return None
    return view if np.array_equal(view.tensor, np.array(position.observation_tensor(0), np.float32)) else None
