r"""Conditional dependence by nearest neighbours: what a feature adds to those selected.

Let N(i) be the k nearest neighbours of sample i in the columns S, and L the Gram matrix of the
target. If S explains the target, neighbours have similar targets:

.. math:: T(S) = \frac1n \sum_i \frac1k \sum_{j \in N(i)} L_{ij}, \qquad
          \hat\rho^2(S) = \frac{T(S) - T_0}{T_1 - T_0}

where :math:`T_1` is the mean of :math:`L_{ii}` and :math:`T_0` that over pairs of samples. The
kernel partial correlation of a feature given S is
:math:`(T(S \cup j) - T(S)) / (T_1 - T(S))`.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.parts import for_parts

__all__ = ["NeighbourCriterion", "rank_gram"]

#: Columns that share a pass over the matrices between samples.
_COLUMNS = 16
#: Gains up to this are rounding errors.
_ROUNDING = 1e-12


def rank_gram(y: FloatArray) -> tuple[FloatArray, float]:
    r"""Return the matrix :math:`\min(R_i, R_j) / n` of the ranks of a target, and its mean.

    :math:`R_i` is the number of targets up to the i-th. With one neighbour, the coefficient of
    Azadkia and Chatterjee is :math:`\hat\rho^2` of this matrix, with :math:`T_0` its mean.

    Examples
    --------
    >>> rank_gram(np.array([5.0, 3.0, 9.0]))[0] * 3
    array([[2., 1., 2.],
           [1., 1., 1.],
           [2., 1., 3.]])
    """
    ranks = np.searchsorted(np.sort(y), y, side="right") / y.size
    gram = np.minimum(ranks, ranks[:, None])
    return gram, float(gram.mean())


class NeighbourCriterion:
    """Kernel partial correlation of candidates, given the features added so far.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Contiguous.
    gram : ndarray of shape (n, n)
        Gram matrix of the target.
    n_neighbors : int
    unrelated : float, default=None
        :math:`T_0`; by default the mean over pairs of distinct samples.
    n_threads : int, default=1
    """

    def __init__(
        self,
        columns: FloatArray,
        gram: FloatArray,
        n_neighbors: int,
        *,
        unrelated: float | None = None,
        n_threads: int = 1,
    ) -> None:
        n = len(gram)
        self._columns, self._gram, self._k = columns, gram, n_neighbors
        self._n_threads = n_threads
        self._most = float(np.trace(gram)) / n
        pairs = (float(gram.sum()) - n * self._most) / (n * (n - 1))
        self._least = pairs if unrelated is None else unrelated
        self._distances = np.zeros((n, n))
        self._known: tuple[IntArray, FloatArray, FloatArray] | None = None
        #: Share of the target that the added features explain.
        self.explained = 0.0

    def gains(self, candidates: IntArray) -> FloatArray:
        """Return the partial correlation of each candidate with the target."""
        return (self._shares(candidates) - self.explained) / self._rest

    def worth(self, candidates: IntArray, gains: FloatArray) -> bool:
        """Tell whether the best candidate explains more than nothing."""
        return bool(gains.max() > _ROUNDING)

    def add(self, feature: int, gain: float) -> None:
        """Add a feature with its gain."""
        self.explained += gain * self._rest
        z, n = self._columns[feature], len(self._gram)
        self._distances += np.square(z[:, None] - z)
        np.fill_diagonal(self._distances, np.inf)  # a sample is no neighbour of its own
        order = np.argsort(self._distances, axis=1)[:, : n - 1]
        np.fill_diagonal(self._distances, 0.0)
        distances = np.take_along_axis(self._distances, order, axis=1)
        self._known = (order, distances, np.take_along_axis(self._gram, order, axis=1))

    @property
    def _rest(self) -> float:
        """Share that is not explained; 1 if nothing is left."""
        rest = 1.0 - self.explained
        return rest if rest > _ROUNDING else 1.0

    def _shares(self, candidates: IntArray) -> FloatArray:
        """Return the share of the target that is explained with each candidate."""
        from hsiclasso.baselines._neighbour_loops import means_of_nearest, means_on_a_line

        means = np.empty(candidates.size)
        step = max(1, min(_COLUMNS, -(-candidates.size // self._n_threads)))

        def work(part: slice) -> None:
            columns = self._columns[candidates[part]]
            if self._known is None:
                means_on_a_line(columns, self._gram, self._k, means[part])
            else:
                means_of_nearest(columns, *self._known, self._k, means[part])

        for_parts(work, candidates.size, step, self._n_threads)
        return (means - self._least) / (self._most - self._least)
