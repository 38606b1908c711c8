"""Trees of the slow lane: nodes are Python objects that keep their positions, made once each.

The rules of growing are those of tree.py: a node with one action is open at once, a node below the root keeps its
``max_priors`` best actions when the network's answer comes, and gets the others back when it becomes a root.
"""

from typing import Any

import numpy as np

from asyncplay.games.slow import Chances, Position, SlowRules, chances_of
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.layout import ENDED, FRESH, OPEN

NODE_BYTES, EDGE_BYTES = 1_800, 130  # about: a node with its position, and one of its edges


class SlowNode:
    """A position in a tree. ``counts``, ``sums``, ``priors`` and ``children`` are by edge, once it is open."""

    __slots__ = (
        "actions",
        "chances",
        "children",
        "counts",
        "drawn",
        "left_out",
        "mover",
        "n_decisions",
        "position",
        "priors",
        "status",
        "sums",
        "value",
        "visits",
    )

    actions: list[int]
    chances: Chances  # of a chance turn
    children: list["SlowNode | None"]
    counts: list[int]  # visits, those still waiting included
    drawn: dict[int, "SlowNode"]  # of a chance turn: by outcome
    left_out: list[int]  # actions with small priors, while it is below the root
    mover: int
    n_decisions: int  # of the game up to here
    position: Position
    priors: list[float]
    status: int
    sums: list[float]  # values for the mover, virtual losses taken off
    value: float  # the network's, for the mover
    visits: int

    def __init__(self, rules: SlowRules, position: Position, n_decisions: int, longest: int) -> None:
        self.position, self.n_decisions, self.visits = position, n_decisions, 0
        mover = rules.player(position)
        if mover >= 0:
            if n_decisions >= longest:
                self.mover, self.status, self.actions = GAME_OVER, ENDED, []
                return
            self.mover, self.actions, self.value = mover, rules.legal(position), 0.0
            self.left_out = []
            if len(self.actions) > 1:
                self.status = FRESH
            else:
                self.open([1.0])
        elif mover == CHANCE_TURN:
            self.mover, self.status, self.actions = mover, OPEN, []
            self.chances, self.drawn = chances_of(rules, position), {}
        else:
            self.mover, self.status, self.actions = mover, ENDED, []

    def open(self, priors: list[float]) -> None:
        """Make an edge for each action."""
        n = len(priors)
        self.status, self.priors = OPEN, priors
        self.counts, self.sums, self.children = [0] * n, [0.0] * n, [None] * n

    def open_best(self, priors: list[float], most: int) -> None:
        """The same with the best actions alone, the first where several are equal."""
        best = sorted(sorted(range(len(priors)), key=lambda i: -priors[i])[:most])
        kept = set(best)
        self.left_out = [action for i, action in enumerate(self.actions) if i not in kept]
        self.actions = [self.actions[i] for i in best]
        self.open([priors[i] for i in best])

    def widen(self) -> None:
        """Give a root all of its actions; those left out share equally what the others' priors leave of 1."""
        left = 1.0
        for prior in self.priors:
            left -= prior
        share = float(np.float32(max(left, 0.0) / len(self.left_out)))
        edges: dict[int, tuple[Any, ...]] = dict.fromkeys(self.left_out, (share, 0, 0.0, None))
        old = zip(self.priors, self.counts, self.sums, self.children, strict=True)
        edges |= dict(zip(self.actions, old, strict=True))
        self.actions, self.left_out = sorted(edges), []
        parts = zip(*(edges[action] for action in self.actions), strict=True)
        self.priors, self.counts, self.sums, self.children = map(list, parts)  # type: ignore[assignment]

    def followers(self) -> list["SlowNode"]:
        """The nodes right below."""
        if self.status != OPEN:
            return []
        if self.mover == CHANCE_TURN:
            return list(self.drawn.values())
        return [child for child in self.children if child is not None]

    def size(self) -> int:
        """How many nodes there are from here down."""
        count, todo = 0, [self]
        while todo:
            node = todo.pop()
            count += 1
            todo += node.followers()
        return count


class SlowTree:
    """The search of one world of a decision."""

    __slots__ = ("budget", "is_noised", "limit", "n_nodes", "root", "simulations")

    def __init__(self, root: SlowNode, n_nodes: int) -> None:
        self.root, self.n_nodes = root, n_nodes
        self.simulations = self.budget = self.limit = 0
        self.is_noised = False
