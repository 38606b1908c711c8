"""OpenSpiel's MCTS, in its own games and in those of ours that it knows with the same action numbers."""

from typing import Any

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.agents.spiel_states import BOARDS
from asyncplay.errors import AsyncplayError
from asyncplay.games import spiel
from asyncplay.games.slow import HEAD, WORDS

PREFIX = "openspiel:mcts-"
MOST_ROLLOUTS = 10_000_000


class OpenSpielAgent:
    """OpenSpiel's C++ MCTS with random rollouts."""

    def __init__(self, game: str, rollouts: int) -> None:
        self._is_own = game.startswith(spiel.PREFIX)
        if not self._is_own and game not in BOARDS:
            known = ", ".join(BOARDS)
            raise AsyncplayError(f"OpenSpiel does not play {game}; known there are {known} and {spiel.PREFIX}NAME")
        try:
            import pyspiel
        except ModuleNotFoundError:
            raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[openspiel]'") from None
        self._pyspiel: Any = pyspiel
        self._game = pyspiel.load_game(game.removeprefix(spiel.PREFIX) if self._is_own else BOARDS[game])
        self._rollouts = rollouts

    def decide(self, point: DecisionPoint) -> int:
        state = self._game.new_initial_state()
        history = point.state[HEAD : HEAD + point.state[WORDS]] if self._is_own else point.actions
        for action in history.tolist():
            state.apply_action(action)
        mix = int(rng.stream(point.seed, len(point.actions))[0]) & 0x7FFFFFFF
        evaluator = self._pyspiel.RandomRolloutEvaluator(1, mix)
        bot = self._pyspiel.MCTSBot(self._game, evaluator, 1.4, self._rollouts, 1000, True, mix, False)
        return int(bot.step(state))


def is_count(text: str) -> bool:
    """Whether a text is a number of rollouts or simulations for a decision."""
    return text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_ROLLOUTS
