"""What a policy earns and what a best response would earn against it, exactly, for any number of players.

A policy is float64[E], the odds of each entry of flat.py. A best response decides its infosets from the last
decisions to the first: the choice at an infoset needs the values below all histories the player cannot tell apart.
"""

from typing import NamedTuple

import numpy as np
from numba import float64, int64, typeof, types, void
from numpy.typing import NDArray

from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.solve.flat import Array, Flat, FlatGame, empty_flat

NO_LEVEL = -1
NO_SEAT = np.iinfo(np.int16).min  # no node's mover


class Exploitability(NamedTuple):
    """float64[P] each, in the game's units, by seat."""

    values: NDArray[np.float64]  # when all seats follow the policy
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
    """A policy that is measured, and arrays to work in."""

    flat: Flat
    policy: Array  # float64[E]
    levels: Array  # int32[I], how many decisions of its own the infoset's player has behind it
    values: Array  # float64[H], the value of each history to the player in question
    reach: Array  # float64[H], how likely chance and the others let it happen
    gains: Array  # float64[E], the value of an action, times the reach
    choices: Array  # int32[I], the action a best response takes


_NUMBERS, _FLOATS = np.zeros(1, np.int32), np.zeros(1)
STUDY = typeof(Study(empty_flat(), _FLOATS, _NUMBERS, _FLOATS, _FLOATS, _FLOATS, _NUMBERS))


def exploitability(game: FlatGame, policy: NDArray[np.float64]) -> Exploitability:
    """Measure a policy: a few passes over all histories for each seat."""
    study = _study(game, policy)
    values, best = np.array([value_and_best(study, player) for player in range(game.players)]).T
    return Exploitability(values, best)


def _study(game: FlatGame, policy: NDArray[np.float64]) -> Study:
    return Study(
        game.flat,
        policy,
        game.levels(),
        np.zeros(game.n_histories),
        np.zeros(game.n_histories),
        np.zeros(game.n_entries),
        np.zeros(game.n_infosets, np.int32),
    )


@kernel(types.UniTuple(float64, 2)(STUDY, int64))
def value_and_best(study, player):
    """What the player earns when all follow the policy, and when it does what is best against the others."""
    value_histories(study, player, NO_SEAT, NO_LEVEL)
    value = study.values[0]
    spread_reach(study, player)
    last = NO_LEVEL
    for infoset in range(len(study.levels)):
        if study.flat.movers[infoset] == player:
            last = max(last, study.levels[infoset])
    for level in range(last, NO_LEVEL - 1, -1):  # the last pass decides nothing, it only values
        value_histories(study, player, player, level)
        choose(study, player, level)
    return value, study.values[0]


@helper
def value_histories(study, player, responder, level):
    """Value all histories to ``player``: ``responder`` follows its choices, all others the policy.

    Gather the gains of the responder's infosets of this level.
    """
    flat, values, gains = study.flat, study.values, study.gains
    for entry in range(len(gains)):
        gains[entry] = 0.0
    for number in range(len(flat.worlds) - 1, -1, -1):
        world = flat.worlds[number]
        for back in range(world.n):
            node, shift = last_node(world, back), world.shift
            at, cell, here = flat.nodes[node], flat.cells[node + shift], node + shift
            if at.mover == GAME_OVER:
                values[here] = flat.payoffs[cell, player]
            elif at.mover != responder:
                values[here] = expected(study, at, shift, cell)
            else:
                infoset = flat.infoset_of[cell]
                values[here] = values[at.first + study.choices[infoset] + shift]
                if study.levels[infoset] == level:
                    for k in range(at.n):
                        gains[cell + k] += study.reach[here] * values[at.first + k + shift]


@helper
def last_node(world, back):
    """The nodes of a world backwards: a history is valued after those that follow it."""
    return np.uint64(world.node + world.n - 1 - back)


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


@helper
def spread_reach(study, player):
    """How likely chance and the others let each history happen; where several outcomes lead, they are added up."""
    flat, reach = study.flat, study.reach
    for history in range(len(reach)):
        reach[history] = 0.0
    reach[0] = 1.0
    for number in range(len(flat.worlds)):
        world = flat.worlds[number]
        shift = world.shift
        for node in range(np.uint64(world.node), np.uint64(world.node + world.n)):
            at, cell, here = flat.nodes[node], flat.cells[node + shift], reach[node + shift]
            if at.mover == CHANCE_TURN:
                for k in range(flat.outcomes[cell].n):
                    outcome = flat.outcomes[cell + k]
                    reach[outcome.node + outcome.shift] += here * outcome.odds
            for k in range(at.n):
                reach[at.first + k + shift] += here * (1.0 if at.mover == player else study.policy[cell + k])


@helper
def choose(study, player, level):
    """Take the best action at each of the player's infosets of this level."""
    offsets, gains = study.flat.offsets, study.gains
    for infoset in range(len(study.levels)):
        if study.flat.movers[infoset] == player and study.levels[infoset] == level:
            first, best = offsets[infoset], 0
            for k in range(1, offsets[infoset + 1] - first):
                if gains[first + k] > gains[first + best]:
                    best = k
            study.choices[infoset] = best


def infoset_values(game: FlatGame, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[I, P]: what each seat may expect at each infoset when all follow the policy; NaN where the policy of the
    others never lets it happen."""
    study = _study(game, policy)
    totals, weights = np.zeros((game.n_infosets, game.players)), np.zeros(game.n_infosets)
    for mover in range(game.players):
        for player in range(game.players):
            ready(add_values)(study, mover, player, totals, weights)
    weights /= game.players  # each was added for every player
    means: NDArray[np.float64] = np.divide(
        totals, weights[:, None], out=np.full_like(totals, np.nan), where=weights[:, None] > 0.0
    )
    return means


@kernel(void(STUDY, int64, int64, float64[:, ::1], float64[::1]))
def add_values(study, mover, player, totals, weights):
    """Add the values for ``player`` of the histories in which ``mover`` decides to those of their infosets, by reach:
    a mover that forgets nothing has come to all of them with the same odds."""
    flat = study.flat
    value_histories(study, player, NO_SEAT, NO_LEVEL)
    spread_reach(study, mover)
    for number in range(len(flat.worlds)):
        world = flat.worlds[number]
        for node in range(np.uint64(world.node), np.uint64(world.node + world.n)):
            if flat.nodes[node].mover == mover:
                here = node + world.shift
                infoset = flat.infoset_of[flat.cells[here]]
                totals[infoset, player] += study.reach[here] * study.values[here]
                weights[infoset] += study.reach[here]
