"""What a policy earns and what a best response would earn against it, exactly, for any number of players.

A policy is float64[E], the odds of each entry of flat.py. A best response decides its rows from the last
decisions to the first: a row's choice needs the values below all histories the player cannot tell apart.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, typeof
from numpy.typing import NDArray

from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.flat import Flat, FlatGame, empty_flat

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types
NO_LEVEL = -1


class Worth(NamedTuple):
    """float64[P] each, in the game's units, by seat."""

    values: NDArray[np.float64]  # when everybody follows the policy
    best: NDArray[np.float64]  # when this seat alone knows the policy and does what is best against it

    @property
    def nash_conv(self) -> float:
        """What all seats together could win by knowing: 0 at an equilibrium."""
        return float((self.best - self.values).sum())

    @property
    def exploitability(self) -> float:
        """The mean of it over seats."""
        return self.nash_conv / len(self.values)


class Study(NamedTuple):
    """A policy under study and room to work in."""

    flat: Flat
    policy: Array  # float64[E]
    levels: Array  # int32[R], how many decisions of its own the row's player has behind it
    values: Array  # float64[N], what each node is worth to the player in question
    reach: Array  # float64[N], how likely chance and the others let it happen
    gains: Array  # float64[E], what an action is worth, times the reach
    choices: Array  # int32[R], the action a best response takes


_NUMBERS, _FLOATS = np.zeros(1, np.int32), np.zeros(1)
STUDY = typeof(Study(empty_flat(), _FLOATS, _NUMBERS, _FLOATS, _FLOATS, _FLOATS, _NUMBERS))


def worth(game: FlatGame, policy: NDArray[np.float64]) -> Worth:
    """Measure a policy: a few passes over all nodes for each seat."""
    n_nodes = len(game.flat.nodes)
    study = Study(
        game.flat,
        policy,
        game.levels(),
        np.zeros(n_nodes),
        np.zeros(n_nodes),
        np.zeros(game.n_entries),
        np.zeros(game.n_rows, np.int32),
    )
    values, best = np.zeros(game.players), np.zeros(game.players)
    for player in range(game.players):
        values[player] = value_of(study, player)
        best[player] = best_response(study, player)
    return Worth(values, best)


@helper
def expected(study, at):
    """The value of a node from those of its children: by the policy, or by the odds of chance."""
    value = 0.0
    for k in range(at.n):
        odds = study.flat.outcomes[at.row + k].odds if at.mover == CHANCE_TURN else study.policy[at.entry + k]
        value += odds * study.values[at.first + k]
    return value


@kernel(float64(STUDY, int64))
def value_of(study, player):
    """What the player earns when everybody follows the policy."""
    for node in range(len(study.flat.nodes) - 1, -1, -1):
        at = study.flat.nodes[node]
        if at.mover == GAME_OVER:
            study.values[node] = study.flat.payoffs[at.first, player]
        else:
            study.values[node] = expected(study, at)
    return study.values[0]


@kernel(float64(STUDY, int64))
def best_response(study, player):
    """What the player earns when it does what is best against the others."""
    spread_reach(study, player)
    last = NO_LEVEL
    for row in range(len(study.levels)):
        if study.flat.movers[row] == player:
            last = max(last, study.levels[row])
    for level in range(last, NO_LEVEL - 1, -1):  # the last pass decides nothing, it only values
        value_and_gather(study, player, level)
        choose(study, player, level)
    return study.values[0]


@helper
def spread_reach(study, player):
    """How likely chance and the others let each node happen; what has several parents adds them up."""
    flat, reach = study.flat, study.reach
    for node in range(len(flat.nodes)):
        reach[node] = 0.0
    reach[0] = 1.0
    for node in range(len(flat.nodes)):
        at = flat.nodes[node]
        for k in range(at.n):
            odds = 1.0
            if at.mover == CHANCE_TURN:
                odds = flat.outcomes[at.row + k].odds
            elif at.mover != player:
                odds = study.policy[at.entry + k]
            reach[at.first + k] += reach[node] * odds


@helper
def value_and_gather(study, player, level):
    """Value all nodes by the present choices, and gather what the actions of this level's rows are worth."""
    flat, values, gains = study.flat, study.values, study.gains
    for entry in range(len(gains)):
        gains[entry] = 0.0
    for node in range(len(flat.nodes) - 1, -1, -1):
        at = flat.nodes[node]
        if at.mover == GAME_OVER:
            values[node] = flat.payoffs[at.first, player]
        elif at.mover != player:
            values[node] = expected(study, at)
        else:
            values[node] = values[at.first + study.choices[at.row]]
            if study.levels[at.row] == level:
                for k in range(at.n):
                    gains[at.entry + k] += study.reach[node] * values[at.first + k]


@helper
def choose(study, player, level):
    """Take the best action in each of the player's rows of this level."""
    offsets, gains = study.flat.offsets, study.gains
    for row in range(len(study.levels)):
        if study.flat.movers[row] == player and study.levels[row] == level:
            first, best = offsets[row], 0
            for k in range(1, offsets[row + 1] - first):
                if gains[first + k] > gains[first + best]:
                    best = k
            study.choices[row] = best
