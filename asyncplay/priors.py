"""From logits to probabilities over the legal actions of each row."""

import numpy as np

from asyncplay.payloads import Array, Floats, Ints


def legal_priors(logits: Floats, legal: Ints, offsets: Ints) -> Floats:
    """Softmax of ``logits`` float32[n, A] over each row's legal actions: float32[L]."""
    return segment_softmax(logits.reshape(-1).take(flat_index(legal, offsets, logits.shape[1])), offsets)


def flat_index(legal: Ints, offsets: Ints, actions: int) -> Array:
    """Where the legal actions of all rows lie in a flattened [n, A]: int64[L]."""
    first_of_row = np.arange(0, (len(offsets) - 1) * actions, actions, dtype=np.int64)
    return first_of_row.repeat(_counts(offsets)) + legal


def segment_softmax(chosen: Floats, offsets: Ints) -> Floats:
    """Softmax of each run ``chosen[offsets[i]:offsets[i + 1]]``.

    No run may be empty: ``reduceat`` would answer for the next one. Every row has a legal action.
    """
    if len(offsets) == 1:
        return np.empty(0, np.float32)
    starts, counts = offsets[:-1], _counts(offsets)
    assert counts.min() > 0, "a row has no legal action"
    raised: Floats = np.exp(chosen - np.maximum.reduceat(chosen, starts).repeat(counts))
    raised /= np.add.reduceat(raised, starts).repeat(counts)
    return raised


def _counts(offsets: Ints) -> Array:
    return (offsets[1:] - offsets[:-1]).astype(np.intp)  # a third of the time of np.diff
