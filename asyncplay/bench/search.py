"""How fast trees, rules and encoding are by themselves: the network is a constant."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from asyncplay import games
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.games.spiel import PREFIX, SpielRules
from asyncplay.search import entries
from asyncplay.search.group import make_settings
from asyncplay.search.groups import make_group

GAMES_A_GROUP = 256
SLOW_GAMES = 128  # of the slow lane, as one of two workers has by default
WINDOWS = 10
RACE = {"simulations": 100, "first_play_reduction": 0.0, "noise_weight": 0.0, "keeps_tree": 0}  # as OpenSpiel searches
LOADS: dict[str, dict[str, int]] = {"blob": {"simulations": 30, "worlds": 3}}  # as published by others


class SearchSpeed(TypedDict):
    """One line of the table."""

    game: str
    sims_per_s: float
    openspiel_sims_per_s: NotRequired[float]  # of OpenSpiel's own MCTS in Python, in its own games
    ratio: NotRequired[float]  # the median of the windows', each beside its neighbour


def measure(
    game: str = "connect4", *, option: Sequence[str] | None = None, seconds: float = 3.0, **load: int
) -> SearchSpeed:
    """Play on one core with uniform priors and values of 0.

    The best of ten windows counts, in the process's own time: what slows a window down are other processes. Games of
    OpenSpiel are raced against its own MCTS in Python by the same formula, in windows that take turns.
    """
    spec = games.load(game, games.parse_options(game, option or ()))
    entries.require(spec)
    is_race = game.startswith(PREFIX)
    chosen = ({"simulations": 32} | LOADS.get(game, {}) if not is_race else RACE) | load
    player = _Player(spec, chosen)
    player.play_for(seconds / WINDOWS)
    if not is_race:
        return {"game": game, "sims_per_s": max(player.play_for(seconds / WINDOWS) for _ in range(WINDOWS))}
    other = _Bot(spec, int(chosen["simulations"]))
    other.play_for(seconds / WINDOWS)
    pairs = [(player.play_for(seconds / WINDOWS), other.play_for(seconds / WINDOWS)) for _ in range(WINDOWS)]
    return {
        "game": game,
        "sims_per_s": max(ours for ours, _ in pairs),
        "openspiel_sims_per_s": max(theirs for _, theirs in pairs),
        "ratio": float(np.median([ours / theirs for ours, theirs in pairs])),
    }


class _Player:
    """A group that plays for ever; games that end are followed by the next seed."""

    def __init__(self, spec: GameSpec, load: Mapping[str, float]) -> None:
        n_games = GAMES_A_GROUP if spec.slow is None else SLOW_GAMES
        self._group = make_group(spec, make_settings(spec, **load), n_games)
        self._values = np.zeros((self._group.sizes.rows, spec.players), np.float32)
        legal = np.arange(spec.max_legal + 1, dtype=np.float32)
        self._shares = 1 / np.maximum(legal, 1)  # priors by number of legal actions
        self._next_seed = 0
        self._start(np.arange(n_games, dtype=np.int32))

    def play_for(self, seconds: float) -> float:
        """Return simulations a second."""
        group, begin = self._group, time.process_time()
        before = group.simulations()
        while (spent := time.process_time() - begin) < seconds:
            finished = group.advance()
            if len(finished):
                self._start(finished)
            rows = group.select()
            n_legal = np.diff(rows.offsets)
            group.backup(np.repeat(self._shares[n_legal], n_legal), self._values[: len(n_legal)], 0)
        return (group.simulations() - before) / spent

    def _start(self, slots: np.ndarray) -> None:
        seeds = np.arange(self._next_seed, self._next_seed + len(slots), dtype=np.uint64)
        self._next_seed += len(slots)
        self._group.start(slots, seeds)
        self._group.advance()


class _NullEvaluator:
    """A network without an opinion, asked as OpenSpiel's AlphaZero asks its own: with the tensor and the legal
    actions of every leaf."""

    def evaluate(self, state: Any) -> Any:
        self._row(state)
        return np.zeros(state.num_players())

    def prior(self, state: Any) -> list[tuple[int, float]]:
        self._row(state)
        actions = state.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]

    def _row(self, state: Any) -> tuple[Any, Any]:
        return np.asarray(state.observation_tensor()), np.asarray(state.legal_actions_mask())


class _Bot:
    """OpenSpiel's MCTS in Python, playing its game for ever."""

    def __init__(self, spec: GameSpec, simulations: int) -> None:
        from open_spiel.python.algorithms.mcts import MCTSBot, SearchNode

        rules: SpielRules = spec.slow
        self._rules, self._position = rules, rules.start()
        self._random = np.random.RandomState(0)
        select = SearchNode.puct_value
        self._bot = MCTSBot(
            rules.game, 1.5, simulations, _NullEvaluator(), random_state=self._random, child_selection_fn=select
        )

    def play_for(self, seconds: float) -> float:
        """Return simulations a second."""
        n_simulations, begin = 0, time.process_time()
        while (spent := time.process_time() - begin) < seconds:
            player = self._rules.player(self._position)
            if self._position.is_terminal():
                self._position = self._rules.start()
            elif player == CHANCE_TURN:
                outcomes, odds = zip(*self._rules.chances(self._position), strict=True)
                self._position = self._rules.play(self._position, int(self._random.choice(outcomes, p=odds)))
            else:
                n_simulations += self._bot.mcts_search(self._position).explore_count
                legal = self._rules.legal(self._position)
                self._position = self._rules.play(self._position, int(self._random.choice(legal)))
        return n_simulations / spent
