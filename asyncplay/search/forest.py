"""A big game made to measure: no rules, only the flat arrays of a betting tree below each of many deals.

At every decision the first action ends the game and the others go on, down to a depth; two players take turns and
see everything but chance to come. Payoffs are random. A table of any size can be had in a second.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.flat import NO_ENTRY, NODE, OUTCOME, Flat, FlatGame

PLAYERS = 2
MAX_NODES = 100_000_000


def grow(deals: int = 50, depth: int = 11, actions: int = 3, seed: int = 0) -> FlatGame:
    """Return the game: ``deals * (actions - 1) ** level`` rows at each level above ``depth``."""
    if deals < 1 or depth < 1 or actions < 2:
        raise AsyncplayError(f"a forest of {deals} deals, depth {depth} and {actions} actions cannot be grown")
    widths = [deals * (actions - 1) ** level for level in range(depth)]  # decisions of each level
    if sum(widths) * actions > MAX_NODES:
        raise AsyncplayError(f"a forest of {sum(widths) * actions:,} nodes is too large, at most {MAX_NODES:,}")
    nodes = _nodes(widths, actions)
    payoffs = np.random.default_rng(seed).normal(size=(np.count_nonzero(nodes["mover"] == GAME_OVER), 1))
    rows = np.arange(sum(widths))
    flat = Flat(
        nodes,
        _outcomes(deals),
        np.concatenate([payoffs, -payoffs], axis=1),
        np.arange(0, (len(rows) + 1) * actions, actions, dtype=np.int32),
        np.repeat(np.arange(depth) % PLAYERS, widths).astype(np.int32),
        _parents(widths, actions),
    )
    return FlatGame(flat, rows.astype(np.uint64), np.tile(np.arange(actions, dtype=np.int32), len(rows)))


def _nodes(widths: list[int], actions: int) -> NDArray[Any]:
    """The root, the deals' first decisions, then the children of each level, in the order of their parents."""
    nodes = np.zeros(1 + widths[0] + sum(widths) * actions, NODE)
    nodes[0] = (1, 0, 0, CHANCE_TURN, widths[0])
    deciding = np.arange(1, 1 + widths[0])  # nodes of the present level
    free, row = 1 + widths[0], 0
    for level, width in enumerate(widths):
        place = np.arange(width)
        nodes["first"][deciding] = free + actions * place
        nodes["row"][deciding] = row + place
        nodes["entry"][deciding] = (row + place) * actions
        nodes["mover"][deciding], nodes["n"][deciding] = level % PLAYERS, actions
        children = np.arange(free, free + width * actions)
        deciding = children.reshape(width, actions)[:, 1:].ravel()
        free, row = free + width * actions, row + width
    is_end = nodes["n"] == 0
    nodes["mover"][is_end] = GAME_OVER
    nodes["first"][is_end] = np.arange(np.count_nonzero(is_end))
    return nodes


def _outcomes(deals: int) -> NDArray[Any]:
    outcomes = np.zeros(deals, OUTCOME)
    outcomes["odds"], outcomes["keep"], outcomes["other"] = 1 / deals, 1.0, np.arange(deals)
    return outcomes


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
