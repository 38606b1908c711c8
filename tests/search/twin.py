"""The search once more, for one game, in plain Python beside the formulas.

Nodes are objects, the tree is made of dictionaries, nothing is preallocated. Rules and random numbers
come from the tested kernels; they are called in the same order, so that the same seed gives the same game.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from asyncplay import rng
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.search.layout import KernelSettings

Network = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def network(features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
    """A made-up opinion: priors float32[k] and values float32[P], a fixed function of the features."""
    numbers = np.random.default_rng(zlib.crc32(features.tobytes()))
    priors = numbers.dirichlet(np.ones(len(legal)))
    return priors.astype(np.float32), numbers.uniform(-1, 1, n_players).astype(np.float32)


def even_network(_features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
    """No opinion: many edges have equal scores."""
    return np.full(len(legal), 1 / len(legal), np.float32), np.zeros(n_players, np.float32)


@dataclass
class Edge:
    prior: float = 1.0
    visits: int = 0
    value_sum: float = 0.0
    child: "Node | None" = None


@dataclass
class Node:
    state: np.ndarray
    mover: int
    edges: dict[int, Edge]
    visits: int = 0
    value: float = 0.0
    status: str = "fresh"
    left_out: dict[int, Edge] = field(default_factory=dict)  # actions with small priors, while it is below the root
    drawn: dict[bytes, "Node"] = field(default_factory=dict)


@dataclass
class Twin:
    """Plays one game; ``visits``, ``values`` and ``actions`` are its record."""

    spec: GameSpec
    settings: KernelSettings
    seed: int
    network: Network = network
    actions: list[int] = field(default_factory=list)
    visits: list[dict[int, int]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rows: int = 0
    stage_start: int = 0  # temperatures count from here
    is_quick: bool = False  # the present decision: few simulations, no noise, no policy

    def play(self) -> np.ndarray:
        """Play to the end; return the returns by seat."""
        self.happens, self.thought = rng.stream(self.seed, 0), rng.stream(self.seed, 1)
        self.root = self.node(self.spec.new_state())
        while self.root.mover != GAME_OVER:
            self.settle() if len(self.root.edges) < 2 else self.decide()
        return self.returns(self.root.state)

    def settle(self) -> None:
        """Chance turns and forced decisions."""
        if self.root.mover == CHANCE_TURN:
            self.stage_start = len(self.actions) if self.spec.is_staged else 0
            state = self.root.state.copy()
            self.spec.kernels.chance(self.spec.rules, state, self.happens)
            known = self.root.drawn.get(state.tobytes())
            self.root = known if known and self.settings.keeps_tree else self.node(state)
        else:
            self.follow(next(iter(self.root.edges)), {}, 0.0)

    def decide(self) -> None:
        """Visits and values are added over the worlds."""
        roots = self.worlds()
        settings = self.settings
        self.is_quick = settings.quick_simulations > 0 and rng.uniform(self.thought) >= settings.full_share
        self.think(roots, settings.quick_simulations if self.is_quick else settings.simulations)
        counts = {action: sum(root.edges[action].visits for root in roots) for action in roots[0].edges}
        total = sum(edge.value_sum for root in roots for edge in root.edges.values())
        self.follow(self.choose(counts), self.policy(counts), total / sum(counts.values()))

    def policy(self, counts: dict[int, int]) -> dict[int, int]:
        """What is learned from."""
        return counts

    def worlds(self) -> list[Node]:
        """What is searched: the position itself, or positions that look the same to the player."""
        if not self.spec.is_hidden:
            self.widen(self.root)
            return [self.root]
        states = np.zeros((self.settings.worlds, self.spec.state_words), np.int64)
        self.spec.kernels.determinize(self.spec.rules, self.root.state, self.root.mover, self.thought, states)
        return [self.node(state) for state in states]

    def choose(self, counts: dict[int, int]) -> int:
        """Draw an action with probability visits ** (1 / temperature); most visits at temperature 0."""
        temperature = self.temperature()
        largest = max(counts.values())
        if temperature == 0:
            return min(action for action, visits in counts.items() if visits == largest)
        weights = {action: (visits / largest) ** (1 / temperature) for action, visits in counts.items()}
        left = rng.uniform(self.thought) * sum(weights.values())
        for action, weight in weights.items():
            left -= weight
            if left < 0:
                return action
        return action

    def temperature(self) -> float:
        temperatures = self.settings.temperatures
        return float(temperatures[min(len(self.actions) - self.stage_start, len(temperatures) - 1)])

    def follow(self, action: int, counts: dict[int, int], value: float) -> None:
        """Write the decision down and play it."""
        self.actions.append(action)
        self.visits.append({action: visits for action, visits in counts.items() if visits and not self.is_quick})
        self.values.append(value)
        child = self.root.edges[action].child if self.settings.keeps_tree else None
        self.root = child if child and child.status != "solved" else self.child(self.root, action)

    def think(self, roots: list[Node], budget: int) -> None:
        """Simulations in rounds, between which the network answers: a leaf a world, further ones to fill a block."""
        done, is_noised = [0] * len(roots), [False] * len(roots)
        weight = 0.0 if self.is_quick else self.settings.noise_weight
        while min(done) < budget:
            paths: list[list[Any]] = []
            for world, root in enumerate(roots):
                if weight > 0 and not is_noised[world] and root.status == "open":
                    self.add_noise(root)
                    is_noised[world] = True
                done[world] += self.gather(root, budget - done[world], paths, 1)
            missing = self.settings.fill_rows - len(paths)
            share = min(self.settings.leaves - 1, math.ceil(missing / max(len(paths), 1))) if paths else 0
            for world, root in enumerate(roots):
                room = min(share, self.settings.fill_rows - len(paths))
                done[world] += self.gather(root, budget - done[world], paths, room)
            for path in paths:
                self.answer(path)

    def gather(self, root: Node, left: int, paths: list[list[Any]], wanted: int) -> int:
        """Descents of one round in one world, until ``wanted`` more need the network; return how many counted."""
        done, end = 0, len(paths) + wanted
        while len(paths) < end and done < left:
            path = self.descend(root)
            if path is None:
                break
            done += 1
            if path[-1].status in ("ended", "solved"):
                self.back_up(path, self.end_values(root, path[-1]))
            else:
                paths.append(path)
        return done

    def end_values(self, root: Node, leaf: Node) -> np.ndarray:
        """What the game brought, or its stage."""
        before = self.returns(root.state) if self.spec.is_staged else 0
        values = (self.best_play(leaf.state) - before) * self.spec.value_scale + self.spec.value_offset
        return values.astype(np.float32) if leaf.status == "solved" else values

    def best_play(self, state: np.ndarray) -> np.ndarray:
        """What all seats get if each does its best from here; the mean where several actions are best."""
        node = self.node(state)
        if node.status == "ended":
            return self.returns(state)
        futures = [self.best_play(self.child(node, action).state) for action in node.edges]
        most = max(future[node.mover] for future in futures)
        return np.mean([future for future in futures if future[node.mover] > most - 1e-9], axis=0)

    def add_noise(self, root: Node) -> None:
        weight, shares = self.settings.noise_weight, np.zeros(len(root.edges))
        rng.dirichlet(self.thought, self.settings.noise_alpha, shares)
        for edge, share in zip(root.edges.values(), shares, strict=True):
            edge.prior = float(np.float32((1 - weight) * edge.prior + weight * share))

    def descend(self, root: Node) -> list[Any] | None:
        """Return the path root, edge, node, ... leaf (no edge below chance), or None if the leaf waits."""
        node, path = root, [root]
        while node.status == "open":
            if node.mover == CHANCE_TURN:
                node = self.draw(node)
            else:
                action, edge = self.pick(node)
                edge.child = edge.child or self.child(node, action)
                node = edge.child
                path.append(edge)
            path.append(node)
        is_free = node.status != "waiting"
        if is_free:
            self.count(path, 1)
        if node.status == "fresh":
            node.status = "solved" if node is not root and self.is_ending(node) else "waiting"
        return path if is_free else None

    def is_ending(self, node: Node) -> bool:
        most, n_words, n_players = self.settings.exact_decisions, self.spec.state_words, self.spec.players
        room, values = np.zeros((most + 2, n_words), np.int64), np.zeros((most + 2, n_players))
        return bool(most and self.spec.kernels.ending(self.spec.rules, node.state, most, room, values))

    def pick(self, node: Node) -> tuple[int, Edge]:
        """What the best score has."""
        return max(node.edges.items(), key=lambda item: self.score(node, item[1]))

    def score(self, node: Node, edge: Edge) -> float:
        """Q + c P sqrt(N) / (1 + n); max takes the first of equals."""
        first_play = node.value - self.settings.first_play_reduction
        mean = edge.value_sum / edge.visits if edge.visits else first_play
        return mean + self.settings.c_puct * math.sqrt(node.visits) * edge.prior / (1 + edge.visits)

    def count(self, path: list[Any], visits: int) -> None:
        """Visits at once, and a loss until the value comes."""
        for step in path:
            step.visits += visits
            if isinstance(step, Edge):
                step.value_sum -= self.settings.virtual_loss

    def back_up(self, path: list[Any], values: np.ndarray) -> None:
        """Every edge gets the value of the seat that chose it, and its loss back."""
        for before, step in pairwise(path):
            if isinstance(step, Edge):
                step.value_sum += float(values[before.mover]) + self.settings.virtual_loss

    def answer(self, path: list[Any]) -> None:
        """Open a leaf; entry k of the network's values is for the seat k places to its left."""
        leaf, spec = path[-1], self.spec
        features = np.zeros(spec.features, spec.feature_dtype)
        spec.kernels.encode(spec.rules, leaf.state, leaf.mover, features, spec.new_room())
        priors, values = self.network(features, np.array(list(leaf.edges)), spec.players)
        for edge, prior in zip(leaf.edges.values(), priors, strict=True):
            edge.prior = float(prior)
        if len(path) > 1:
            self.narrow(leaf)
        leaf.status, leaf.value = "open", float(values[0])
        self.back_up(path, np.roll(values, leaf.mover))
        self.rows += 1

    def narrow(self, node: Node) -> None:
        """Below the root only the best actions by prior are searched, the first where several are equal."""
        best = sorted(node.edges, key=lambda action: -node.edges[action].prior)[: self.settings.max_priors]
        node.left_out = {action: edge for action, edge in node.edges.items() if action not in best}
        node.edges = {action: edge for action, edge in node.edges.items() if action in best}

    def widen(self, root: Node) -> None:
        """A root has all of its actions; those left out before share what the others' priors leave of 1."""
        left = max(1.0 - sum(edge.prior for edge in root.edges.values()), 0.0)
        for edge in root.left_out.values():
            edge.prior = float(np.float32(left / len(root.left_out)))
        root.edges, root.left_out = dict(sorted((root.edges | root.left_out).items())), {}

    def child(self, node: Node, action: int) -> Node:
        state = node.state.copy()
        self.spec.kernels.play(self.spec.rules, state, action, self.spec.new_room())
        return self.node(state)

    def draw(self, node: Node) -> Node:
        """What chance makes of a position; the same outcome is the same node."""
        state = node.state.copy()
        self.spec.kernels.chance(self.spec.rules, state, self.thought)
        return node.drawn.setdefault(state.tobytes(), self.node(state))

    def node(self, state: np.ndarray) -> Node:
        """A position nobody has visited; with one action or none there is nothing to ask."""
        kernels, rules = self.spec.kernels, self.spec.rules
        actions = np.zeros(self.spec.max_legal, np.int32)
        legal = actions[: kernels.legal(rules, state, actions, self.spec.new_room())]
        node = Node(state, kernels.to_move(rules, state), {int(action): Edge() for action in legal})
        if len(legal) < 2:
            is_end = node.mover == GAME_OVER or (node.mover == CHANCE_TURN and self.spec.is_staged)
            node.status = "ended" if is_end else "open"
        return node

    def returns(self, state: np.ndarray) -> np.ndarray:
        gains = np.zeros(self.spec.players)
        self.spec.kernels.returns(self.spec.rules, state, gains)
        return gains
