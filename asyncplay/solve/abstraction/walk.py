"""External sampling over a betting tree: every iteration deals once, then each player walks the tree with that deal.

The walking player tries every action, the others draw theirs. Cards decide which row of entries a decision has and who
wins at an end; all of that is looked up before the walk. In 95 % of the walks actions of very low regret are skipped,
but never on the river and never one that ends the hand: both cost next to nothing.

The same walk serves both kinds of tables: a worker's own one, where what was changed is noted and sent, and one that
all workers share (shared_table.py), which is changed in place and of which nothing is noted.
"""

from typing import NamedTuple

import numpy as np
from numba import int64, typeof

from asyncplay import rng
from asyncplay.games.holdem.layout import RIVER
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import GAME_OVER
from asyncplay.solve.abstraction.blueprint import Array, Blueprint, BlueprintArrays, arrays_of, empty_arrays
from asyncplay.solve.abstraction.card_buckets import Dealt, deal, look_up, new_deal
from asyncplay.solve.abstraction.shared_table import SharedArrays, StrategySums, no_sums
from asyncplay.solve.mccfr import (
    NO_FLOOR,
    ONE,
    PieceWalker,
    SamplerSettings,
    TableSampler,
    Touched,
    new_touched,
    weight_of,
)
from asyncplay.solve.regret import REGRET, SUM, Table, matching, new_table

NO_LEVEL = -1

TREE_FRAME = np.dtype(
    [
        ("node", np.uint64),
        ("entry", np.uint64),  # the first one of its infoset
        ("action", np.uint64),  # the one that is being tried
        ("tried", np.uint64),  # a bit for each action that was
        ("floor", np.float64),  # the regret below which an action is skipped
    ],
    align=True,
)


class TreeScratch(NamedTuple):
    """Arrays to work in."""

    frames: Array  # TREE_FRAME[...], the walking player's decisions on the present path
    values: Array  # float64[..., max actions], the value of each of their actions
    stream: Array  # uint64[4]
    utility: Array  # float64[P], summed over walks
    dealt: Dealt


class TreeGround(NamedTuple):
    """All that a walk needs."""

    game: BlueprintArrays
    table: Array  # float64[E, 2], see regret.py; of a shared table float32[E, 1], regrets alone
    sums: StrategySums  # of a shared table; empty where they lie beside the regrets
    touched: Touched  # empty of a shared table
    scratch: TreeScratch
    settings: SamplerSettings


_SCRATCH = TreeScratch(np.zeros(1, TREE_FRAME), np.zeros((1, 1)), np.zeros(1, np.uint64), np.zeros(1), new_deal(1))
_REST = no_sums(), new_touched(1, 1), _SCRATCH, SamplerSettings()
TREE_GROUND = typeof(TreeGround(empty_arrays(), np.zeros((1, 2)), *_REST))
SHARED_GROUND = typeof(TreeGround(empty_arrays(), np.zeros((1, 1), np.float32), *_REST))


@kernel(int64(TREE_GROUND, int64, int64, int64))
def walk_blueprint(ground, seed, first, n):
    """Walk ``n`` iterations from number ``first`` on; return how many nodes were passed."""
    return walk_iterations(ground, seed, first, n)


@kernel(int64(SHARED_GROUND, int64, int64, int64))
def walk_shared(ground, seed, first, n):
    """The same on a shared table."""
    return walk_iterations(ground, seed, first, n)


@helper
def walk_iterations(ground, seed, first, n):
    """See above."""
    settings, scratch, cards, passed = ground.settings, ground.scratch, ground.game.cards, 0
    for iteration in range(first, first + n):
        rng.plant(scratch.stream, seed, iteration)
        flop, turn, river = deal(scratch.stream, cards.deck, scratch.dealt.holes)
        look_up(cards, scratch.dealt, flop, turn, river)
        weight = weight_of(settings, iteration)
        prunes = settings.prune_below != 0.0 and iteration >= settings.prune_after
        for player in range(ground.game.paid.shape[1]):
            is_pruned = prunes and rng.uniform(scratch.stream) < settings.prune_share
            passed += try_all(ground, player, weight, -settings.prune_below * weight if is_pruned else NO_FLOOR)
    return passed


