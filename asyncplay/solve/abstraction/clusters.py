"""k-means of hands by earth mover's distance.

A hand is its cumulative histogram, int32[D] of CDF_TOTAL at most: the earth mover's distance of two hands is then the
sum of the differences. All numbers are whole, so the same seed gives the same clusters on every machine.
"""

from typing import Any

import numpy as np
from numba import int32, int64, uint64, void
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.games.kernels import helper, kernel, ready
from asyncplay.solve.abstraction.equity import CDF_TOTAL

MOST_ROUNDS = 50

Points = NDArray[np.int32]
Weights = NDArray[np.int64]


def cluster(points: Points, weights: Weights, n_clusters: int, stream: NDArray[np.uint64]) -> Points:
    """The centers int32[k, D] of these points, the weakest hands first; fewer where there are fewer different points.

    Starts like k-means++ and goes on until nothing changes, or for MOST_ROUNDS.
    """
    distinct, inverse = np.unique(points, axis=0, return_inverse=True)
    masses = np.zeros(len(distinct), np.int64)
    np.add.at(masses, inverse.ravel(), weights)
    if len(distinct) <= n_clusters:
        return _ordered(distinct)
    centers = np.zeros((n_clusters, points.shape[1]), np.int32)
    nearest, distances = np.zeros(len(distinct), np.int32), np.full(len(distinct), 1 << 40, np.int64)
    ready(seed_centers)(distinct, masses, stream, centers, distances)
    sums = np.zeros((n_clusters, points.shape[1] + 1), np.int64)
    for _ in range(MOST_ROUNDS):
        before = centers.copy()
        ready(assign)(distinct, centers, nearest, distances)
        ready(move_centers)(distinct, masses, nearest, distances, sums, centers)
        if (before == centers).all():
            break
    return _ordered(centers)


def _ordered(centers: Points) -> Points:
    """By mean equity: the more of a histogram lies low, the larger is the sum of its cumulative form."""
    return np.ascontiguousarray(centers[np.argsort(-centers.sum(axis=1, dtype=np.int64), kind="stable")])


def cumulative(histograms: NDArray[Any]) -> Points:
    """int[n, BINS] counts as int32[n, BINS] that end with CDF_TOTAL."""
    sums = np.cumsum(histograms, axis=1, dtype=np.int64)
    return (sums * CDF_TOTAL // np.maximum(sums[:, -1:], 1)).astype(np.int32)


@helper
def distance(one, other):
    """Earth mover's distance of two cumulative histograms."""
    total = np.int32(0)
    for k in range(len(one)):
        total += abs(one[k] - other[k])
    return np.int64(total)


@kernel(void(int32[:, ::1], int32[:, ::1], int32[::1], int64[::1]))
def assign(points, centers, nearest, distances):
    """The nearest center of each point, the first of equal ones, and how far it is."""
    for k in range(len(points)):
        best = distance(points[k], centers[0])
        nearest[k] = 0
        for center in range(1, len(centers)):
            far = distance(points[k], centers[center])
            if far < best:
                best = far
                nearest[k] = center
        distances[k] = best


@kernel(void(int32[:, ::1], int64[::1], uint64[::1], int32[:, ::1], int64[::1]))
def seed_centers(points, weights, stream, centers, distances):
    """Draw each center among the points, by weight times the distance to the centers before it."""
    total = np.float64(0.0)
    for k in range(len(points)):
        total += weights[k]
    for center in range(len(centers)):
        left, chosen = rng.uniform(stream) * total, len(points) - 1
        for k in range(len(points)):
            left -= weights[k] * (1.0 if center == 0 else float(distances[k]))
            if left < 0.0:
                chosen = k
                break
        total = 0.0
        for d in range(centers.shape[1]):
            centers[center, d] = points[chosen, d]
        for k in range(len(points)):
            distances[k] = min(distances[k], distance(points[k], centers[center]))
            total += float(weights[k]) * float(distances[k])


@kernel(void(int32[:, ::1], int64[::1], int32[::1], int64[::1], int64[:, ::1], int32[:, ::1]))
def move_centers(points, weights, nearest, distances, sums, centers):  # noqa: PLR0917
    """Move each center to the mean of its points, rounded; one without points goes to the point farthest off."""
    n, width = len(points), centers.shape[1]
    for center in range(len(centers)):
        for d in range(width + 1):
            sums[center, d] = 0
    for k in range(n):
        for d in range(width):
            sums[nearest[k], d] += weights[k] * points[k, d]
        sums[nearest[k], width] += weights[k]
    for center in range(len(centers)):
        mass = sums[center, width]
        farthest = 0
        if mass == 0:
            for k in range(n):
                farthest = k if distances[k] > distances[farthest] else farthest
            distances[farthest] = 0
        for d in range(width):
            centers[center, d] = points[farthest, d] if mass == 0 else (sums[center, d] + mass // 2) // mass


KERNELS = (assign, seed_centers, move_centers)
