"""Monte Carlo counterfactual regret minimisation: sampled walks through a flat game.

An iteration is one walk for each player. A walk draws chance and the other players from their strategies.
EXTERNAL: the walking player tries every action. OUTCOME: it draws one, mixed with exploration, and divides
by the odds of what it drew; both change each regret by what a full walk would, in the mean. The strategies
of the others are summed where the walk passes them, divided by the odds with which the walking player's own
draws led there, so that the sums are unbiased too (two players; with more, an infoset's sums are weighted
by how often the third party lets it happen).

Iteration t draws from ``rng.stream(seed, t)``: a range of iterations does the same wherever it is walked from
the same table.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int32, int64, typeof, void
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.config.tables import SolveSettings
from asyncplay.games.kernels import Kernel, helper, kernel, ready
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.solve.deltas import count_entries
from asyncplay.solve.flat import Array, Flat, FlatGame, empty_flat
from asyncplay.solve.regret import REGRET, SUM, TABLE, Table, matching, new_table

EXTERNAL, OUTCOME = 0, 1
ONE, NO_FLOOR = np.uint64(1), -np.inf


class SamplerSettings(NamedTuple):
    """How to walk."""

    method: int = EXTERNAL
    is_linear: int = 1  # iteration t counts t + 1 times
    explore_first: float = 0.6  # OUTCOME: the part of the draws that falls on all actions alike,
    explore_last: float = 0.6  # in the first iteration and, going down in a line,
    explore_iterations: int = 0  # after this many. Above 0, so that every regret is kept up to date
    prune_below: float = 0.0  # EXTERNAL: skip actions whose regret is below minus this, times the weight; 0: never
    prune_after: int = 0  # from this iteration on
    prune_share: float = 0.95  # in this part of the walks


def sampler_settings(solve: SolveSettings) -> SamplerSettings:
    """Return what a section ``[solve]`` means for a walk."""
    return SamplerSettings(
        method=EXTERNAL if solve.method == "external" else OUTCOME,
        is_linear=int(solve.weighting == "linear"),
        explore_first=solve.exploration,
        explore_last=solve.exploration_last,
        explore_iterations=solve.exploration_iterations,
        prune_below=solve.prune_below,
        prune_after=solve.prune_after,
    )


class Touched(NamedTuple):
    """The infosets that were changed since the last ``withdraw``."""

    marks: Array  # uint8[E], of an infoset at its first entry
    infosets: Array  # int32[I], the first ``count`` in order of their first change
    count: Array  # int64[1]
    before: Array  # float64[E], the regrets of these infosets as they were


def new_touched(n_entries: int, n_infosets: int) -> Touched:
    """Nothing is."""
    marks, before = np.zeros(n_entries, np.uint8), np.zeros(n_entries)
    return Touched(marks, np.zeros(n_infosets, np.int32), np.zeros(1, np.int64), before)


class SamplerScratch(NamedTuple):
    """Arrays to work in."""

    frames: Array  # FRAME[...], the walking player's decisions on the present path
    values: Array  # float64[..., max actions], the value of each of their actions
    stream: Array  # uint64[4]
    utility: Array  # float64[P], summed over walks


FRAME = np.dtype(
    [
        ("node", np.uint64),
        ("shift", np.uint64),  # of its world
        ("entry", np.uint64),  # the first one of its infoset
        ("action", np.uint64),  # the one that is being tried
        ("floor", np.float64),  # EXTERNAL: the regret below which an action is skipped
        ("share", np.float64),  # OUTCOME: the strategy's part in the action,
        ("odds", np.float64),  # how likely it was drawn
        ("reach", np.float64),  # and how likely the draws before it were
    ],
    align=True,
)


class Ground(NamedTuple):
    """All that a walk needs."""

    flat: Flat
    table: Array  # float64[E, 2], see regret.py
    touched: Touched
    scratch: SamplerScratch
    settings: SamplerSettings


_SCRATCH = SamplerScratch(np.zeros(1, FRAME), np.zeros((1, 1)), np.zeros(1, np.uint64), np.zeros(1))
_GROUND = Ground(empty_flat(), np.zeros((1, 2)), new_touched(1, 1), _SCRATCH, SamplerSettings())
GROUND, TOUCHED = typeof(_GROUND), typeof(_GROUND.touched)  # the same for all games
WALK = int64(GROUND, int64, int64, int64)


@kernel(WALK)
def walk_external(ground, seed, first, n):
    """Walk ``n`` iterations from number ``first`` on; return how many nodes were passed."""
    settings, stream, passed = ground.settings, ground.scratch.stream, 0
    for iteration in range(first, first + n):
        rng.plant(stream, seed, iteration)
        weight = weight_of(settings, iteration)
        prunes = settings.prune_below != 0.0 and iteration >= settings.prune_after
        for player in range(ground.flat.payoffs.shape[1]):
            is_pruned = prunes and rng.uniform(stream) < settings.prune_share
            passed += try_all(ground, player, weight, -settings.prune_below * weight if is_pruned else NO_FLOOR)
    return passed


@helper
def weight_of(settings, iteration):
    """What an iteration counts."""
    return iteration + 1.0 if settings.is_linear else 1.0


@helper
def touch(ground, entry, n):
    """Note the infoset of this first entry, and its regrets before its first change."""
    touched = ground.touched
    if touched.marks[entry] == 0:
        touched.marks[entry] = 1
        touched.infosets[np.uint64(touched.count[0])] = ground.flat.infoset_of[entry]
        touched.count[0] += 1
        for k in range(n):
            touched.before[entry + np.uint64(k)] = ground.table[entry + np.uint64(k), REGRET]


@helper
def draw_outcome(ground, cell):
    """The outcome that chance draws."""
    outcomes = ground.flat.outcomes
    spot = rng.uniform(ground.scratch.stream) * outcomes[cell].n
    k = np.uint64(spot)
    return outcomes[cell + (k if spot - k < outcomes[cell + k].keep else np.uint64(outcomes[cell + k].other))]


@helper
def draw_other(ground, at, first, weight):
    """The child that another player's strategy draws; the strategy is added to its sums."""
    touch(ground, first, at.n)
    table = ground.table
    scale, even = matching(table, first, at.n)
    spot, chosen = rng.uniform(ground.scratch.stream), np.uint64(0)
    for k in range(at.n):
        entry = first + np.uint64(k)
        part = max(table[entry, REGRET], 0.0) * scale + even
        table[entry, SUM] += weight * part
        spot -= part
        chosen += ONE if spot >= 0.0 else np.uint64(0)
    return at.first + min(chosen, np.uint64(at.n - 1))  # rounding may leave a little of the spot


