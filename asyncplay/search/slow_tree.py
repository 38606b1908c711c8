"""Trees of the slow lane: nodes are Python objects that keep their positions, made once each.

The rules of growing are those of tree.py: a node with one action is open at once, a node below the root keeps its
``max_priors`` best actions when the network's answer comes, and gets the others back when it becomes a root.
"""

from typing import Any

import numpy as np

from asyncplay.games.slow import Chances, Position, SlowRules, chances_of
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.layout import ENDED, FRESH, OPEN

NONE_LEFT_OUT: list[int] = []
NODE_BYTES, EDGE_BYTES = 1_800, 130  # about: a node with its position, and one of its edges


class SlowNode:
    """A position in a tree.

    ``priors`` are there once it is open; ``counts``, ``sums`` and ``children``, by edge, once a simulation goes on from
    it, as most leaves stay leaves. ``tried`` has the edges with visits, ascending, ``untried`` the others, the largest
    prior first: of these only the first can have the best score.
    """

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
        "tried",
        "untried",
        "value",
        "visits",
    )

    actions: list[int]
    chances: Chances  # of a chance turn
    children: list["SlowNode | None"]
    counts: list[int] | None  # visits, those still waiting included
    drawn: dict[int, "SlowNode"]  # of a chance turn: by outcome
    left_out: list[int]  # actions with small priors, while it is below the root
    mover: int
    n_decisions: int  # of the game up to here
    position: Position
    priors: list[float]
    status: int
    sums: list[float]  # values for the mover, virtual losses taken off
    tried: list[int]
    untried: list[int]
    value: float  # the network's, for the mover
    visits: int

    def __init__(self, rules: SlowRules, position: Position, n_decisions: int, longest: int) -> None:
        self.position, self.n_decisions, self.visits = position, n_decisions, 0
        mover = rules.player(position)
        if mover >= 0 and n_decisions < longest:
            self.mover, self.status, self.counts = mover, FRESH, None
            self.actions = actions = rules.legal(position)
            self.left_out = NONE_LEFT_OUT
            if len(actions) == 1:
                self.status, self.priors, self.value = OPEN, [1.0], 0.0
        elif mover == CHANCE_TURN:
            self.mover, self.status, self.actions = mover, OPEN, []
            self.chances, self.drawn = chances_of(rules, position), {}
        else:
            self.mover, self.status, self.actions = GAME_OVER, ENDED, []

    def keep_best(self, priors: list[float], most: int) -> list[float]:
        """Leave only the best actions by prior, the first where several are equal; return their priors."""
        best = sorted(sorted(range(len(priors)), key=lambda edge: -priors[edge])[:most])
        kept = set(best)
        self.left_out = [action for edge, action in enumerate(self.actions) if edge not in kept]
        self.actions = [self.actions[edge] for edge in best]
        return [priors[edge] for edge in best]

    def grow_edges(self) -> None:
        """Make an edge for each action of a node that has a decision."""
        n = len(self.priors)
        self.counts, self.sums, self.children, self.tried = [0] * n, [0.0] * n, [None] * n, []
        self.untried = sorted(range(n), key=self.priors.__getitem__, reverse=True)  # stable: the first of equals first

    def rank(self) -> None:
        """Sort the edges anew after their priors have changed."""
        assert self.counts is not None, "it has edges"
        self.tried = [edge for edge, count in enumerate(self.counts) if count]
        untried = [edge for edge, count in enumerate(self.counts) if not count]
        self.untried = sorted(untried, key=self.priors.__getitem__, reverse=True)

    def widen(self) -> None:
        """Give a root all of its actions; those left out share equally what the others' priors leave of 1."""
        assert self.counts is not None, "it has edges"
        left = 1.0
        for prior in self.priors:
            left -= prior
        share = float(np.float32(max(left, 0.0) / len(self.left_out)))
        edges: dict[int, tuple[Any, ...]] = dict.fromkeys(self.left_out, (share, 0, 0.0, None))
        old = zip(self.priors, self.counts, self.sums, self.children, strict=True)
        edges |= dict(zip(self.actions, old, strict=True))
        self.actions, self.left_out = sorted(edges), NONE_LEFT_OUT
        ordered = [edges[action] for action in self.actions]
        self.priors, self.counts = [edge[0] for edge in ordered], [edge[1] for edge in ordered]
        self.sums, self.children = [edge[2] for edge in ordered], [edge[3] for edge in ordered]
        self.rank()

    def size(self) -> int:
        """How many nodes there are from here down."""
        count, todo = 0, [self]
        while todo:
            node = todo.pop()
            count += 1
            if node.mover == CHANCE_TURN:
                todo += node.drawn.values()
            elif node.status == OPEN and node.counts is not None:
                todo += [child for child in node.children if child is not None]
        return count


class SlowTree:
    """The search of one world of a decision."""

    __slots__ = ("budget", "is_noised", "limit", "n_nodes", "root", "simulations")

    def __init__(self, root: SlowNode, n_nodes: int) -> None:
        self.root, self.n_nodes = root, n_nodes
        self.simulations = self.budget = self.limit = 0
        self.is_noised = False
