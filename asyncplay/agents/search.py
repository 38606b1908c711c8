"""Search over what a network estimates, one decision at a time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from asyncplay import machine, rng
from asyncplay.agents.agent import DecisionPoint
from asyncplay.config.sections import SearchSettings
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array, Estimates, Floats, Positions, offsets_of
from asyncplay.search import layout
from asyncplay.search.group import Group, kernel_settings, make_sizes

Estimator = Callable[[Positions], Estimates]
"""The network: rows in, what it thinks of them out."""

TIMED_SIMULATIONS = 8_192  # in each world, at most, of a decision by the clock: its trees are made for so many
LARGEST_TREES = 2**31  # edges: their numbers are of 32 bits
WORLDS_STREAM = 8


class Thought(NamedTuple):
    """What was thought of a position, and decided. Lists are in the order of ``legal``.

    Values are on the scale of networks, -1 to 1 (the game's returns times ``value_scale`` plus ``value_offset``), None
    where nothing is known.
    """

    action: int
    legal: list[int]
    priors: list[float]  # what the network or the table would do without a search; they add up to 1
    visits: list[int]  # simulations that went through each action; 0 where nothing was searched
    action_values: list[float | None]  # for the seat to decide
    values: list[float | None]  # of the position, by seat
    simulations: int


class SearchAgent:
    """Searches each decision from its position, as in matches: without noise, and the best action is taken."""

    def __init__(self, spec: GameSpec, search: SearchSettings, estimate: Estimator) -> None:
        """Compiles or fetches the search of the game."""
        self._spec, self._search, self._estimate = spec, search, estimate
        self._group = self._make_group(search.simulations)

    def decide(self, point: DecisionPoint) -> int:
        thoughts = rng.derive(point.seed, len(point.actions))
        return self.think(Position.from_state(self._spec, point.state), thoughts=thoughts).action

    def think(
        self,
        position: Position,
        *,
        thoughts: int,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Thought:
        """Search so many simulations in each world, those of the configuration without a number; or so many seconds,
        TIMED_SIMULATIONS at most. ``thoughts`` is the seed of chance in the search."""
        n_simulations = simulations or (TIMED_SIMULATIONS if seconds else self._search.simulations)
        deadline_s = clock() + (seconds or float("inf"))
        estimates, legal = self.estimate([position]), position.legal
        if len(legal) == 1:
            priors, known = [1.0], self._by_seat(position, estimates, None)
            return Thought(legal[0], legal, priors, [0], [known[position.player]], known, 0)
        group = self._prepare(n_simulations)
        group.place(0, position, thoughts=thoughts)
        group.advance()
        trees = group.memory.forest.trees
        while (trees["simulations"] < trees["budget"]).any():
            rows = group.select()
            if len(rows.slots):
                answer = self._estimate(Positions(rows.features, rows.legal, rows.offsets))
                group.backup(answer.priors, answer.values, answer.version)
            else:
                group.backup(np.empty(0, np.float32), np.empty((0, self._spec.players), np.float32), 0)
            if clock() >= deadline_s:
                break
            if (trees["simulations"] < trees["budget"]).any():
                group.advance()  # lets sequential halving go on; no decision is due
        trees["budget"] = trees["simulations"]  # also where the clock ended it
        visits, means = group.visits(0), group.means(0)
        done = int(trees["simulations"].sum())
        group.advance()
        action = int(group.memory.records.decisions[0, len(position.actions)]["action"])
        group.stop(np.zeros(1, np.int32))
        values = self._by_seat(position, estimates, means.root)
        action_values = [None if np.isnan(mean) else float(mean) for mean in means.actions]
        priors = estimates.priors[: len(legal)].tolist()
        return Thought(action, legal, priors, visits.tolist(), action_values, values, done)

    def estimate(self, positions: Sequence[Position]) -> Estimates:
        """What the network alone thinks of positions. What is hidden from the seats to decide is imagined, never read:
        the mean over ``search.worlds`` worlds."""
        if not self._spec.shows_hidden:
            features = np.stack([position.features() for position in positions])
            return self._estimate(_rows(features, positions))
        worlds = [world for position in positions for world in self._worlds(position)]
        each = len(worlds) // len(positions)
        found = self._estimate(_rows(np.stack([world.features() for world in worlds]), worlds))
        priors = [
            part for place, part in enumerate(np.split(found.priors, _ends(worlds))) if place % each == 0
        ]  # policies do not see what is hidden
        values: Floats = found.values.reshape(len(positions), each, -1).mean(axis=1)
        return Estimates(np.concatenate(priors), values, found.version)

    def _worlds(self, position: Position) -> list[Position]:
        spec, drawn = self._spec, np.zeros((self._search.worlds, self._spec.state_words), np.int64)
        stream = rng.stream(position.seed, WORLDS_STREAM, len(position.actions))
        spec.kernels.determinize(spec.rules, position.state, position.player, stream, drawn)
        return [Position.from_state(spec, state) for state in drawn]

    def _prepare(self, simulations: int) -> Group:
        """The group, with trees for so many simulations."""
        if simulations > (self._group.sizes.nodes_per_tree - 16) // 4:
            self._group = self._make_group(simulations)
        search = replace(self._search, simulations=simulations)
        self._group.settings = kernel_settings(self._spec, search, is_match=True)
        return self._group

    def _make_group(self, simulations: int) -> Group:
        settings = kernel_settings(self._spec, replace(self._search, simulations=simulations), is_match=True)
        sizes = make_sizes(self._spec, settings, 1)
        needed = layout.needed_bytes(self._spec, sizes, settings)
        if needed > machine.at_hand() or sizes.edges_per_tree * sizes.worlds >= LARGEST_TREES:
            told = f"{simulations:,} simulations of {self._spec.name} need {needed / 1e9:,.1f} GB of trees"
            raise AsyncplayError(f"{told}, more than there is; take fewer")
        return Group(self._spec, settings, 1, sizes)

    def _by_seat(self, position: Position, estimates: Estimates, searched: float | None) -> list[float | None]:
        """The network's values turned to seats; of the seat to decide what the search found, of its only opponent in a
        game of nothing to share the same with the other sign."""
        spec, player = self._spec, position.player
        values: list[float | None] = np.roll(estimates.values[0, : spec.players], player).tolist()
        if searched is not None:
            values[player] = searched
            if spec.players == 2 and spec.zero_sum and spec.value_offset == 0.0:
                values[1 - player] = -searched
        return values


def _rows(features: Array, positions: Sequence[Position]) -> Positions:
    legal = [position.legal for position in positions]
    counts = np.array([len(actions) for actions in legal])
    return Positions(features, np.concatenate(legal).astype(np.int32), offsets_of(counts))


def _ends(positions: Sequence[Position]) -> Array:
    """Where the legal actions of all positions but the last end."""
    return np.cumsum([len(position.legal) for position in positions])[:-1]
