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
from asyncplay.solve.flat import Flat, FlatGame, empty_flat

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types
NO_LEVEL = -1


class Exploitability(NamedTuple):
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
    values: Array  # float64[H], what each history is worth to the player in question
    reach: Array  # float64[H], how likely chance and the others let it happen
    gains: Array  # float64[E], what an action is worth, times the reach
    choices: Array  # int32[R], the action a best response takes


_NUMBERS, _FLOATS = np.zeros(1, np.int32), np.zeros(1)
STUDY = typeof(Study(empty_flat(), _FLOATS, _NUMBERS, _FLOATS, _FLOATS, _FLOATS, _NUMBERS))


def exploitability(game: FlatGame, policy: NDArray[np.float64]) -> Exploitability:
    """Measure a policy: a few passes over all histories for each seat."""
    study = Study(
        game.flat,
        policy,
        game.levels(),
        np.zeros(game.n_histories),
        np.zeros(game.n_histories),
        np.zeros(game.n_entries),
        np.zeros(game.n_rows, np.int32),
    )
    values, best = np.zeros(game.players), np.zeros(game.players)
    for player in range(game.players):
        values[player] = value_of(study, player)
        best[player] = best_response(study, player)
    return Exploitability(values, best)


@helper
def expected(study, at, shift, cell):
    """The value of a history from those that may follow: by the odds of chance, or by the policy."""
    value = 0.0
    if at.mover == CHANCE_TURN:
        for k in range(study.flat.outcomes[cell].n):
            outcome = study.flat.outcomes[cell + k]
            value += outcome.odds * study.values[outcome.node + outcome.shift]
        return value
    for k in range(at.n):
        value += study.policy[cell + k] * study.values[at.first + k + shift]
    return value


@kernel(float64(STUDY, int64))
def value_of(study, player):
    """What the player earns when everybody follows the policy."""
    flat, values = study.flat, study.values
    for number in range(len(flat.worlds) - 1, -1, -1):
        world = flat.worlds[number]
        for k in range(world.n):
            node = last_node(world, k)
            at, cell = flat.nodes[node], flat.cells[node + world.shift]
            is_over = at.mover == GAME_OVER
            values[node + world.shift] = (
                flat.payoffs[cell, player] if is_over else expected(study, at, world.shift, cell)
            )
    return values[0]


@helper
def last_node(world, k):
    """The nodes of a world backwards, so that what follows a history comes before it."""
    return np.uint64(world.node + world.n - 1 - k)


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
    """How likely chance and the others let each history happen; where several ways lead, they are added up."""
    flat, reach = study.flat, study.reach
    for history in range(len(reach)):
        reach[history] = 0.0
    reach[0] = 1.0
    for number in range(len(flat.worlds)):
        world = flat.worlds[number]
        for node in range(np.uint64(world.node), np.uint64(world.node + world.n)):
            spread_one(study, player, node, world.shift)


@helper
def spread_one(study, player, node, shift):
    """From a history to those that may follow."""
    flat, reach = study.flat, study.reach
    at, cell, here = flat.nodes[node], flat.cells[node + shift], reach[node + shift]
    if at.mover == CHANCE_TURN:
        for k in range(flat.outcomes[cell].n):
            outcome = flat.outcomes[cell + k]
            reach[outcome.node + outcome.shift] += here * outcome.odds
    for k in range(at.n):
        reach[at.first + k + shift] += here * (1.0 if at.mover == player else study.policy[cell + k])


@helper
def value_and_gather(study, player, level):
    """Value all histories by the present choices, and gather what the actions of this level's rows are worth."""
    flat, gains = study.flat, study.gains
    for entry in range(len(gains)):
        gains[entry] = 0.0
    for number in range(len(flat.worlds) - 1, -1, -1):
        world = flat.worlds[number]
        for k in range(world.n):
            value_one(study, player, level, last_node(world, k), world.shift)


@helper
def value_one(study, player, level, node, shift):
    """One history, for a player that decides by its choices."""
    flat, values = study.flat, study.values
    at, cell = flat.nodes[node], flat.cells[node + shift]
    if at.mover == GAME_OVER:
        values[node + shift] = flat.payoffs[cell, player]
    elif at.mover != player:
        values[node + shift] = expected(study, at, shift, cell)
    else:
        row = flat.row_of[cell]
        values[node + shift] = values[at.first + study.choices[row] + shift]
        if study.levels[row] == level:
            for k in range(at.n):
                study.gains[cell + k] += study.reach[node + shift] * values[at.first + k + shift]


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
