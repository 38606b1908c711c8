"""Trains the networks of a population: a step each, on threads side by side, or all in one."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from asyncplay.errors import AsyncplayError
from asyncplay.model import quantile
from asyncplay.model.learner import LearnerState
from asyncplay.model.quantile import QuantileShape
from asyncplay.model.schedule import LearningRate
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array, Floats

MOMENTS = ("exp_avg", "exp_avg_sq")
"""Adam's memory of a weight, by its names in torch."""
MOST_STEPS = 1 << 53
CLIP_NORM = 10.0  # longest gradient of a network
ADAM_EPSILON = 1e-8


class Lessons(NamedTuple):
    """A batch of transitions for one network."""

    features: Array  # uint8 or float32[n, F]
    actions: Array  # int64[n]
    rewards: Floats  # float32[n], the sum of the next n rewards, discounted
    discounts: Floats  # float32[n], of what follows them; 0 where the episode is over
    next_features: Array  # like ``features``
    next_legal: Array  # uint8[n, A], 1 for a legal action
    weight: Floats  # float32[n], how much the row counts


@dataclass(frozen=True, slots=True)
class QuantileSettings:
    """How the networks are trained."""

    schedule: LearningRate = field(default_factory=LearningRate)
    target_rate: float = 1e-3


class QuantileReport(NamedTuple):
    """One finished step of one network."""

    network: int
    step: int  # steps of this network, this one included
    rows: int
    loss: float
    errors: Floats  # float32[n], how far the mean of each row's quantiles was from its target


