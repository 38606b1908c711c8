"""Trains one network, a few rows at a time."""

import json
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from asyncplay.errors import AsyncplayError
from asyncplay.model import nets
from asyncplay.model.loss import policy_loss, seat_sums, to_lesson, value_loss, weighted_sum
from asyncplay.model.schedule import LearningRate
from asyncplay.model.shape import NetShape, known_facts
from asyncplay.model.thread_choice import ThreadChoice
from asyncplay.model.threads import use_threads
from asyncplay.payloads import Array, Examples

MOMENTS = ("exp_avg", "exp_avg_sq")
"""AdamW's memory of a weight, by its names in torch."""
MOST_STEPS = 1 << 53
"""Of a run, and of its rows; torch counts them in floats."""
MOST_PIECES = 4
"""Of a micro-batch, for as many threads: more would stand in line for Python itself."""


@dataclass(frozen=True, slots=True)
class LearnerSettings:
    """How a network is trained."""

    schedule: LearningRate = field(default_factory=LearningRate)
    weight_decay: float = 1e-2  # of matrices only, times the learning rate each step
    value_weight: float = 1.0  # of the value's loss beside the policy's
    clip_norm: float = 1.0  # longest gradient
    average_steps: int = 1  # what is published is a mean over about this many latest steps


class StepReport(NamedTuple):
    """One finished training step. Losses are means over the batch, before the step."""

    step: int  # steps done, this one included
    rows: int  # of this step
    policy_loss: float
    value_loss: float
    gradient_norm: float  # before clipping
    learning_rate: float
    seats: tuple[tuple[float, ...], ...]  # [4][P], the sums of ``loss.seat_sums``


class LearnerState(NamedTuple):
    """The whole state of a learner, copied."""

    tensors: dict[str, Array]  # weights, their mean and moments
    facts: str  # JSON: counters and the network's shape


class Share(NamedTuple):
    """What one piece of a batch adds to a step."""

    losses: Tensor  # by kind, parts of the batch's means
    seats: Tensor  # float32[4, P], of ``seat_sums``
    gradients: tuple[Tensor, ...]  # in the order of the network's parameters


Job = Callable[[], StepReport | None]


