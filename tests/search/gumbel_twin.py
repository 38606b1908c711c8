"""The twin with Gumbel root selection: the formulas of Danihelka et al. (2022) in plain Python."""

import math
from dataclasses import dataclass, field

from search.twin import Edge, Node, Twin

from asyncplay import rng


def phases(n_considered: int, n_simulations: int) -> list[tuple[int, int]]:
    """Sequential halving: how many actions each phase considers and how many simulations it has.

    The last phases go on with two actions until everything is spent.
    """
    n_phases, plan, left, considered = math.ceil(math.log2(n_considered)), [], n_simulations, n_considered
    while left > 0:
        rounds = max(n_simulations // (n_phases * considered), 1)
        plan.append((considered, min(rounds * considered, left)))
        left -= plan[-1][1]
        considered = max(considered // 2, 2)
    return plan


@dataclass
class GumbelTwin(Twin):
    """Differs from PUCT at the root alone."""

    roots: list[Node] = field(default_factory=list)
    noise: dict[int, float] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)  # visits when the decision began
    considered: list[int] = field(default_factory=list)  # the best rated first

    def think(self, roots: list[Node], budget: int) -> None:
        """One simulation for a new root, the rest in phases; the worlds consider the same actions."""
        is_noisy = self.settings.noise_weight > 0 and not self.is_quick
        self.roots, self.considered = roots, list(roots[0].edges)
        self.noise = {action: rng.gumbel(self.thought) if is_noisy else 0.0 for action in self.considered}
        self.before = {action: edge.visits for action, edge in roots[0].edges.items()}
        if roots[0].status == "fresh":
            super().think(roots, 1)
            budget -= 1
        widest = min(self.settings.gumbel_actions, len(self.considered))
        for n_considered, n_simulations in phases(widest, budget):
            ratings = self.rate(1.0)
            self.considered.sort(key=lambda action: (-ratings[action], action))
            del self.considered[n_considered:]
            super().think(roots, n_simulations)

    def add_noise(self, _root: Node) -> None:
        """Of Dirichlet's there is none."""

    def pick(self, node: Node) -> tuple[int, Edge]:
        """At a root the least tried of those considered; ``min`` takes the first, which is the best rated."""
        if not any(node is root for root in self.roots):
            return super().pick(node)
        action = min(self.considered, key=lambda action: node.edges[action].visits - self.before[action])
        return action, node.edges[action]

    def rate(self, noise_weight: float) -> dict[int, float]:
        """g + log P + sigma(q), q completed by the mixed value."""
        priors = {action: max(edge.prior, 1e-30) for action, edge in self.roots[0].edges.items()}
        visits = {action: sum(root.edges[action].visits for root in self.roots) for action in priors}
        sums = {action: sum(root.edges[action].value_sum for root in self.roots) for action in priors}
        means = {action: sums[action] / visits[action] for action in priors if visits[action]}
        mixed, total = self.roots[0].value, sum(visits.values())
        if means:
            prior = sum(priors[action] for action in means)
            mixed += total * (sum(priors[action] * means[action] for action in means) / prior)
            mixed /= 1 + total
        factor = (self.settings.gumbel_visits + max(visits.values())) * self.settings.gumbel_scale
        return {
            action: noise_weight * self.noise[action]
            + math.log(priors[action])
            + factor * (means.get(action, mixed) + 1) / 2
            for action in priors
        }

    def choose(self, counts: dict[int, int]) -> int:
        """The best rated of those considered and tried, the noise counting as much as the temperature says."""
        ratings = self.rate(self.temperature())
        return max(sorted(action for action in self.considered if counts[action]), key=lambda action: ratings[action])

    def policy(self, _counts: dict[int, int]) -> dict[int, int]:
        """softmax(log P + sigma(q)), in parts of 2 ** 20."""
        ratings = self.rate(0.0)
        weights = {action: math.exp(rating - max(ratings.values())) for action, rating in ratings.items()}
        total = sum(weights.values())
        return {action: math.floor(weight / total * 2**20 + 0.5) for action, weight in weights.items()}
