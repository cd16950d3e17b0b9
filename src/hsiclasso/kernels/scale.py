"""Bringing columns to the scale of their kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["Scaling", "median_distance", "median_vector_distance", "standardise"]

#: Largest number of vectors whose pairwise distances are computed.
_MAX_VECTORS = 2000


@dataclass(frozen=True)
class Scaling:
    """How columns were brought to the scale of a kernel: ``z = (x - shift) / factor``."""

    #: Shape (k,).
    shift: FloatArray
    #: Shape (k,); 0 marks a column that does not vary.
    factor: FloatArray

    def take(self, column: int) -> Scaling:
        """Return the scaling of one column."""
        return Scaling(self.shift[column : column + 1], self.factor[column : column + 1])

    def apply(self, values: FloatArray) -> FloatArray:
        """Scale values (k, m) of the same columns, possibly on other samples."""
        factor = np.where(self.factor > 0, self.factor, 1.0)
        return np.asarray((values - self.shift[:, None]) / factor[:, None])


def standardise(block: FloatArray, weights: FloatArray, *, at_mean: bool = False) -> Scaling:
    """Scale the rows of `block` (k, n) in place to standard deviation 1.

    Parameters
    ----------
    block : ndarray of shape (k, n)
        One column of the table per row.
    weights : ndarray of shape (1, n) or (k, n)
        Weights of the values.
    at_mean : bool, default=False
        Shift the mean to 0. By default the middle of the range becomes 0: a shift does not
        change a kernel of differences, and smaller magnitudes need fewer terms.
    """
    from hsiclasso.kernels import _loops

    lowest, highest = block.min(axis=1), block.max(axis=1)
    std, middle = np.empty(len(block)), np.empty(len(block))
    _loops.standardise(block, weights, lowest, highest, std, middle)
    shift = 0.5 * lowest + 0.5 * highest
    if at_mean:
        block += middle[:, None]
        shift = shift - middle * std
    return Scaling(shift, std)


def median_distance(column: FloatArray, weights: FloatArray | None = None) -> float:
    """Median of the non-zero pairwise distances of a column that varies, in O(n log n).

    Examples
    --------
    >>> median_distance(np.array([0.0, 0.0, 1.0, 3.0]))
    2.0
    """
    from hsiclasso.kernels._loops import median_of_pairs

    order = np.argsort(column, kind="stable")
    values = column[order]
    # equal weights are replaced by ones, whose sums have no rounding error
    equal = weights is None or np.ptp(weights) == 0
    weights = np.ones(values.size) if weights is None or equal else weights[order]
    if not weights.all():  # values without weight, such as missing ones, form no pairs
        values, weights = values[weights > 0], weights[weights > 0]
    return median_of_pairs(values, weights)


def median_vector_distance(vectors: FloatArray, weights: FloatArray | None = None) -> float:
    """Median of the non-zero distances between vectors, the columns of (q, n).

    If there are more than 2000 vectors, only 2000 evenly spaced ones are compared.
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
