"""A trained agent inside OpenSpiel: as a bot, and as a policy.

The other direction, OpenSpiel's bots as our opponents, is ``asyncplay.agents.openspiel``.
"""

from typing import Any

from asyncplay import rng
from asyncplay.agents.spiel_states import position_of, spiel_name
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.trained.agent import TrainedAgent

try:
    import pyspiel
    from open_spiel.python import policy as spiel_policy
except ModuleNotFoundError:
    raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[openspiel]'") from None


class SpielBot(pyspiel.Bot):  # type: ignore[misc]  # of C++
    """Decides for one player of OpenSpiel's game; the same seed gives the same decisions."""

    def __init__(self, agent: TrainedAgent, player: int, *, simulations: int | None = None, seed: int = 0) -> None:
        super().__init__()
        self._agent, self._player, self._simulations, self._seed = agent, player, simulations, seed
        self._name, self._n_steps = str(pyspiel.load_game(spiel_name(agent.game))), 0

    def player_id(self) -> int:
        return self._player

    def restart(self) -> None:
        """Nothing is kept of a game."""

    def restart_at(self, state: Any) -> None:
        """Likewise."""

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """States bring their history."""

    def provides_policy(self) -> bool:
        return True

    def step(self, state: Any) -> int:
        self._n_steps += 1
        position = self._position(state)
        seed = rng.derive(self._seed, self._player, self._n_steps)
        return self._agent.act(position, simulations=self._simulations, seed=seed)

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """What the network or the table alone would do."""
        (found,) = self._agent.evaluate([self._position(state)])
        return list(zip(found.legal, found.policy, strict=True))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        return self.get_policy(state), self.step(state)

    def _position(self, state: Any) -> Position:
        _require_same(str(state.get_game()), self._name)
        return position_of(self._agent.game, state)


class SpielPolicy(spiel_policy.Policy):  # type: ignore[misc]  # untyped
    """What an agent would do at any state, as odds, for all players of OpenSpiel's game.

    With ``simulations`` the odds are the shares of visits of a search, else those of the network or the table alone.
    """

    def __init__(self, agent: TrainedAgent, *, simulations: int | None = None) -> None:
        game = pyspiel.load_game(spiel_name(agent.game))
        super().__init__(game, list(range(game.num_players())))
        self._agent, self._simulations = agent, simulations

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        _require_same(str(state.get_game()), str(self.game))
        position = position_of(self._agent.game, state)
        if self._simulations is not None:
            thought = self._agent.think(position, simulations=self._simulations)
            if total := sum(thought.visits):
                return {a: n / total for a, n in zip(thought.legal, thought.visits, strict=True)}
        (found,) = self._agent.evaluate([position])
        return dict(zip(found.legal, found.policy, strict=True))


def _require_same(name: str, wanted: str) -> None:
    if name != wanted:
        raise AsyncplayError(f"a state of OpenSpiel's {name} was given to an agent of {wanted}")
