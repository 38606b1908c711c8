"""A group of games in plain Python that think together: the methods of ``Group``, and the same games from the same
seeds, settings and answers (group.py, puct.py and policy.py say what happens and why; tests hold both against the
twin of tests/search/twin.py).

What differs: nodes are objects with their positions, so trees have a limit of nodes and none of edges; games have no
stages and no endings that are worked out.
"""

import gc
from bisect import insort
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.draws import KERNELS, dirichlet, uniform
from asyncplay.games.kernels import ready
from asyncplay.games.position import Position
from asyncplay.games.slow import DECISIONS, HEAD, WORDS, SlowRules, position_after
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.search import layout
from asyncplay.search.examples import GameRows, PlayedGame, rebuild_examples
from asyncplay.search.group import RootMeans, SelectedRows, Slots, make_sizes
from asyncplay.search.layout import (
    ENDED,
    FINISHED,
    FORCED,
    OPEN,
    OUTSIDE,
    PLACED,
    STARTING,
    THINKING,
    WAITING,
    KernelSettings,
    Sizes,
)
from asyncplay.search.slow_gumbel import Halving
from asyncplay.search.slow_rebuild import rebuilder
from asyncplay.search.slow_slot import SlowSlot, add_up
from asyncplay.search.slow_tree import EDGE_BYTES, NODE_BYTES, SlowNode, SlowTree

Way = list[tuple[SlowNode, int]]  # nodes above a leaf, each with the edge that was taken; NO_EDGE at a chance turn

Row = tuple[int, int, int, SlowNode, Way]  # a leaf that waits: slot, seat that searches, is_extra, leaf, path

NO_EDGE = -1
USUAL_EDGES = 64  # of a node, to reckon memory
TINY = 1e-6
GARBAGE = 100_000  # objects after which Python looks for circles: there are none in trees, and it took an eighth of
# the time of a search


