"""The training loss: cross-entropy over legal actions, squared error of each seat's value."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from asyncplay.payloads import Array, Examples

LEAST_VARIANCE = 1e-9


class Lesson(NamedTuple):
    """Examples as tensors on the network's device; ``K`` is the largest number of legal actions."""

    features: Tensor  # float32[n, F]
    legal: Tensor  # int64[n, K], 0 where there is none
    is_legal: Tensor  # bool[n, K]
    targets: Tensor  # float32[n, K], 0 where illegal
    values: Tensor  # float32[n, P]
    is_seat: Tensor  # float32[n, P], 1 for a seat that exists
    weight: Tensor  # float32[n]


def to_lesson(examples: Examples, device: str = "cpu") -> Lesson:
    """Pad the lists of legal actions to equal length; the order of the rows is kept."""
    counts = np.diff(examples.offsets)
    is_legal = np.arange(counts.max(initial=1)) < counts[:, None]
    legal = np.zeros(is_legal.shape, np.int64)
    legal[is_legal] = examples.legal
    targets = np.zeros(is_legal.shape, np.float32)
    targets[is_legal] = examples.targets
    is_seat = np.arange(examples.values.shape[1]) < examples.seats[:, None]
    return Lesson(
        features=torch.tensor(examples.features, device=device).to(torch.float32),
        legal=torch.from_numpy(legal).to(device),
        is_legal=torch.from_numpy(is_legal).to(device),
        targets=torch.from_numpy(targets).to(device),
        values=torch.tensor(np.where(is_seat, examples.values, 0), dtype=torch.float32, device=device),
        is_seat=torch.from_numpy(is_seat.astype(np.float32)).to(device),
        weight=torch.tensor(examples.weight, device=device),
    )


def policy_loss(logits: Tensor, lesson: Lesson) -> Tensor:
    """-sum of target * log softmax over the legal actions of each row: float32[n]."""
    chosen = logits.gather(1, lesson.legal).masked_fill(~lesson.is_legal, -torch.inf)
    log_priors = torch.log_softmax(chosen, 1).masked_fill(~lesson.is_legal, 0)
    return -(lesson.targets * log_priors).sum(1)


def value_loss(values: Tensor, lesson: Lesson) -> Tensor:
    """Squared error, its mean over the seats that exist: float32[n]."""
    squares = (values - lesson.values).square() * lesson.is_seat
    return squares.sum(1) / lesson.is_seat.sum(1)


def seat_sums(values: Tensor, lesson: Lesson) -> Tensor:
    """Of each relative seat, over the rows that have it: weight, squared error, and sums of the target and its square.

    float32[4, P], without a gradient; parts of a batch add up.
    """
    weight, wanted = lesson.is_seat * lesson.weight[:, None], lesson.values
    error = (values.detach() - wanted).square()
    return torch.stack([(weight * each).sum(0) for each in (torch.ones_like(wanted), error, wanted, wanted.square())])


class SeatScores(NamedTuple):
    """How well values are estimated, by relative seat: the player to move, the seat to its left, and so on."""

    losses: tuple[float, ...]  # mean squared errors
    r2: tuple[float, ...]  # shares of the targets' variance that are explained; 0 where they do not vary


def seat_scores(sums: Array) -> SeatScores:
    """Of [4, P] sums as ``seat_sums`` makes them; seats that no row has are left out."""
    weight, errors, targets, squares = sums[:, sums[0] > 0].astype(np.float64)
    losses = errors / weight
    variances = squares / weight - (targets / weight) ** 2
    r2 = np.where(variances > LEAST_VARIANCE, 1 - losses / np.maximum(variances, LEAST_VARIANCE), 0.0)
    return SeatScores(tuple(losses.tolist()), tuple(r2.tolist()))


def weighted_sum(losses: Tensor, lesson: Lesson) -> Tensor:
    """The sum over a part of a batch; divided by the weight of the whole batch, the parts add up to its mean."""
    return (losses * lesson.weight).sum()