@helper
def try_all(ground, player, weight, floor):
    """One external walk: every action of the player, one of every other; return the nodes passed.

    Actions with a regret below ``floor`` are skipped, unless the infoset has no positive regret.
    """
    flat, depth, passed = ground.flat, np.uint64(0), 0
    node, shift = np.uint64(flat.worlds[0].node), flat.worlds[0].shift
    while True:
        at, cell = flat.nodes[node], np.uint64(flat.cells[node + shift])
        passed += 1
        if at.mover == player:
            frame = ground.scratch.frames[depth]
            frame.node = node
            frame.shift = shift
            frame.entry = cell
            touch(ground, cell, at.n)
            frame.floor = floor
            if floor > NO_FLOOR and matching(ground.table, cell, at.n)[1] > 0.0:
                frame.floor = NO_FLOOR
            frame.action = next_action(ground.table, frame, at.n, np.uint64(0))
            node = at.first + frame.action
            depth += ONE
        elif at.mover == CHANCE_TURN:
            outcome = draw_outcome(ground, cell)
            node, shift = np.uint64(outcome.node), outcome.shift
        elif at.mover != GAME_OVER:
            node = draw_other(ground, at, cell, weight)
        else:
            depth = hand_up(ground, flat.payoffs[cell, player], depth, weight)
            if depth == 0:
                ground.scratch.utility[player] += ground.scratch.values[0, 0]
                return passed
            frame = ground.scratch.frames[depth - ONE]
            node, shift = flat.nodes[frame.node].first + frame.action, frame.shift


@helper
def next_action(table, frame, n, action):
    """This action or the next one that is not skipped; ``n`` if there is none."""
    if frame.floor > NO_FLOOR:
        while action < n and table[frame.entry + action, REGRET] < frame.floor:
            action += ONE
    return action


