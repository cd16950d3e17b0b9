"""Bringing columns to the scale on which kernels look at them."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.embedding.kernels import Width

__all__ = ["median_distance", "median_vector_distance", "scale_to_width", "standardised"]

_NO_WEIGHTS = np.empty(0)
#: Vectors among which pairwise distances are compared.
_MAX_VECTORS = 2000


def standardised(
    block: FloatArray, weights: FloatArray | None = None
) -> tuple[BoolArray, FloatArray]:
    """Scale the rows of `block` (k, n) in place to unit deviation, their range centred on 0.

    Returns which rows vary, and where the middle of the range lies: the deviations from the
    mean that the rows have lost.
    """
    from hsiclasso.embedding._loops import standardise

    std, middle = np.empty(len(block)), np.empty(len(block))
    total = float(block.shape[1]) if weights is None else float(weights.sum())
    lowest, highest = block.min(axis=1), block.max(axis=1)
    standardise(
        block, _NO_WEIGHTS if weights is None else weights, total, lowest, highest, std, middle
    )
    return std > 0, middle


def scale_to_width(
    block: FloatArray, width: Width, varies: BoolArray, weights: FloatArray | None = None
) -> None:
    """Divide the rows of `block` (k, n) that vary by the kernel width, in place."""
    if width == "median":
        for j in np.flatnonzero(varies):
            block[j] /= median_distance(block[j], weights)
    elif width != 1.0:
        block /= width


def median_distance(column: FloatArray, weights: FloatArray | None = None) -> float:
    """Median of the non-zero pairwise distances of a column that varies, in O(n log n).

    Examples
    --------
    >>> median_distance(np.array([0.0, 0.0, 1.0, 3.0]))
    2.0
    """
    from hsiclasso.embedding._loops import median_of_pairs

    order = np.argsort(column, kind="stable")
    values = column[order]
    # sums of equal weights are to be as exact as those of ones
    equal = weights is None or np.ptp(weights) == 0
    weights = np.ones(values.size) if weights is None or equal else weights[order]
    return median_of_pairs(values, weights)


def median_vector_distance(vectors: FloatArray, weights: FloatArray | None = None) -> float:
    """Median of the non-zero distances between vectors that vary, the columns of (q, n).

    Of more than 2000 vectors, evenly spaced ones are compared.
    """
    from scipy.spatial.distance import pdist

    n = vectors.shape[1]
    some = np.unique(np.linspace(0, n - 1, min(n, _MAX_VECTORS)).astype(int))
    distances = pdist(np.ascontiguousarray(vectors[:, some].T))
    order = np.argsort(distances, kind="stable")
    order = order[distances[order] > 0]
    if not order.size:
        return 1.0
    shares = np.ones(some.size) if weights is None else weights[some]
    i, j = np.triu_indices(some.size, 1)
    below = np.cumsum((shares[i] * shares[j])[order])
    return float(distances[order[np.searchsorted(2 * below, below[-1])]])
