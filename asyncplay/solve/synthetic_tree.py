"""A game of any size without rules: the flat arrays of a betting tree below each of many deals. Users call it "forest".

At every decision the first action ends the game and the others go on, down to a depth; two players take turns and
see everything but chance to come. Payoffs are random. A table of any size takes a second to make.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.options import By, GameOption
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.solve.flat import NO_ENTRY, NODE, OUTCOME, WORLD, Flat, FlatGame

PLAYERS = 2
MAX_NODES, MAX_DEPTH = 100_000_000, 1_000


def depth_range(deals: int, actions: int) -> tuple[int, int]:
    """Of forests that have at most MAX_NODES nodes."""
    depth, width, nodes = 0, deals, deals * actions
    while nodes <= MAX_NODES and depth < MAX_DEPTH:
        depth, width = depth + 1, width * (actions - 1)
        nodes += width * actions
    return 1, depth


OPTIONS = (
    GameOption("deals", int, 50, "Outcomes of the one chance turn.", within=(1, MAX_NODES // 2)),
    GameOption("actions", int, 3, "Of every decision.", within=By(lambda deals: (2, MAX_NODES // deals), ("deals",))),
    GameOption("depth", int, 11, "Decisions of the longest game.", within=By(depth_range, ("deals", "actions"))),
    GameOption("seed", int, 0, "Of the payoffs.", within=(0, 2**62 - 1)),
)


def grow(*, deals: int, depth: int, actions: int, seed: int) -> FlatGame:
    """Return the game: ``deals * (actions - 1) ** level`` infosets at each level above ``depth``, numbered by level."""
    widths = [deals * (actions - 1) ** level for level in range(depth)]  # decisions of each level
    tree, infosets = _tree([width // deals for width in widths], actions), np.arange(sum(widths))
    decides, shifts = tree["n"] > 0, np.arange(deals, dtype=np.uint64) * np.uint64(len(tree))
    levels = [infosets[start:stop].reshape(deals, -1) for start, stop in pairwise(np.cumsum([0, *widths]))]
    ends = np.arange(deals * np.count_nonzero(~decides)).reshape(deals, -1)
    cells = np.zeros((deals, len(tree)), np.uint32)
    cells[:, decides], cells[:, ~decides] = np.concatenate(levels, axis=1) * actions, ends
    worlds = np.zeros(1 + deals, WORLD)  # the beginning, then one for each deal
    worlds[0] = (0, 0, 1)
    worlds["node"][1:], worlds["n"][1:], worlds["shift"][1:] = 1, len(tree), shifts
    outcomes = np.zeros(deals, OUTCOME)
    outcomes["odds"], outcomes["keep"], outcomes["other"] = 1 / deals, 1.0, np.arange(deals)
    outcomes["n"], outcomes["node"], outcomes["shift"] = deals, 1, shifts
    payoffs = np.random.default_rng(seed).normal(size=(ends.size, 1))
    flat = Flat(
        np.concatenate([np.array([(0, CHANCE_TURN, 0)], NODE), tree]),
        np.concatenate([np.zeros(1, np.uint32), cells.ravel()]),
        worlds,
        outcomes,
        np.concatenate([payoffs, -payoffs], axis=1),
        np.arange(0, (len(infosets) + 1) * actions, actions, dtype=np.int32),
        np.repeat(infosets, actions).astype(np.int32),
        np.repeat(np.arange(depth) % PLAYERS, widths).astype(np.int32),
        _parents(widths, actions),
    )
    return FlatGame(flat, infosets.astype(np.uint64), np.tile(np.arange(actions, dtype=np.int32), len(infosets)))


def _tree(widths: list[int], actions: int) -> NDArray[Any]:
    """The tree below a deal: its first node, numbered 1, then the children of each level, in the order of parents."""
    nodes = np.zeros(1 + sum(widths) * actions, NODE)
    deciding, free = np.arange(1), 1
    for level, width in enumerate(widths):
        nodes["first"][deciding] = 1 + free + actions * np.arange(width)
        nodes["mover"][deciding], nodes["n"][deciding] = level % PLAYERS, actions
        children = np.arange(free, free + width * actions)
        deciding, free = children.reshape(width, actions)[:, 1:].ravel(), free + width * actions
    nodes["mover"][nodes["n"] == 0] = GAME_OVER
    return nodes


def _parents(widths: list[int], actions: int) -> NDArray[np.int32]:
    """The entry of the same player's decision two levels above."""
    parents = np.full(sum(widths), NO_ENTRY, np.int32)
    starts, onward = np.cumsum([0, *widths]), actions - 1
    for level in range(PLAYERS, len(widths)):
        place = np.arange(widths[level])
        action = place // onward % onward + 1
        above = starts[level - PLAYERS] + place // onward**2
        parents[starts[level] : starts[level + 1]] = above * actions + action
    return parents