@helper
def hand_up(ground, value, depth, weight):
    """Give a value to the decision above, and on from each that has all its values; return the depth that is left.

    There the next action is to be tried. At the end the value of the whole walk lies in ``scratch.values[0, 0]``.
    """
    values = ground.scratch.values
    while depth > 0:
        frame = ground.scratch.frames[depth - ONE]
        n = ground.flat.nodes[frame.node].n
        values[depth - ONE, frame.action] = value
        frame.action = next_action(ground.table, frame, n, frame.action + ONE)
        if frame.action < n:
            return depth
        depth -= ONE
        value = settle(ground, n, depth, weight)
    values[0, 0] = value
    return depth


@helper
def settle(ground, n, depth, weight):
    """The value of a decision; its regrets grow by the value of each action beyond it.

    They are as they were when the walk came here: with perfect recall it comes only once.
    """
    table, values, frame = ground.table, ground.scratch.values, ground.scratch.frames[depth]
    first, floor, total, value, mean = frame.entry, frame.floor, 0.0, 0.0, 0.0
    for k in range(n):
        regret = max(table[first + np.uint64(k), REGRET], 0.0)
        total += regret
        value += regret * values[depth, np.uint64(k)]
        mean += values[depth, np.uint64(k)]
    value = value / total if total > 0.0 else mean / n
    for k in range(n):
        if table[first + np.uint64(k), REGRET] >= floor:
            table[first + np.uint64(k), REGRET] += weight * (values[depth, np.uint64(k)] - value)
    return value


@kernel(WALK)
def walk_outcome(ground, seed, first, n):
    """Walk ``n`` iterations from number ``first`` on; return how many nodes were passed."""
    passed = 0
    for iteration in range(first, first + n):
        rng.plant(ground.scratch.stream, seed, iteration)
        weight, explore = weight_of(ground.settings, iteration), explore_of(ground.settings, iteration)
        for player in range(ground.flat.payoffs.shape[1]):
            passed += try_one(ground, player, weight, explore)
    return passed


@helper
def explore_of(settings, iteration):
    """How much the walking player explores, in a line from first to last."""
    left = max(1.0 - iteration / settings.explore_iterations, 0.0) if settings.explore_iterations > 0 else 0.0
    return settings.explore_last + left * (settings.explore_first - settings.explore_last)


@helper
def try_one(ground, player, weight, explore):
    """One outcome walk: a single path down, then the regrets from its end up; return the nodes passed."""
    flat, depth, passed, reach = ground.flat, np.uint64(0), 0, 1.0
    node, shift = np.uint64(flat.worlds[0].node), flat.worlds[0].shift
    while True:
        at, cell = flat.nodes[node], np.uint64(flat.cells[node + shift])
        passed += 1
        if at.mover == player:
            frame = ground.scratch.frames[depth]
            frame.node = node
            frame.entry = cell
            frame.reach = reach
            explore_one(ground, frame, at.n, explore)
            reach *= frame.odds
            node = at.first + frame.action
            depth += ONE
        elif at.mover == CHANCE_TURN:
            outcome = draw_outcome(ground, cell)
            node, shift = np.uint64(outcome.node), outcome.shift
        elif at.mover != GAME_OVER:
            node = draw_other(ground, at, cell, weight / reach)
        else:
            ground.scratch.utility[player] += back_up(ground, flat.payoffs[cell, player], depth, weight)
            return passed


@helper
def explore_one(ground, frame, n, explore):
    """Draw an action of the walking player into its frame: uniform with the odds ``explore``, else by its strategy."""
    table, first = ground.table, frame.entry
    touch(ground, first, n)
    scale, even = matching(table, first, n)
    spot, chosen = rng.uniform(ground.scratch.stream), np.uint64(0)
    for k in range(n):
        part = max(table[first + np.uint64(k), REGRET], 0.0) * scale + even
        spot -= explore / n + (1.0 - explore) * part
        chosen += ONE if spot >= 0.0 else np.uint64(0)
    frame.action = min(chosen, np.uint64(n - 1))
    frame.share = max(table[first + frame.action, REGRET], 0.0) * scale + even
    frame.odds = explore / n + (1.0 - explore) * frame.share


