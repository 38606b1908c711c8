"""What ``asyncplay.load`` returns: one interface to networks, tables and populations."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from asyncplay import rng
from asyncplay.agents.agent import DecisionPoint, draw_action
from asyncplay.agents.greedy import GreedyAgent
from asyncplay.agents.search import SearchAgent, Thought
from asyncplay.agents.table import PolicyTable
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array


class Judgement(NamedTuple):
    """What is thought of a position without a search."""

    legal: list[int]
    policy: list[float]  # in the order of ``legal``; adds up to 1
    values: list[float | None]  # by seat, -1 to 1 as networks have them; None where nothing is known


class Mind(Protocol):
    """What a kind of run has learned to do with a position of its game that is not over."""

    def think(self, position: Position, *, simulations: int | None, seconds: float | None, seed: int) -> Thought: ...

    def evaluate(self, positions: Sequence[Position]) -> list[Judgement]: ...


class TrainedAgent:
    """Decides as a run has learned to, for every seat of its game. It belongs to one thread."""

    def __init__(self, run: Path, game: GameSpec, version: int, mind: Mind) -> None:
        self.run, self.game, self._mind = run, game, mind
        self.version = version  # of the weights; of a table the number of its checkpoint, of a blueprint iterations

    def new_position(self, seed: int = 0) -> Position:
        """The first decision of a game; chance and deals follow from the seed."""
        return Position.start(self.game, seed)

    def act(
        self,
        position: Position,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
    ) -> int:
        """The action of the seat to decide; the same arguments give the same one, unless ``seconds`` do not.

        ``simulations`` of each imagined world, those of the run's configuration without a number, or ``seconds`` to
        search; of tables and populations, which do not search, neither matters. ``seed``: of chance in the search, or
        of the draw from a table's policy; without it the position's own.
        """
        return self.think(position, simulations=simulations, seconds=seconds, seed=seed).action

    def think(
        self,
        position: Position,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
    ) -> Thought:
        """As ``act``, with what led to the decision."""
        if simulations is not None and (seconds is not None or simulations < 1):
            raise AsyncplayError(f"simulations is {simulations}, must be 1 or more, and not beside seconds")
        if seconds is not None and not 0.0 < seconds < float("inf"):
            raise AsyncplayError(f"seconds is {seconds}, must be more than 0")
        own = self._own(position)
        return self._mind.think(
            own, simulations=simulations, seconds=seconds, seed=position.seed if seed is None else seed
        )

    def evaluate(self, positions: Sequence[Position]) -> list[Judgement]:
        """What the network or the table alone holds of positions, in their order; nothing is searched."""
        return self._mind.evaluate([self._own(position) for position in positions]) if positions else []

    def decide(self, point: DecisionPoint) -> int:
        """As agents do: see ``asyncplay.agents.agent``."""
        position = Position.from_state(self.game, point.state, point.seed)
        return self.act(position, seed=rng.derive(point.seed, len(point.actions)))

    def _own(self, position: Position) -> Position:
        """The position in this run's form of its game."""
        game, other = self.game, position.spec
        if other.name != game.name or not np.array_equal(other.rules, game.rules):
            which = other.name if other.name != game.name else f"{game.name} with other options"
            raise AsyncplayError(f"a position of {which} was given to an agent of {game.name} from {self.run}")
        if position.is_over:
            raise AsyncplayError(f"this game of {game.name} is over: there is nothing to decide")
        if other is game:
            return position
        return Position(game, position.seed, position.actions, state=position.state, stream=position.stream)

    def __repr__(self) -> str:
        return f"<{self.game.name} agent of {self.run}, version {self.version}>"


class SearchMind:
    """A network, and a search over what it says."""

    def __init__(self, agent: SearchAgent) -> None:
        self._agent = agent

    def think(self, position: Position, *, simulations: int | None, seconds: float | None, seed: int) -> Thought:
        thoughts = rng.derive(seed, len(position.actions))
        return self._agent.think(position, thoughts=thoughts, simulations=simulations, seconds=seconds)

    def evaluate(self, positions: Sequence[Position]) -> list[Judgement]:
        found, first, judgements = self._agent.estimate(positions), 0, []
        for row, position in enumerate(positions):
            legal = position.legal
            policy = found.priors[first : first + len(legal)].tolist()
            values = np.roll(found.values[row, : position.spec.players], position.player).tolist()
            judgements.append(Judgement(legal, policy, values))
            first += len(legal)
        return judgements


class TableMind:
    """A policy table: decisions are drawn from it."""

    def __init__(self, table: PolicyTable, values: "InfosetValues | None" = None) -> None:
        self._table, self._values = table, values

    def think(self, position: Position, *, simulations: int | None, seconds: float | None, seed: int) -> Thought:
        (judged,) = self.evaluate([position])
        action = draw_action(dict(zip(judged.legal, judged.policy, strict=True)), DecisionPoint.of(position, seed))
        nothing: list[float | None] = [None] * len(judged.legal)
        return Thought(action, judged.legal, judged.policy, [0] * len(judged.legal), nothing, judged.values, 0)

    def evaluate(self, positions: Sequence[Position]) -> list[Judgement]:
        judgements = []
        for position in positions:
            odds = self._table.odds(DecisionPoint.of(position))
            values: list[float | None] = [None] * position.spec.players
            if self._values is not None:
                values = self._values.of(position)
            judgements.append(Judgement(position.legal, [odds.get(a, 0.0) for a in position.legal], values))
        return judgements


class InfosetValues(Protocol):
    """What seats may expect where the table knows it."""

    def of(self, position: Position) -> list[float | None]: ...


class GreedyMind:
    """A population: the agent of each seat takes what is worth most to it."""

    def __init__(self, agent: GreedyAgent) -> None:
        self._agent = agent

    def think(self, position: Position, *, simulations: int | None, seconds: float | None, seed: int) -> Thought:
        worths = self._worths(position)
        best, legal = int(np.argmax(worths)), position.legal
        policy = [float(place == best) for place in range(len(legal))]
        values = [float(worths[best]) if seat == position.player else None for seat in range(position.spec.players)]
        return Thought(legal[best], legal, policy, [0] * len(legal), [float(worth) for worth in worths], values, 0)

    def evaluate(self, positions: Sequence[Position]) -> list[Judgement]:
        thoughts = [self.think(position, simulations=None, seconds=None, seed=0) for position in positions]
        return [Judgement(thought.legal, thought.priors, thought.values) for thought in thoughts]

    def _worths(self, position: Position) -> Array:
        return self._agent.worths(DecisionPoint.of(position))