class SlowGroup:
    """G slots with a game each, and a tree for each world. Lifetime, order, limit and end as of ``Group``."""

    def __init__(self, spec: GameSpec, settings: KernelSettings, n_games: int, sizes: Sizes | None = None) -> None:
        self.spec, self.sizes = spec, sizes or make_sizes(spec, settings, n_games)
        self._rules: SlowRules = spec.slow
        self._settings = settings
        self._slots = [SlowSlot() for _ in range(n_games)]
        self._features = np.zeros((self.sizes.rows, spec.features), np.float32)
        self._rows: list[Row] = []
        self._simulations = 0
        gc.set_threshold(GARBAGE)
        for kernel in KERNELS:
            ready(kernel)

    @property
    def settings(self) -> KernelSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: KernelSettings) -> None:
        assert settings.worlds == self.sizes.worlds, "the number of worlds is fixed"
        assert settings.leaves * settings.worlds * self.sizes.games <= self.sizes.rows, (
            "more leaves than there is room for"
        )
        assert settings.is_gumbel == self.settings.is_gumbel, "the way of choosing at the root is fixed"
        self._settings = settings

    def start(self, slots: Slots, seeds: NDArray[np.uint64], outside: int = 0) -> None:
        for slot, seed in zip(slots.tolist(), seeds.tolist(), strict=True):
            owner = self._slots[slot]
            owner.seed, owner.outside, owner.status = seed, outside, STARTING

    def place(self, slot: int, position: Position, *, outside: int = 0, thoughts: int | None = None) -> None:
        owner = self._slots[slot]
        owner.seed, owner.outside, owner.status = position.seed, outside, PLACED
        owner.begin_at(self._rules, position, position.seed if thoughts is None else thoughts)

    def stop(self, slots: Slots) -> None:
        for slot in slots.tolist():
            self._slots[slot].status, self._slots[slot].trees = layout.IDLE, []

    def force(self, slots: Slots, actions: NDArray[np.int32]) -> None:
        for slot, action in zip(slots.tolist(), actions.tolist(), strict=True):
            assert action in self.legal(slot), f"action {action} is not legal in slot {slot}"
            self._slots[slot].forced, self._slots[slot].status = action, FORCED

    def advance(self) -> Slots:
        assert not self._rows, "rows of the last select wait for their answers"
        finished = []
        for number, slot in enumerate(self._slots):
            if slot.status == THINKING:
                for tree in slot.trees:
                    if tree.simulations < tree.budget:
                        break
                else:
                    self._settle(slot, self._go_on(slot))
            elif slot.status in (STARTING, FORCED, PLACED):
                self._settle(slot, self._go_on(slot))
            if slot.halving is not None and slot.status == THINKING:
                slot.halving.narrow()
            if slot.status == FINISHED:
                finished.append(number)
        return np.array(finished, np.int32)

    def select(self) -> SelectedRows:
        assert not self._rows, "rows of the last select wait for their answers"
        settings, rows, share, end = self._settings, self._rows, 1, self.sizes.rows
        for is_extra in range(2):
            for number, slot in enumerate(self._slots):
                if slot.status == THINKING:
                    for tree in slot.trees:
                        self._gather(number, slot, tree, min(len(rows) + share, end), is_extra)
            missing, end = settings.fill_rows - len(rows), min(settings.fill_rows, end)
            if not rows or missing <= 0 or settings.leaves == 1:
                break
            share = min(settings.leaves - 1, -(-missing // len(rows)))
        legal, offsets = list[int](), [0]
        for row in rows:
            legal += row[3].actions
            offsets.append(len(legal))
        lists = (legal, offsets, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
        return SelectedRows(self._features[: len(rows)], *(np.array(numbers, np.int32) for numbers in lists))

    def backup(self, priors: NDArray[np.float32], values: NDArray[np.float32], version: int) -> None:
        assert len(values) == len(self._rows), "one answer for each row"
        shares, worth, start, most = priors.tolist(), values.tolist(), 0, self._settings.max_priors
        loss, n_players = self._settings.virtual_loss, self.spec.players
        for (slot, _, _, leaf, path), by_seat in zip(self._rows, worth, strict=True):
            end, mover = start + len(leaf.actions), leaf.mover
            leaf.priors, leaf.status, leaf.value = shares[start:end], OPEN, by_seat[0]
            if not path:
                leaf.grow_edges()
            elif end - start > most:
                leaf.priors = leaf.keep_best(leaf.priors, most)
            gains = [by_seat[(seat - mover) % n_players] + loss for seat in range(n_players)] if path else ()
            for node, edge in path:
                if edge != NO_EDGE:
                    node.sums[edge] += gains[node.mover]
            self._slots[slot].version = version
            start = end
        self._rows.clear()

    def simulations(self) -> int:
        return self._simulations

    def waiting(self) -> Slots:
        return np.array([number for number, slot in enumerate(self._slots) if slot.status == OUTSIDE], np.int32)

    def status(self, slot: int) -> int:
        return self._slots[slot].status

    def actions(self, slot: int) -> NDArray[np.int32]:
        return np.array(self._slots[slot].actions, np.int32)

    def state(self, slot: int) -> NDArray[np.int64]:
        owner, state = self._slots[slot], np.zeros(self.spec.state_words, np.int64)
        state[WORDS], state[DECISIONS] = len(owner.words), len(owner.actions)
        state[HEAD : HEAD + len(owner.words)] = owner.words
        return state

    def legal(self, slot: int) -> NDArray[np.int32]:
        return np.array(self._slots[slot].trees[0].root.actions, np.int32)

    def visits(self, slot: int) -> NDArray[np.int32]:
        roots = [tree.root for tree in self._slots[slot].trees]
        counts = [root.counts or [0] * len(root.actions) for root in roots]
        return np.sum(counts, axis=0, dtype=np.int32)

    def is_searching(self, slot: int) -> bool:
        return any(tree.simulations < tree.budget for tree in self._slots[slot].trees)

    def conclude(self, slot: int) -> int:
        trees = self._slots[slot].trees
        for tree in trees:
            tree.budget = tree.limit = tree.simulations
        return sum(tree.simulations for tree in trees)

    def means(self, slot: int) -> RootMeans:
        roots = [tree.root for tree in self._slots[slot].trees]
        visits, sums = np.zeros(len(roots[0].actions)), np.zeros(len(roots[0].actions))
        for root in roots:
            if root.counts is not None:
                visits, sums = visits + root.counts, sums + root.sums
        means = np.divide(sums, visits, out=np.full(len(sums), np.nan), where=visits > 0)
        return RootMeans(means, float(sums.sum() / visits.sum()) if visits.any() else None)

    def take(self, slot: int) -> PlayedGame:
        owner = self._slots[slot]
        return PlayedGame(
            owner.seed,
            np.array(owner.actions, np.int32),
            np.array(owner.ends, np.int32),
            np.array(owner.policy_actions, np.int32),
            np.array(owner.policy_visits, np.int32),
            np.array(owner.versions, np.int32),
            np.array(owner.values, np.float32),
            np.array(owner.returns, np.float64),
            owner.shortened,
            owner.unrecorded,
        )

    def examples(self, record: PlayedGame) -> GameRows:
        return rebuild_examples(self.spec, rebuilder(self.spec), record)

    def _gather(self, number: int, slot: SlowSlot, tree: SlowTree, wanted: int, is_extra: int) -> None:
        """Run simulations in one tree until there are ``wanted`` rows or its budget is used up."""
        if not tree.is_noised and self._settings.noise_weight > 0.0 and tree.root.status == OPEN:
            self._add_noise(slot, tree)
        rows = self._rows
        while len(rows) < wanted and tree.simulations < tree.limit:
            path: Way = []
            leaf = self._descend(slot, tree, path)
            if leaf is None or leaf.status == WAITING:
                self._take_back(path)
                if leaf is None:
                    tree.budget = tree.limit = tree.simulations  # decide with what there is
                    slot.shortened += 1
                return
            leaf.visits += 1
            tree.simulations += 1
            self._simulations += 1
            if leaf.status == ENDED:
                self._back_up_end(leaf, path)
            else:
                leaf.status = WAITING
                self._rules.encode(leaf.position, leaf.mover, self._features[len(rows)])
                rows.append((number, tree.root.mover, is_extra, leaf, path))

    def _descend(self, slot: SlowSlot, tree: SlowTree, path: Way) -> SlowNode | None:
        """Go down to a node that is not open, counting visits; return it, or None if the tree has no room for it.

        The hot loop of the lane: PUCT stands in it, the first of the best edges is taken.
        """
        settings, node, halving = self._settings, tree.root, slot.halving
        c_puct, reduction, loss = settings.c_puct, settings.first_play_reduction, settings.virtual_loss
        below: SlowNode | None
        while node.status == OPEN:
            if node.mover == CHANCE_TURN:
                below = self._draw(slot, tree, node)
                if below is None:
                    return None
                path.append((node, NO_EDGE))
                node.visits += 1
                node = below
                continue
            if node.counts is None:
                node.grow_edges()
            counts: Any = node.counts
            sums, best, best_score = node.sums, -1, -inf
            if halving is not None and not path:
                best = halving.due(node)
            else:
                exploration, priors = c_puct * sqrt(node.visits), node.priors
                if node.untried:
                    best, best_score = best_untried(node, exploration, node.value - reduction)
                for edge in node.tried:
                    count = counts[edge]
                    score = sums[edge] / count + exploration * priors[edge] / (1 + count)
                    if score > best_score or (score == best_score and edge < best):
                        best, best_score = edge, score
            below = node.children[best]
            if below is None:
                if tree.n_nodes == self.sizes.nodes_per_tree:
                    return None
                below = node.children[best] = self._grow(tree, node, node.actions[best], 1)
            if counts[best] == 0:
                node.untried.remove(best)
                insort(node.tried, best)  # ascending
            counts[best] += 1
            sums[best] -= loss
            path.append((node, best))
            node.visits += 1
            node = below
        return node

    def _grow(self, tree: SlowTree, node: SlowNode, word: int, n_decisions: int) -> SlowNode:
        tree.n_nodes += 1
        position = self._rules.play(node.position, word)
        return SlowNode(self._rules, position, node.n_decisions + n_decisions, self.spec.max_decisions)

    def _draw(self, slot: SlowSlot, tree: SlowTree, node: SlowNode) -> SlowNode | None:
        """What chance makes of a position; the same outcome is the same node."""
        if tree.n_nodes == self.sizes.nodes_per_tree:
            return None
        outcome = node.chances.draw(uniform(slot.thought))
        if outcome not in node.drawn:
            node.drawn[outcome] = self._grow(tree, node, outcome, 0)
        return node.drawn[outcome]

    def _take_back(self, path: Way) -> None:
        """Undo a descent that did not count."""
        for node, edge in path:
            node.visits -= 1
            if edge != NO_EDGE and node.counts is not None:
                node.counts[edge] -= 1
                node.sums[edge] += self._settings.virtual_loss
                if node.counts[edge] == 0:
                    node.rank()

    def _back_up_end(self, leaf: SlowNode, path: Way) -> None:
        settings, loss = self._settings, self._settings.virtual_loss
        returns = self._rules.returns(leaf.position)
        values = [gain * settings.value_scale + settings.value_offset for gain in returns]
        for node, edge in path:
            if edge != NO_EDGE:
                node.sums[edge] += values[node.mover] + loss

    def _add_noise(self, slot: SlowSlot, tree: SlowTree) -> None:
        tree.is_noised = True
        weight, root = self._settings.noise_weight, tree.root
        shares = np.zeros(len(root.priors))
        dirichlet(slot.thought, self._settings.noise_alpha, shares)
        root.priors = ((1.0 - weight) * np.array(root.priors) + weight * shares).astype(np.float32).tolist()
        root.rank()

    def _go_on(self, slot: SlowSlot) -> SlowNode | None:
        """Start a game, or play what was decided; return the node reached in the old tree, if any."""
        if slot.status == STARTING:
            slot.begin(self._rules)
            return None
        if slot.status == PLACED:
            return None
        root = slot.trees[0].root
        if slot.status == FORCED:
            edge = root.actions.index(slot.forced)
            counts, sums = ([0], [0.0]) if root.counts is None else (root.counts, root.sums)
        else:
            edge, counts, sums = slot.decide(self._settings, self.sizes.most_policy_entries)
        value = add_up(sums) / sum(counts) if sum(counts) else 0.0
        slot.write_down(root.actions[edge], value)
        slot.position = self._rules.play(slot.position, root.actions[edge])
        return root.children[edge] if root.counts is not None and self._settings.keeps_tree else None

    def _settle(self, slot: SlowSlot, kept: SlowNode | None) -> None:
        """Go on to the next real decision and prepare its trees, or finish the game; ``kept`` is the node of the
        present position in the old tree, if any."""
        settings, rules = self._settings, self._rules
        while True:
            node = kept or SlowNode(rules, slot.position, len(slot.actions), self.spec.max_decisions)
            if node.mover == GAME_OVER:
                slot.status, slot.returns, slot.trees = FINISHED, rules.returns(slot.position), []
                return
            if node.mover == CHANCE_TURN:
                word = node.chances.draw(uniform(slot.happens))
                slot.words.append(word)
                kept = node.drawn.get(word)
            elif len(node.actions) + len(node.left_out) == 1:
                word = node.actions[0]
                slot.write_down(word, 0.0)
                kept = None if node.counts is None else node.children[0]
            else:
                break
            slot.position = rules.play(slot.position, word)
        self._plant(slot, node)
        slot.status = OUTSIDE if (slot.outside >> node.mover) & 1 else THINKING
        slot.is_quick = settings.quick_simulations > 0 and uniform(slot.thought) >= settings.full_share
        for tree in slot.trees:
            tree.simulations = 0
            tree.budget = tree.limit = settings.quick_simulations if slot.is_quick else settings.simulations
            tree.is_noised = slot.is_quick
        slot.halving = (
            Halving(slot.trees, settings, slot.thought, is_quick=slot.is_quick) if settings.is_gumbel else None
        )

    def _plant(self, slot: SlowSlot, node: SlowNode) -> None:
        """Make the trees of a decision: from the node of the position with all that is below it, unless that is too
        much, or from worlds that the player can imagine."""
        rules, n_decisions, longest = self._rules, len(slot.actions), self.spec.max_decisions
        if not self.spec.is_hidden:
            n_nodes = node.size()
            if 2 * n_nodes > self.sizes.nodes_per_tree:
                node, n_nodes = SlowNode(rules, slot.position, n_decisions, longest), 1
            if node.status == OPEN and node.counts is None:
                node.grow_edges()
            if node.left_out:
                node.widen()
            slot.trees = [SlowTree(node, n_nodes)]
            return
        worlds = [
            position_after(rules, rules.imagine(slot.position, node.mover, lambda: uniform(slot.thought)))
            for _ in range(self.sizes.worlds)
        ]
        slot.trees = [SlowTree(SlowNode(rules, world, n_decisions, longest), 1) for world in worlds]


def best_untried(node: SlowNode, exploration: float, first_play: float) -> tuple[int, float]:
    """Of the edges without visits the one with the best score, the first of several, and its score."""
    untried, priors = node.untried, node.priors
    best = untried[0]
    share = exploration * priors[best]
    score = first_play + share
    if share < TINY * (1.0 + abs(score)):  # then smaller float32 priors may come to the same score
        best = min(edge for edge in untried if first_play + exploration * priors[edge] == score)
    return best, score


def slow_bytes(spec: GameSpec, sizes: Sizes, settings: KernelSettings) -> int:
    """About what a group takes when its trees are full."""
    node = NODE_BYTES + EDGE_BYTES * min(spec.max_legal, settings.max_priors, USUAL_EDGES)
    return sizes.games * sizes.worlds * sizes.nodes_per_tree * node