class Learner:
    """Owns a network and its optimizer.

    Lifetime: one run. All methods belong to the lane's thread; between two jobs of a step the lane may
    do other work, even publish: weights change only in a step's last job. A step that is abandoned
    changes nothing.
    """

    def __init__(
        self,
        shape: NetShape,
        settings: LearnerSettings,
        seed: int,
        *,
        device: str = "cpu",
        threads: tuple[int, ...] = (),  # to choose from, step by step; none leaves torch's own choice alone
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.shape = shape
        self.steps = 0
        self.rows = 0
        self._settings = settings
        self._device = device
        self._threads = ThreadChoice(threads) if threads else None
        self._helpers = ThreadPoolExecutor(MOST_PIECES - 1, "learner")  # they end with the learner
        self._net = nets.build(shape, seed).to(device)
        weights = list(self._net.parameters())
        groups = [  # matrices and kernels decay, biases, norms and positions do not
            {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
        ]
        self._optimizer = torch.optim.AdamW(groups, lr=settings.schedule.peak, fused=True)
        self._average = {name: value.detach().clone() for name, value in self._net.state_dict().items()}
        self._sums = torch.zeros(2)
        self._seats = torch.zeros(4, shape.players)
        self._clock, self._step_s = clock, 0.0

    def micro_batches(self, batch: Examples, rows_per_micro: int) -> Iterator[Job]:
        """One training step as short jobs, to be called in order; the last returns the report.

        The parts' gradients add up to the gradient of the whole batch.
        """
        total = float(batch.weight.sum())
        starts = range(0, batch.rows, rows_per_micro)
        for start in starts:
            part = batch.part(start, min(start + rows_per_micro, batch.rows))
            yield self._job(part, total, is_first=start == 0, whole=batch if start == starts[-1] else None)

    def train(self, batch: Examples, rows_per_micro: int | None = None) -> StepReport:
        """One step without a pause."""
        report = None
        for job in self.micro_batches(batch, rows_per_micro or batch.rows):
            report = job()
        assert report is not None, "a batch has rows"
        return report

    def weights(self) -> dict[str, Array]:
        """A copy of the mean of the latest steps' weights, ready to be published."""
        return {name: nets.to_array(value) for name, value in self._average.items()}

    def save(self) -> LearnerState:
        """The state from which ``load`` continues with the same bits."""
        tensors = {f"weight/{name}": value for name, value in nets.snapshot(self._net).items()}
        tensors |= {f"average/{name}": value for name, value in self.weights().items()}
        for name, weight in self._net.named_parameters():
            for moment in MOMENTS if weight in self._optimizer.state else ():
                tensors[f"{moment}/{name}"] = nets.to_array(self._optimizer.state[weight][moment])
        facts = {"steps": self.steps, "rows": self.rows, "shape": asdict(self.shape)}
        return LearnerState(tensors, json.dumps(facts))

    @torch.no_grad()
    def load(self, saved: LearnerState) -> None:
        """Continue from a saved state; raise AsyncplayError if it belongs to another network."""
        tensors = saved.tensors
        try:
            known = json.loads(saved.facts)
            shape = known_facts(known["shape"])
            steps, rows = known["steps"], known["rows"]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise AsyncplayError("the saved network says nothing of its steps or shape") from None
        if shape != json.loads(json.dumps(asdict(self.shape))):
            raise AsyncplayError(f"the saved network is {shape}, wanted {asdict(self.shape)}")
        if not all(type(count) is int and 0 <= count < MOST_STEPS for count in (steps, rows)):
            raise AsyncplayError(f"the saved network has {steps!r:.80} steps and {rows!r:.80} rows")
        for part in ("weight/", "average/", *(f"{moment}/" for moment in MOMENTS if steps)):
            named_alike = {name: array for name, array in tensors.items() if name.startswith(part)}
            nets.check_weights(self.shape, {name.removeprefix(part): array for name, array in named_alike.items()})
        self.steps, self.rows = steps, rows
        self._optimizer.state.clear()
        for name, weight in self._net.named_parameters():
            weight.copy_(torch.tensor(tensors[f"weight/{name}"]))
            if steps:
                moments = {moment: torch.zeros_like(weight) for moment in MOMENTS}
                for moment, value in moments.items():
                    value.copy_(torch.tensor(tensors[f"{moment}/{name}"]))
                step = torch.tensor(float(steps), device=weight.device)
                self._optimizer.state[weight] = {"step": step, **moments}
        for name, average in self._average.items():
            average.copy_(torch.tensor(tensors[f"average/{name}"]))

    def _job(self, part: Examples, total: float, *, is_first: bool, whole: Examples | None) -> Job:
        def run() -> StepReport | None:
            started_s = self._clock()
            if is_first:
                self._optimizer.zero_grad()
                self._sums = torch.zeros_like(self._sums, device=self._device)
                self._seats = torch.zeros_like(self._seats, device=self._device)
                self._step_s = 0.0
            self._learn(part, total)
            report = None if whole is None else self._step(whole.rows)
            self._step_s += self._clock() - started_s
            if report is not None and self._threads is not None:
                self._threads.note(self._step_s / report.rows)
            return report

        return run

    def _learn(self, part: Examples, total: float) -> None:
        """Add a part's share to the gradients and to the losses of the step; pieces are added in their order.

        Threads have a piece each: operations on a few rows are too short to be shared out one by one.
        """
        threads = self._threads.threads if self._threads is not None else 1
        pieces = cut(part, min(threads, MOST_PIECES))
        each = threads // len(pieces) if self._threads is not None else 0
        later = [self._helpers.submit(self._share, piece, total, each) for piece in pieces[1:]]
        for share in (self._share(pieces[0], total, each), *(other.result() for other in later)):
            self._sums += share.losses
            self._seats += share.seats
            for weight, gradient in zip(self._net.parameters(), share.gradients, strict=True):
                if weight.grad is None:
                    weight.grad = torch.zeros_like(weight)  # laid out as its weight is, which the optimizer relies on
                weight.grad += gradient

    def _share(self, piece: Examples, total: float, threads: int) -> Share:
        """The losses and gradients of a piece, on any thread; torch uses ``threads`` of its own, 0 for its default."""
        if threads:
            use_threads(threads)
        lesson = to_lesson(piece, self._device)
        logits, values = self._net(lesson.features)
        by_row = (policy_loss(logits, lesson), value_loss(values, lesson))
        losses = torch.stack([weighted_sum(loss, lesson) for loss in by_row]) / total
        aim = losses[0] + self._settings.value_weight * losses[1]
        gradients = torch.autograd.grad(aim, list(self._net.parameters()))
        return Share(losses.detach(), seat_sums(values, lesson), gradients)

    def _step(self, rows: int) -> StepReport:
        norm = float(nn.utils.clip_grad_norm_(self._net.parameters(), self._settings.clip_norm))
        if not math.isfinite(norm):
            raise AsyncplayError(
                f"training diverged: the gradient's norm is {norm} at step {self.steps + 1}; "
                "resume from a checkpoint with a lower learning rate"
            )
        rate = self._settings.schedule.rate(self.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        self.steps += 1
        share = 1 / min(self.steps, self._settings.average_steps)  # a plain mean at first, then an exponential one
        with torch.no_grad():
            for name, value in self._net.state_dict().items():
                self._average[name].lerp_(value, share)
        self.rows += rows
        policy, value = self._sums.tolist()
        return StepReport(self.steps, rows, policy, value, norm, rate, tuple(map(tuple, self._seats.tolist())))


def cut(batch: Examples, n_pieces: int) -> list[Examples]:
    """Pieces of about equal length, none of them empty."""
    n_pieces = max(1, min(n_pieces, batch.rows))
    edges = [batch.rows * piece // n_pieces for piece in range(n_pieces + 1)]
    return [batch.part(start, stop) for start, stop in pairwise(edges)]
