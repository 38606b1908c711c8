"""Gumbel root selection of the slow lane: the formulas of gumbel.py for the trees of one decision."""

import math

import numpy as np
from numpy.typing import NDArray

from asyncplay.games.draws import gumbel
from asyncplay.search.gumbel import LEAST_PRIOR, PARTS
from asyncplay.search.layout import FRESH, KernelSettings
from asyncplay.search.slow_tree import SlowNode, SlowTree

OUT = -math.inf  # the rating of an action that is not considered any more


class Halving:
    """Sequential halving of one decision, over all of its worlds."""

    def __init__(
        self, trees: list[SlowTree], settings: KernelSettings, thought: NDArray[np.uint64], *, is_quick: bool
    ) -> None:
        root = trees[0].root
        is_noisy = settings.noise_weight > 0.0 and not is_quick
        self._trees, self._settings, self._considered = trees, settings, 0
        self._before = list(root.counts or [0] * len(root.actions))
        self._noise = [gumbel(thought) if is_noisy else 0.0 for _ in root.actions]
        self._ratings = [0.0] * len(root.actions)
        self._opening = int(root.status == FRESH)
        for tree in trees:
            tree.limit, tree.is_noised = self._opening, True

    def narrow(self) -> None:
        """Go on to the next phase, with fewer actions and a new limit, if every world has done the present one."""
        trees = self._trees
        if any(tree.simulations < tree.limit for tree in trees):
            return
        planned = max(0, *(tree.budget - self._opening for tree in trees))
        widest = min(self._settings.gumbel_actions, len(self._ratings))
        self._considered = max(self._considered // 2, 2) if self._considered else widest
        self._keep_best(self._considered)
        n_phases = (widest - 1).bit_length()
        n_more = max(planned // (n_phases * self._considered), 1) * self._considered
        for tree in trees:
            tree.limit = min(tree.limit + n_more, tree.budget)

    def _keep_best(self, n_kept: int) -> None:
        rated = self._rate(1.0)
        ratings = [OUT if kept == OUT else rating for kept, rating in zip(self._ratings, rated, strict=True)]
        best = sorted(range(len(ratings)), key=lambda edge: -ratings[edge])[:n_kept]
        self._ratings = [OUT] * len(ratings)
        for edge in best:
            self._ratings[edge] = ratings[edge]

    def due(self, root: SlowNode) -> int:
        """The edge of a root that the next simulation takes: the least tried, the best rated first."""
        best, fewest, ratings, counts = 0, math.inf, self._ratings, root.counts
        assert counts is not None, "it has edges"
        for edge, rating in enumerate(ratings):
            visits = counts[edge] - self._before[edge] if rating > OUT else math.inf
            if visits < fewest or (visits == fewest and rating > ratings[best]):
                best, fewest = edge, visits
        return best

    def choose(self, temperature: float) -> int:
        """The best of those still considered and tried; without any simulation, of all."""
        rated, (visits, _) = self._rate(temperature), self._seen()
        best, best_is_tried, best_rating = 0, False, OUT
        for edge, rating in enumerate(rated):
            is_tried = visits[edge] > 0
            is_better = rating > best_rating if is_tried == best_is_tried else is_tried
            if self._ratings[edge] > OUT and is_better:
                best, best_is_tried, best_rating = edge, is_tried, rating
        return best

    def improved(self) -> list[int]:
        """softmax(log P + sigma(q)) in whole numbers of PARTS; nothing but zeros if nothing was tried."""
        ratings = self._rate(0.0)
        if not any(self._seen()[0]):
            return [0] * len(ratings)
        largest, total = max(ratings), 0.0
        weights = [math.exp(rating - largest) for rating in ratings]
        for weight in weights:
            total += weight
        return [math.floor(weight / total * PARTS + 0.5) for weight in weights]

    def _seen(self) -> tuple[list[int], list[float]]:
        """Visits and sums of the root's actions, over all worlds."""
        n = len(self._ratings)
        visits, sums = [0] * n, [0.0] * n
        for root in (tree.root for tree in self._trees):
            for edge, count in enumerate(root.counts or ()):
                visits[edge] += count
                sums[edge] += root.sums[edge]
        return visits, sums

    def _rate(self, noise_weight: float) -> list[float]:
        """noise_weight * g + log P + sigma(q) of every legal action."""
        root, (visits, sums), settings = self._trees[0].root, self._seen(), self._settings
        priors = [max(prior, LEAST_PRIOR) for prior in root.priors]
        n_visits, prior_sum, weighed = 0, 0.0, 0.0
        for edge, count in enumerate(visits):
            if count:
                n_visits += count
                prior_sum += priors[edge]
                weighed += priors[edge] * (sums[edge] / count)
        mixed = (root.value + n_visits * (weighed / prior_sum)) / (1 + n_visits) if n_visits else root.value
        factor = (settings.gumbel_visits + max(visits)) * settings.gumbel_scale
        means = [total / count if count else mixed for total, count in zip(sums, visits, strict=True)]
        return [
            noise_weight * noise + math.log(prior) + factor * (mean + 1.0) / 2.0
            for noise, prior, mean in zip(self._noise, priors, means, strict=True)
        ]
