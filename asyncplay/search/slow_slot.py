"""One game of a group of the slow lane: its record so far, and how it decides (policy.py says why)."""

from collections.abc import Sequence

from asyncplay import rng
from asyncplay.games.draws import uniform
from asyncplay.games.position import Position
from asyncplay.games.slow import DECISIONS, HEAD, WORDS, SlowRules, position_after
from asyncplay.search import layout
from asyncplay.search.layout import CHANCE_STREAM, THOUGHT_STREAM, KernelSettings
from asyncplay.search.slow_gumbel import Halving
from asyncplay.search.slow_tree import SlowTree


class SlowSlot:
    """One game and what was decided in it."""

    def __init__(self) -> None:
        self.status, self.seed, self.outside, self.forced = layout.IDLE, 0, 0, 0
        self.trees: list[SlowTree] = []
        self.halving: Halving | None = None
        self.is_quick = False

    def begin(self, rules: SlowRules) -> None:
        self.position, self.words, self.version = rules.start(), list[int](), 0
        self.happens, self.thought = rng.stream(self.seed, CHANCE_STREAM), rng.stream(self.seed, THOUGHT_STREAM)
        self.actions, self.ends, self.versions, self.values = list[int](), list[int](), list[int](), list[float]()
        self.policy_actions, self.policy_visits = list[int](), list[int]()
        self.returns: Sequence[float] = ()
        self.shortened = self.unrecorded = 0

    def begin_at(self, rules: SlowRules, position: Position, thoughts: int) -> None:
        """Go on from a position; where it was not played to, the decisions before it are not known."""
        self.begin(rules)
        self.words = position.state[HEAD : HEAD + position.state[WORDS]].tolist()
        n_decisions = int(position.state[DECISIONS])
        self.actions = [*[0] * (n_decisions - len(position.actions)), *position.actions]
        self.ends, self.versions, self.values = [0] * n_decisions, [0] * n_decisions, [0.0] * n_decisions
        self.position = position_after(rules, self.words)
        self.happens, self.thought = position.stream, rng.stream(thoughts, THOUGHT_STREAM)

    def write_down(self, action: int, value: float) -> None:
        """A decision; its policy, if any, has been recorded already."""
        self.actions.append(action)
        self.ends.append(len(self.policy_actions))
        self.versions.append(self.version)
        self.values.append(value)
        self.words.append(action)

    def decide(self, settings: KernelSettings, most_entries: int) -> tuple[int, list[int], list[float]]:
        """Record the policy of the root, of at most so many entries in the whole game, and choose an edge; return it,
        and visits and sums over all worlds."""
        roots, temperatures = [tree.root for tree in self.trees], settings.temperatures
        temperature = float(temperatures[min(len(self.actions), len(temperatures) - 1)])
        best = None if self.halving is None else self.halving.choose(temperature)
        policy = None if self.halving is None else self.halving.improved()
        counts, sums = roots[0].counts or [], roots[0].sums
        for root in roots[1:]:
            counts = [mine + other for mine, other in zip(counts, root.counts or [], strict=True)]
            sums = [mine + other for mine, other in zip(sums, root.sums, strict=True)]
        self._record_policy(roots[0].actions, counts if policy is None else policy, most_entries)
        if best is not None:
            return best, counts, sums
        weights = [float(count) for count in counts] if any(counts) else roots[0].priors
        largest = max(weights)
        if temperature == 0.0:
            return weights.index(largest), counts, sums
        weights = [weight / largest for weight in weights]
        if temperature != 1.0:
            weights = [weight ** (1.0 / temperature) for weight in weights]
        return _draw_index(uniform(self.thought), weights), counts, sums

    def _record_policy(self, actions: list[int], weights: list[int], most_entries: int) -> None:
        """Append the actions that have a weight; none after a quick search or without space."""
        if self.is_quick:
            return
        chosen = [edge for edge, weight in enumerate(weights) if weight > 0]
        if len(self.policy_actions) + len(chosen) > most_entries:
            self.unrecorded += 1
            return
        self.policy_actions += [actions[edge] for edge in chosen]
        self.policy_visits += [weights[edge] for edge in chosen]


def add_up(numbers: list[float]) -> float:
    """One after another, as the kernels do: newer versions of Python's ``sum`` are more precise."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _draw_index(share: float, weights: list[float]) -> int:
    """Draw an index by weight."""
    left, last = share * add_up(weights), 0
    for index, weight in enumerate(weights):
        if weight > 0.0:
            last = index
            left -= weight
            if left < 0.0:
                break
    return last
