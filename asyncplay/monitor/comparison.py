"""Whether two sides differ, and by how much: means with the doubt that is left."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, stdev, variance

FOREIGN = 0.25  # cores that other programs may take more on one side,
CAUSED = 2.0  # unless the difference is so many of its errors, as where they take what our change leaves them
LEAST_CAUSED = 4  # pairs from which that can be told

Comparison = Callable[[Sequence[float], Sequence[float]], tuple[float, float]]
"""Returns by which part the mean has grown, and half of the 95 % interval around that."""


def compare(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """A ``Comparison`` of two samples of their own, after Welch; two values of each at least."""
    early, late = fmean(before), fmean(after)
    early_part = variance(before) / len(before) * (late / early**2) ** 2
    late_part = variance(after) / len(after) / early**2
    error = early_part + late_part
    freedom = error**2 / max(early_part**2 / (len(before) - 1) + late_part**2 / (len(after) - 1), 1e-300)
    return late / early - 1, student(max(freedom, 1.0)) * math.sqrt(error)


def compare_pairs(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """A ``Comparison`` of values that belong together two by two; two pairs at least.

    The error is that of the mean difference: what the pairs have in common cancels, and without a change the sign of
    each difference is a coin's, so that the interval holds whatever the noise is like. (The error of a ratio estimate
    is smaller, and too small: 13 % of null changes were outside on a starved run.)
    """
    early, n = fmean(before), len(before)
    differences = [late - base for base, late in zip(before, after, strict=True)]
    return fmean(differences) / early, student(n - 1) * stdev(differences) / math.sqrt(n) / early


def are_disturbed(before: Sequence[float], after: Sequence[float], *, is_paired: bool) -> bool:
    """Whether other programs took so different parts of the cores, block by block, that nothing else can be seen.

    In pairs whose order a coin decided, a difference far beyond its error is the change's own doing.
    """
    if len(before) < 2 or abs(fmean(after) - fmean(before)) <= FOREIGN:
        return False
    if not is_paired or len(before) < LEAST_CAUSED:
        return True
    differences = [late - early for early, late in zip(before, after, strict=True)]
    return abs(fmean(differences)) <= CAUSED * stdev(differences) / math.sqrt(len(differences))


def student(freedom: float) -> float:
    """The 97.5 % point of Student's distribution, 4 % too low at most from 3 degrees of freedom on."""
    return 1.96 + 2.37 / freedom + 2.8 / freedom**2