@helper
def back_up(ground, value, depth, weight):
    """Change the regrets of the decisions on the path; return the value of the root.

    What was not drawn counts as 0 and what was drawn is divided by its odds: right in the mean.
    """
    while depth > 0:
        depth -= ONE
        frame, table = ground.scratch.frames[depth], ground.table
        drawn = value / frame.odds
        value = frame.share * drawn
        for k in range(ground.flat.nodes[frame.node].n):
            table[frame.entry + np.uint64(k), REGRET] -= weight / frame.reach * value
        table[frame.entry + frame.action, REGRET] += weight / frame.reach * drawn
    return value


@kernel(void(int32[::1], TABLE, TOUCHED, float64[::1], float64[::1]))
def withdraw(offsets, table, touched, regrets, sums):
    """Write what changed, and undo it: regrets are as they were, strategy sums 0, and no infoset counts as touched."""
    place = 0
    for infoset in touched.infosets[: touched.count[0]]:
        touched.marks[offsets[infoset]] = 0
        for entry in range(offsets[infoset], offsets[infoset + 1]):
            regrets[place] = table[entry, REGRET] - touched.before[entry]
            sums[place] = table[entry, SUM]
            table[entry, REGRET] = touched.before[entry]
            table[entry, SUM] = 0.0
            place += 1
    touched.count[0] = 0


KERNELS = (walk_external, walk_outcome, withdraw)


class Walked(NamedTuple):
    """What a call has done."""

    nodes: int
    utility: NDArray[np.float64]  # float64[P], summed over the iterations: estimates of what the strategies earn


class Changes(NamedTuple):
    """What happened to a table."""

    infosets: NDArray[np.int32]  # int32[k], in order of their first change
    regrets: NDArray[np.float64]  # float64[e], what was added to each of their entries, infoset after infoset
    sums: NDArray[np.float64]  # float64[e]


class PieceWalker:
    """Walks on a table. Its ``ground`` has the game, the table and scratch memory; ``walk`` is the kernel for it."""

    def __init__(self, ground: Any, walk: Kernel, seed: int) -> None:
        self._ground, self._walk, self._seed = ground, ready(walk), seed

    def run(self, first: int, n: int) -> Walked:
        """Walk iterations ``first`` to ``first + n - 1``."""
        utility = self._ground.scratch.utility
        utility[:] = 0.0
        nodes = self._walk(self._ground, self._seed, first, n)
        return Walked(nodes, utility.copy())


class TableSampler(PieceWalker):
    """Knows what it changed on its table; the ground has what was touched too."""

    def __init__(self, offsets: NDArray[np.int32], ground: Any, walk: Kernel, seed: int) -> None:
        super().__init__(ground, walk, seed)
        self.offsets, self.table = offsets, ground.table

    def withdraw(self) -> Changes:
        """Return what was added to the table since the last call, and take it back; the rest of it is not read.

        Where tables are merged, the changes come back merged with those of other workers.
        """
        touched = self._ground.touched
        infosets: NDArray[np.int32] = touched.infosets[: touched.count[0]].copy()
        regrets, sums = np.empty((2, ready(count_entries)(self.offsets, infosets)))
        ready(withdraw)(self.offsets, self.table, touched, regrets, sums)
        return Changes(infosets, regrets, sums)


class Sampler(TableSampler):
    """Walks a flat game on a table of its own, or on one that it is given."""

    def __init__(self, game: FlatGame, settings: SamplerSettings, seed: int, table: Table | None = None) -> None:
        table = new_table(game) if table is None else table
        depth, widest = int(game.levels().max()) + 1, int(np.diff(game.offsets).max())
        stream, utility = np.zeros(rng.STREAM_WORDS, np.uint64), np.zeros(game.players)
        scratch = SamplerScratch(np.zeros(depth, FRAME), np.zeros((depth, widest)), stream, utility)
        touched = new_touched(game.n_entries, game.n_infosets)
        walk = walk_outcome if settings.method == OUTCOME else walk_external
        super().__init__(game.offsets, Ground(game.flat, table, touched, scratch, settings), walk, seed)