class QuantileLearner:
    """Owns networks, their targets and their optimizers.

    Lifetime: one run. A network belongs to one thread at a time, different ones may be trained side by side; what is
    saved or published is read between steps. The places of quantiles follow from the seed, the network and its step:
    however steps are scheduled, they make the same weights but for rounding.
    """

    def __init__(
        self, shape: QuantileShape, settings: QuantileSettings, seed: int, *, device: str = "cpu", threads: int = 0
    ) -> None:
        """``threads`` of torch for a step on a CPU; 0 leaves torch's own choice alone."""
        self.shape, self.device = shape, device
        self.steps = [0] * shape.networks
        self._settings, self._seed, self._threads = settings, seed, threads
        first = quantile.fresh(shape, seed)
        self._nets = [self._own(first, network) for network in range(shape.networks)]
        for net in self._nets:
            for weight in net.values():
                weight.requires_grad_()
        self._targets = [self._own(first, network) for network in range(shape.networks)]
        self._optimizers = [torch.optim.Adam(list(net.values()), eps=ADAM_EPSILON, fused=True) for net in self._nets]
        self._midpoints = quantile.midpoints(shape.quantiles).to(device)

    @property
    def most_steps(self) -> int:
        """Of the network that has made most."""
        return max(self.steps)

    def train(self, networks: Sequence[int], lessons: Sequence[Lessons]) -> list[QuantileReport]:
        """One step of each of these networks, in one call of each operation."""
        if self._threads:
            use_threads(self._threads)
        batch = self._batch(lessons)
        weights = self._joined(self._nets, networks)
        errors, losses = self._losses(weights, self._joined(self._targets, networks), networks, batch)
        (losses * batch.weight).mean(dim=1).sum().backward()  # type: ignore[no-untyped-call]
        for network in networks:
            self._move(network)
        rows, found = losses.shape[1], losses.detach().mean(dim=1).tolist()
        return [
            QuantileReport(network, self.steps[network], rows, found[place], errors[place].cpu().numpy())
            for place, network in enumerate(networks)
        ]

    def network(self, network: int) -> quantile.Stack:
        """The weights of one network as they are, float32[1, rows, columns] by name; a step changes them."""
        return self._nets[network]

    def weights(self) -> dict[str, Array]:
        """A copy of all networks' weights: float32[G, rows, columns] by name."""
        return self._stacked(self._nets)

    @torch.no_grad()
    def distance(self, others: Mapping[str, Array]) -> float:
        """How far the network that has moved most is from ``others``, relative to the length of that one."""
        if self._threads:
            use_threads(self._threads)
        moved = []
        for network, net in enumerate(self._nets):
            pairs = [
                (weight, torch.from_numpy(others[name][network : network + 1]).to(self.device))
                for name, weight in net.items()
            ]
            squares = [(float((weight - other).square().sum()), float(other.square().sum())) for weight, other in pairs]
            apart, length = map(sum, zip(*squares, strict=True))
            moved.append(math.sqrt(apart / length))
        return max(moved)

    def save(self) -> LearnerState:
        """The state from which ``load`` goes on."""
        tensors = {f"weight/{name}": array for name, array in self.weights().items()}
        tensors |= {f"target/{name}": array for name, array in self._stacked(self._targets).items()}
        for moment in MOMENTS:
            tensors |= {f"{moment}/{name}": array for name, array in self._stacked(self._moments(moment)).items()}
        return LearnerState(tensors, json.dumps({"steps": self.steps, "shape": asdict(self.shape)}))

    @torch.no_grad()
    def load(self, saved: LearnerState) -> None:
        """Go on from a saved state; AsyncplayError if it is of other networks."""
        try:
            known = json.loads(saved.facts)
            shape, steps = known["shape"], known["steps"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise AsyncplayError("the saved networks say nothing of their steps or shape") from None
        if shape != asdict(self.shape):
            raise AsyncplayError(f"the saved networks are {shape}, wanted {asdict(self.shape)}")
        is_list = isinstance(steps, list) and len(steps) == self.shape.networks
        if not is_list or not all(type(count) is int and 0 <= count < MOST_STEPS for count in steps):
            raise AsyncplayError(f"the saved networks have {steps!r:.80} steps")
        parts = {"weight": self._nets, "target": self._targets} | {name: self._moments(name) for name in MOMENTS}
        for part, nets in parts.items():
            arrays = {name: saved.tensors.get(f"{part}/{name}", np.empty(0)) for name in self.shape.sides()}
            quantile.check_stack(self.shape, arrays)
            for network, net in enumerate(nets):
                for name, weight in net.items():
                    weight.copy_(torch.from_numpy(arrays[name][network : network + 1].copy()))
        self.steps = list(steps)
        for network, count in enumerate(self.steps):
            for state in self._optimizers[network].state.values():
                state["step"].fill_(float(count))

    def _losses(
        self, weights: quantile.Stack, targets: quantile.Stack, networks: Sequence[int], batch: "_Batch"
    ) -> tuple[Tensor, Tensor]:
        """Errors and losses of each row, float32[g, n]; the choice of the next action is the network's own, what it is
        worth says the target (double Q)."""
        places = self._places(networks)
        half = self.shape.quantiles
        with torch.no_grad():
            middle = quantile.embed(weights, self._midpoints)
            wanted = quantile.worths(weights, batch.next_features, middle).mean(dim=2)
            best = wanted.masked_fill(~batch.next_legal, -math.inf).argmax(dim=2)
            later = quantile.worths(targets, batch.next_features, quantile.embed(targets, places[:, half:]))
            later = later.gather(3, best[:, :, None, None].expand(-1, -1, half, 1))[..., 0]
            aims = batch.rewards[..., None] + batch.discounts[..., None] * later
        now = quantile.worths(weights, batch.features, quantile.embed(weights, places[:, :half]))
        now = now.gather(3, batch.actions[:, :, None, None].expand(-1, -1, half, 1))[..., 0]
        errors = (aims.mean(dim=2) - now.detach().mean(dim=2)).abs()
        return errors, quantile.quantile_loss(now, aims, places[:, :half])

    def _places(self, networks: Sequence[int]) -> Tensor:
        """Of the estimates and of the targets: float32[g, 2 K]."""
        drawn = [
            np.random.default_rng((self._seed, network, self.steps[network])).random(2 * self.shape.quantiles)
            for network in networks
        ]
        return torch.from_numpy(np.array(drawn, np.float32)).to(self.device)

    def _move(self, network: int) -> None:
        """Let one network's optimizer and target follow its gradient."""
        net, optimizer = self._nets[network], self._optimizers[network]
        norm = float(nn.utils.clip_grad_norm_(net.values(), CLIP_NORM))
        if not math.isfinite(norm):
            raise AsyncplayError(
                f"training diverged: the gradient's norm is {norm} at step {self.steps[network] + 1} of network "
                f"{network}; resume from a checkpoint with a lower learning rate"
            )
        optimizer.param_groups[0]["lr"] = self._settings.schedule.rate(self.steps[network])
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            targets = list(self._targets[network].values())
            torch._foreach_lerp_(targets, list(net.values()), self._settings.target_rate)
        self.steps[network] += 1

    def _batch(self, lessons: Sequence[Lessons]) -> "_Batch":
        def stacked(name: str) -> Tensor:
            arrays = [getattr(each, name) for each in lessons]
            array = arrays[0][None] if len(arrays) == 1 else np.stack(arrays)
            return torch.from_numpy(array).to(self.device)

        return _Batch(
            stacked("features").float(),
            stacked("actions"),
            stacked("rewards"),
            stacked("discounts"),
            stacked("next_features").float(),
            stacked("next_legal").bool(),
            stacked("weight"),
        )

    def _joined(self, nets: Sequence[dict[str, Tensor]], networks: Sequence[int]) -> quantile.Stack:
        if len(networks) == 1:
            return nets[networks[0]]
        return {name: torch.cat([nets[network][name] for network in networks]) for name in self.shape.sides()}

    def _moments(self, moment: str) -> list[dict[str, Tensor]]:
        """Adam's memory of all networks, made first where there is none."""
        found = []
        for net, optimizer in zip(self._nets, self._optimizers, strict=True):
            for weight in net.values():
                if not optimizer.state[weight]:
                    zeros = {name: torch.zeros_like(weight, requires_grad=False) for name in MOMENTS}
                    optimizer.state[weight] = {"step": torch.zeros((), device=self.device), **zeros}
            found.append({name: optimizer.state[weight][moment] for name, weight in net.items()})
        return found

    def _own(self, stack: dict[str, Array], network: int) -> dict[str, Tensor]:
        """One network with memory of its own: a step on a thread must not touch what another thread reads."""
        return {name: torch.tensor(array[network : network + 1], device=self.device) for name, array in stack.items()}

    @staticmethod
    def _stacked(nets: Sequence[dict[str, Tensor]]) -> dict[str, Array]:
        return {name: torch.cat([net[name].detach() for net in nets]).cpu().numpy() for name in nets[0]}


class _Batch(NamedTuple):
    """Lessons of g networks on the device."""

    features: Tensor  # float32[g, n, F]
    actions: Tensor  # int64[g, n]
    rewards: Tensor  # float32[g, n]
    discounts: Tensor  # float32[g, n]
    next_features: Tensor  # float32[g, n, F]
    next_legal: Tensor  # bool[g, n, A]
    weight: Tensor  # float32[g, n]
