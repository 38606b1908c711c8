"""The networks of a population answering one row at a time as they are trained: no weight is ever copied."""

import time
from collections.abc import Sequence

import numpy as np
import torch

from asyncplay.machine import usable_cores
from asyncplay.model import quantile
from asyncplay.model.quantile_learner import QuantileLearner
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array, Floats

TRIES, CALLS = 5, 100  # windows, of which the best counts, and calls in each


class LiveNetworks:
    """Belongs to the thread that trains the learner."""

    def __init__(self, learner: QuantileLearner, network_of: Sequence[int]) -> None:
        """``network_of``: the network of each agent."""
        self._nets = [learner.network(own) for own in network_of]
        self._places = quantile.midpoints(learner.shape.quantiles)
        self._middles: list[torch.Tensor] = []
        self.refresh()
        row = np.zeros(learner.shape.features, np.float32)
        self.threads = min(sorted({1, usable_cores()}), key=lambda threads: self._seconds(row, threads))

    @torch.no_grad()
    def refresh(self) -> None:
        """The weights have changed: embed the midpoints anew."""
        self._middles = [quantile.embed(net, self._places) for net in self._nets]

    @torch.no_grad()
    def worths(self, agent: int, row: Array) -> Floats:
        """What each action is worth to an agent that sees ``row`` [F]: float32[A]."""
        features = torch.from_numpy(row.astype(np.float32))[None, None]
        found: Floats = quantile.worths(self._nets[agent], features, self._middles[agent]).mean(dim=2).numpy().ravel()
        return found

    def _seconds(self, row: Array, threads: int) -> float:
        """Of an answer with so many threads."""
        use_threads(threads)
        windows = []
        for _ in range(TRIES):
            began_s = time.perf_counter()
            for _ in range(CALLS):
                self.worths(0, row)
            windows.append(time.perf_counter() - began_s)
        return min(windows)
