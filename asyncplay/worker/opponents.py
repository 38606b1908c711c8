"""Players from outside for matches: they see the decisions so far and give the next one."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.errors import AsyncplayError
from asyncplay.worker.perfect import SOLVED_GAMES, PerfectOpponent

OPENSPIEL_GAMES = {"connect4": "connect_four", "tictactoe": "tic_tac_toe"}


class Opponent(Protocol):
    """Decides for the seats it is given."""

    def decide(self, actions: NDArray[np.int32], legal: NDArray[np.int32], seed: int) -> int:
        """Return one of ``legal`` after ``actions``; the same seed gives the same decision."""


class RandomOpponent:
    def decide(self, actions: NDArray[np.int32], legal: NDArray[np.int32], seed: int) -> int:
        return int(legal[int(rng.stream(seed, len(actions))[0]) % len(legal)])


class OpenSpielOpponent:
    """OpenSpiel's C++ MCTS with random rollouts; its action numbers are ours in the games listed above."""

    def __init__(self, game: str, rollouts: int) -> None:
        import pyspiel

        self._pyspiel: Any = pyspiel
        self._game = pyspiel.load_game(OPENSPIEL_GAMES[game])
        self._rollouts = rollouts

    def decide(self, actions: NDArray[np.int32], legal: NDArray[np.int32], seed: int) -> int:
        state = self._game.new_initial_state()
        for action in actions.tolist():
            state.apply_action(action)
        mix = int(rng.stream(seed, len(actions))[0]) & 0x7FFFFFFF
        evaluator = self._pyspiel.RandomRolloutEvaluator(1, mix)
        bot = self._pyspiel.MCTSBot(self._game, evaluator, 1.4, self._rollouts, 1000, True, mix, False)
        return int(bot.step(state))


def opponent(name: str, game: str) -> Opponent:
    """Make the opponent that ``name`` stands for; AsyncplayError if there is none."""
    if name == "random":
        return RandomOpponent()
    if name == "perfect":
        return _perfect(game)
    kind, _, rollouts = name.removeprefix("openspiel:").partition("-")
    if not name.startswith("openspiel:") or kind != "mcts" or not rollouts.isdigit() or int(rollouts) < 1:
        raise AsyncplayError(
            f"{name!r} is no opponent; known are random, perfect, openspiel:mcts-ROLLOUTS or a version"
        )
    if game not in OPENSPIEL_GAMES:
        raise AsyncplayError(f"OpenSpiel does not play {game}; known there are {', '.join(OPENSPIEL_GAMES)}")
    try:
        return OpenSpielOpponent(game, int(rollouts))
    except ModuleNotFoundError:
        raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[dev]'") from None


def _perfect(game: str) -> PerfectOpponent:
    if game not in SOLVED_GAMES:
        raise AsyncplayError(f"nobody plays {game} perfectly here; known are {', '.join(SOLVED_GAMES)}")
    return PerfectOpponent(game)
