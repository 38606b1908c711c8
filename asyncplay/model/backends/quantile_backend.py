"""Decisions of a population: rows name their agent first, and each is answered by its agent's network.

An answer has for "priors" what each legal action is worth, and for "values" the best of them. On a CPU agents take
turns in one batch; an accelerator computes all at once, filled up to the agent with most rows.
"""

from collections.abc import Mapping

import numpy as np
import torch

from asyncplay.model import quantile
from asyncplay.model.backend import Finish, Prepared
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array, Estimates, Floats, Positions
from asyncplay.priors import flat_index


class QuantileBackend:
    """The networks that act, an entry for each agent.

    Weights that were published are never changed, so they are not copied. ``swap`` puts one reference in the place of
    another and may be called from any thread.
    """

    depth = 1

    def __init__(
        self,
        weights: Mapping[str, Array],
        version: int,
        *,
        quantiles: int,
        device: str = "cpu",
        threads: int = 1,  # on a CPU
        joins: bool | None = None,  # all agents of a batch in one call; None: on accelerators
    ) -> None:
        """``weights`` float32[P, rows, columns] by name: those of each agent."""
        self._joins = device != "cpu" if joins is None else joins
        self.name = "torch-cpu" if device == "cpu" else device
        self._quantiles, self._device, self._threads = quantiles, device, threads
        self._current = self.prepare(weights, version)

    def prepare(self, weights: Mapping[str, Array], version: int) -> Prepared:
        stack = {name: torch.from_numpy(array).to(self._device) for name, array in weights.items()}
        with torch.inference_mode():
            middle = quantile.embed(stack, quantile.midpoints(self._quantiles).to(self._device))
        return Prepared(version, (stack, middle))

    def swap(self, prepared: Prepared) -> None:
        self._current = prepared

    def launch(self, positions: Positions) -> Finish:
        if self._device == "cpu":
            use_threads(self._threads)
        current = self._current
        answers = self._answer(positions.features, *current.engine)
        index = flat_index(positions.legal, positions.offsets, answers.shape[1])
        worths = answers.ravel()[index]
        best = np.maximum.reduceat(worths, positions.offsets[:-1])[:, None]
        estimates = Estimates(worths, best, current.version)
        return lambda: estimates

    @torch.inference_mode()
    def _answer(self, rows: Array, stack: quantile.Stack, middle: torch.Tensor) -> Floats:
        """What every action is worth: float32[n, A]."""
        agents = np.clip(rows[:, 0].astype(np.int64), 0, len(middle) - 1)
        present = np.unique(agents)
        groups = [present[at : at + 1] for at in range(len(present))] if not self._joins else [present]
        answers = np.empty((len(rows), stack["heads.bias"].shape[2] - 1), np.float32)
        for group in groups:
            members = [np.flatnonzero(agents == agent) for agent in group]
            block = np.zeros((len(group), max(map(len, members)), rows.shape[1] - 1), np.float32)
            for place, mine in enumerate(members):
                block[place, : len(mine)] = rows[mine, 1:]
            first, is_alone = int(group[0]), len(group) == 1  # a slice copies nothing
            chosen = slice(first, first + 1) if is_alone else torch.from_numpy(group).to(self._device)
            own = {name: weight[chosen] for name, weight in stack.items()}
            found = quantile.worths(own, torch.from_numpy(block).to(self._device), middle[chosen]).mean(dim=2)
            for place, mine in enumerate(members):
                answers[mine] = found[place, : len(mine)].cpu().numpy()
        return answers
