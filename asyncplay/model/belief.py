"""What a network learns of who holds which card: cross-entropy over those who could, from counting cards upwards.

Counting says: of those who could hold a card, each holds it in proportion to its cards. A belief is the logarithm of
how much more likely a holder is than that, so a network that knows nothing answers 0 and has the loss of counting.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from asyncplay.payloads import HOLDER, POSSIBLE_SHIFT, SEEN, Array


class Whereabouts(NamedTuple):
    """The cards of n rows, as tensors; ``H`` are the holders, nobody and the other players."""

    holder: Tensor  # int64[n, C], 0 for a card that is seen
    share: Tensor  # float32[n, C], of the row's loss: alike for all cards unseen, 0 for those seen
    counted: Tensor  # float32[n, C, H], logarithms of what counting says, -inf for whoever cannot hold a card unseen


def to_whereabouts(holders: Array, players: int, device: str = "cpu") -> Whereabouts:
    """``holders`` int16[n, C]."""
    is_unseen, places = holders != SEEN, np.arange(players)
    holder = np.where(is_unseen, holders & HOLDER, 0).astype(np.int64)
    is_possible = (holders >> POSSIBLE_SHIFT)[:, :, None] >> places & 1
    counts = ((holder[:, :, None] == places) & is_unseen[:, :, None]).sum(1)
    with np.errstate(divide="ignore"):
        counted = np.log(np.where(is_unseen[:, :, None], is_possible * counts[:, None, :], 1))
    share = is_unseen / np.maximum(is_unseen.sum(1, keepdims=True), 1)
    return Whereabouts(
        torch.from_numpy(holder).to(device),
        torch.from_numpy(share.astype(np.float32)).to(device),
        torch.from_numpy(counted.astype(np.float32)).to(device),
    )


def belief_loss(beliefs: Tensor, cards: Whereabouts) -> Tensor:
    """Nats a card unseen, ``beliefs`` float32[n, C * H]: float32[n]."""
    logits = beliefs.reshape(cards.counted.shape) + cards.counted
    chosen = torch.log_softmax(logits, 2).gather(2, cards.holder[:, :, None])[:, :, 0]
    return -(chosen * cards.share).sum(1)


def counting_loss(cards: Whereabouts) -> Tensor:
    """The loss of who only counts cards: float32[n]."""
    return belief_loss(torch.zeros_like(cards.counted), cards)


def nats(beliefs: Array, holders: Array, players: int) -> tuple[float, float]:
    """The mean loss over all rows, of these beliefs float32[n, C * H] and of counting."""
    cards = to_whereabouts(holders, players)
    return float(belief_loss(torch.from_numpy(beliefs), cards).mean()), float(counting_loss(cards).mean())
