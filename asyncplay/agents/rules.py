"""The rule-based player that a game brings."""

from asyncplay.agents.agent import DecisionPoint
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernels import ready
from asyncplay.games.spec import GameSpec


class RulesAgent:
    """Decides by the game's kernel ``advise``, which looks at no card that its seat does not see."""

    def __init__(self, game: GameSpec) -> None:
        if game.advise is None:
            raise AsyncplayError(f"{game.name} has no rule-based player; use random or a version")
        self._rules, self._room, self._advise = game.rules, game.new_room(), ready(game.advise)

    def decide(self, point: DecisionPoint) -> int:
        return int(self._advise(self._rules, point.state, self._room))
