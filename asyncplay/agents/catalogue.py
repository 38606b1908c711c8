"""Players from outside for matches: they see a game as it stands and give the next decision."""

from typing import Any

from asyncplay import rng
from asyncplay.agents.agent import Agent, DecisionPoint
from asyncplay.agents.library import PREFIX, foreign
from asyncplay.agents.perfect import SOLVED_GAMES, PerfectAgent
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import GameSpec

MOST_ROLLOUTS = 10_000_000
OPENSPIEL_GAMES = {"connect4": "connect_four", "tictactoe": "tic_tac_toe"}


class RandomAgent:
    def decide(self, moment: DecisionPoint) -> int:
        return int(moment.legal[int(rng.stream(moment.seed, len(moment.actions))[0]) % len(moment.legal)])


class RulesAgent:
    """The game's own rule-based player; it looks at no card that its seat does not see."""

    def __init__(self, game: GameSpec) -> None:
        self._rules, self._advise = game.rules, ready(game.advise)

    def decide(self, moment: DecisionPoint) -> int:
        return int(self._advise(self._rules, moment.state))


class OpenSpielAgent:
    """OpenSpiel's C++ MCTS with random rollouts; its action numbers are ours in the games listed above."""

    def __init__(self, game: str, rollouts: int) -> None:
        import pyspiel

        self._pyspiel: Any = pyspiel
        self._game = pyspiel.load_game(OPENSPIEL_GAMES[game])
        self._rollouts = rollouts

    def decide(self, moment: DecisionPoint) -> int:
        state = self._game.new_initial_state()
        for action in moment.actions.tolist():
            state.apply_action(action)
        mix = int(rng.stream(moment.seed, len(moment.actions))[0]) & 0x7FFFFFFF
        evaluator = self._pyspiel.RandomRolloutEvaluator(1, mix)
        bot = self._pyspiel.MCTSBot(self._game, evaluator, 1.4, self._rollouts, 1000, True, mix, False)
        return int(bot.step(state))


def is_count(text: str) -> bool:
    """Whether it says how much an opponent may think."""
    return text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_ROLLOUTS


def opponent(name: str, game: GameSpec) -> Agent:
    """Make the opponent that ``name`` stands for; AsyncplayError if there is none."""
    if name == "random":
        return RandomAgent()
    if name == "perfect":
        return _perfect(game.name)
    if name == "rules":
        return _rules(game)
    if name.startswith(PREFIX):
        return foreign(name, game)
    kind, _, rollouts = name.removeprefix("openspiel:").partition("-")
    if not name.startswith("openspiel:") or kind != "mcts" or not is_count(rollouts):
        raise AsyncplayError(
            f"{name!r} is no opponent; known are random, rules, perfect, openspiel:mcts-ROLLOUTS, "
            "openspiel:ismcts-SIMULATIONS or a version"
        )
    if game.name not in OPENSPIEL_GAMES:
        raise AsyncplayError(f"OpenSpiel does not play {game.name}; known there are {', '.join(OPENSPIEL_GAMES)}")
    try:
        return OpenSpielAgent(game.name, int(rollouts))
    except ModuleNotFoundError:
        raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[openspiel]'") from None


def _rules(game: GameSpec) -> RulesAgent:
    if game.advise is None:
        raise AsyncplayError(f"{game.name} has no rule-based player; use random or a version")
    return RulesAgent(game)


def _perfect(game: str) -> PerfectAgent:
    if game not in SOLVED_GAMES:
        raise AsyncplayError(f"nobody plays {game} perfectly here; known are {', '.join(SOLVED_GAMES)}")
    return PerfectAgent(game)