@helper
def try_all(ground, player, weight, floor):
    """One walk: every action of the player, one of every other; return the nodes passed.

    Actions with a regret below ``floor`` are skipped, unless the infoset has no positive regret.
    """
    nodes, frames = ground.game.nodes, ground.scratch.frames
    node, depth, passed = np.uint64(0), np.uint64(0), 0
    while True:
        at = nodes[node]
        passed += 1
        if at.mover == GAME_OVER:
            depth = hand_up(ground, gain_of(ground, at, player), depth, weight)
            if depth == 0:
                ground.scratch.utility[player] += ground.scratch.values[0, 0]
                return passed
            frame = frames[depth - ONE]
            node = nodes[frame.node].first + frame.action
        elif at.mover == player:
            frame = frames[depth]
            frame.node = node
            frame.entry = meet(ground, node, at)
            frame.tried = np.uint64(0)
            frame.floor = floor if at.street < RIVER else NO_FLOOR
            if frame.floor > NO_FLOOR and matching(ground.table, frame.entry, at.n)[1] > 0.0:
                frame.floor = NO_FLOOR
            frame.action = next_action(ground, frame, at, np.uint64(0))
            node = at.first + frame.action
            depth += ONE
        else:
            node = draw_other(ground, node, at, weight)


@helper
def meet(ground, node, at):
    """The first entry of the mover's infoset; note the infoset, and its regrets before its first change."""
    bucket = ground.scratch.dealt.buckets[at.mover, at.street]
    entry, touched = np.uint64(at.base + bucket * at.n), ground.touched
    if len(touched.marks) > 0 and touched.marks[entry] == 0:
        touched.marks[entry] = 1
        touched.infosets[np.uint64(touched.count[0])] = ground.game.infosets[node] + bucket
        touched.count[0] += 1
        for k in range(at.n):
            touched.before[entry + np.uint64(k)] = ground.table[entry + np.uint64(k), REGRET]
    return entry


@helper
def draw_other(ground, node, at, weight):
    """The child that another player's strategy draws; the strategy is added to its sums."""
    first, table = meet(ground, node, at), ground.table
    scale, even = matching(table, first, at.n)
    spot, chosen = rng.uniform(ground.scratch.stream), np.uint64(0)
    for k in range(at.n):
        entry = first + np.uint64(k)
        part = max(table[entry, REGRET], 0.0) * scale + even
        add_to_sum(ground, entry, weight * part)
        spot -= part
        chosen += ONE if spot >= 0.0 else np.uint64(0)
    return at.first + min(chosen, np.uint64(at.n - 1))  # rounding may leave a little of the spot


@helper
def add_to_sum(ground, entry, amount):
    """Wherever the strategy sum of an entry lies."""
    sums, n_long = ground.sums, np.uint64(len(ground.sums.long))
    if entry < n_long:
        sums.long[entry] += amount
    elif len(sums.late) > 0:
        sums.late[entry - n_long] += amount
    else:
        ground.table[entry, SUM] += amount


@helper
def next_action(ground, frame, at, action):
    """This action or the next one that is not skipped; ``n`` if there is none."""
    if frame.floor > NO_FLOOR:
        nodes = ground.game.nodes
        while (
            action < at.n
            and ground.table[frame.entry + action, REGRET] < frame.floor
            and nodes[at.first + action].mover != GAME_OVER
        ):
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
        at = ground.game.nodes[frame.node]
        values[depth - ONE, frame.action] = value
        frame.tried |= ONE << frame.action
        frame.action = next_action(ground, frame, at, frame.action + ONE)
        if frame.action < at.n:
            return depth
        depth -= ONE
        value = settle(ground, np.int64(at.n), depth, weight)
    values[0, 0] = value
    return depth


@helper
def settle(ground, n, depth, weight):
    """The value of a decision; the regrets of what was tried grow by the value of each action beyond it.

    They are as they were when the walk came here: it comes only once.
    """
    table, values, frame = ground.table, ground.scratch.values, ground.scratch.frames[depth]
    first, total, value, mean = frame.entry, 0.0, 0.0, 0.0
    for k in range(n):
        regret = max(table[first + np.uint64(k), REGRET], 0.0)
        total += regret
        value += regret * values[depth, np.uint64(k)]
        mean += values[depth, np.uint64(k)]
    value = value / total if total > 0.0 else mean / n
    for k in range(n):
        if (frame.tried >> np.uint64(k)) & ONE:
            table[first + np.uint64(k), REGRET] += weight * (values[depth, np.uint64(k)] - value)
    return value


@helper
def gain_of(ground, at, player):
    """What a player wins or loses in chips where a hand ends; the same as games/holdem/payout.py, from a deal whose
    hands are ranked already."""
    paid, row, folded, worth = ground.game.paid, np.uint64(at.first), at.base, ground.scratch.dealt.worth
    if paid.shape[1] > 2:
        return float(share_of_pots(paid, row, folded, worth, player))
    own, other = paid[row, player], paid[row, 1 - player]
    if folded != 0:
        return float(-own if (folded >> player) & 1 else other)
    matched = float(min(own, other))
    if worth[player] == worth[1 - player]:
        return 0.0
    return matched if worth[player] > worth[1 - player] else -matched


@helper
def share_of_pots(paid, row, folded, worth, player):
    """What a player takes out of all pots, less what it paid. Neighbouring pots with the same winners are one."""
    players, gain, below, pot, winners = paid.shape[1], -np.int64(paid[row, player]), 0, 0, 0
    if (folded >> player) & 1:
        return gain
    while True:
        level, takers, best = NO_LEVEL, 0, np.int64(-1)
        for seat in range(players):
            chips = np.int64(paid[row, seat])
            if (folded >> seat) & 1 == 0 and chips > below and (level == NO_LEVEL or chips < level):
                level = chips
        for seat in range(players):
            if level != NO_LEVEL and (folded >> seat) & 1 == 0 and paid[row, seat] >= level and worth[seat] >= best:
                takers = (takers if worth[seat] == best else 0) | 1 << seat
                best = worth[seat]
        if takers != winners:
            gain += part_of(pot, winners, players, player)
            pot, winners = 0, takers
        if level == NO_LEVEL:
            return gain
        for seat in range(players):
            pot += min(np.int64(paid[row, seat]), level) - min(np.int64(paid[row, seat]), below)
        below = level


@helper
def part_of(pot, winners, players, player):
    """What one of the winners gets of a pot; odd chips go to the lowest seat."""
    if (winners >> player) & 1 == 0:
        return 0
    count = 0
    for seat in range(players):
        count += (winners >> seat) & 1
    is_lowest = winners & ((1 << player) - 1) == 0
    return pot // count + (pot % count if is_lowest else 0)


class BlueprintSampler(TableSampler):
    """Walks a blueprint on a table of its own, or on one that it is given."""

    def __init__(self, game: Blueprint, settings: SamplerSettings, seed: int, table: Table | None = None) -> None:
        table, touched = new_table(game) if table is None else table, new_touched(game.n_entries, game.n_infosets)
        ground = TreeGround(arrays_of(game), table, no_sums(), touched, _new_scratch(game), settings)
        super().__init__(game.offsets, ground, walk_blueprint, seed)


class SharedSampler(PieceWalker):
    """Walks a blueprint on a table that others walk on too; what it changed cannot be withdrawn."""

    def __init__(self, game: Blueprint, settings: SamplerSettings, seed: int, table: SharedArrays) -> None:
        arrays, regrets = arrays_of(game, has_numbers=False), table.regrets.reshape(-1, 1)
        ground = TreeGround(arrays, regrets, table.sums, new_touched(0, 0), _new_scratch(game), settings)
        super().__init__(ground, walk_shared, seed)


def _new_scratch(game: Blueprint) -> TreeScratch:
    depth, widest = deepest(game), int(game.tree.nodes["n"].max())
    utility, stream = np.zeros(game.players), np.zeros(rng.STREAM_WORDS, np.uint64)
    return TreeScratch(np.zeros(depth, TREE_FRAME), np.zeros((depth, widest)), stream, utility, new_deal(game.players))


def deepest(game: Blueprint) -> int:
    """The most decisions on a way down the tree."""
    nodes, depth, here = game.tree.nodes, 0, np.zeros(1, np.int64)
    while len(here := here[nodes["mover"][here] >= 0]):
        depth += 1
        n = nodes["n"][here].astype(np.int64)
        here = np.repeat(nodes["first"][here] - np.cumsum(n) + n, n) + np.arange(n.sum())
    return depth
