r"""The kernel that a selection has learnt, :math:`\sum_k a_k K_k`, for use in kernel methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import as_source
from hsiclasso.embedding import Delta, Gaussian, Kernel, median_distance
from hsiclasso.errors import InvalidInputError

__all__ = ["SelectedKernel", "learn_kernel"]


@dataclass(frozen=True)
class SelectedKernel:
    r"""Weighted sum of the kernels of the selected features.

    Call it as a metric, ``SVC(kernel=selector.selected_kernel_)``, or let it transform tables to
    their kernel matrix with the samples it was learnt on, for ``kernel="precomputed"``. This is
    the second stage of two-stage multiple kernel learning (Cortes, Mohri and Rostamizadeh, 2012).

    Attributes
    ----------
    columns : ndarray of shape (m,)
        Columns that it looks at.
    weights : ndarray of shape (m,)
        Weights, divided by the norm of the centred Gram matrix where the measure is normalised.
    scales : ndarray of shape (m,)
        Kernel widths in the units of the columns; not used by the delta kernel.
    kernel : Kernel
    samples : ndarray of shape (n, m)
        The columns on the samples it was learnt on.
    n_features : int
        Columns of the tables that it takes.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, _ = make_data1(200, 30, random_state=0)
    >>> kernel = HSICLasso(4).fit(X, y).selected_kernel_
    >>> score = SVR(kernel=kernel, C=100).fit(X[:150], y[:150]).score(X[150:], y[150:])
    >>> round(score, 1)  # 0.3 with the usual kernel on all 30 columns
    0.8
    """

    columns: IntArray
    weights: FloatArray
    scales: FloatArray
    kernel: Kernel
    samples: FloatArray
    n_features: int

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Return the kernel matrix between the rows of two tables.

        Parameters
        ----------
        X, Y : table of shape (n, d) and (m, d)
            As in `fit`; Y is X if it is left out.

        Returns
        -------
        ndarray of shape (n, m)
        """
        left = self._take(X)
        return self._between(left, left if Y is None or Y is X else self._take(Y))

    def transform(self, X: Any) -> FloatArray:
        """Return the kernel matrix between a table and the samples it was learnt on."""
        return self._between(self._take(X), self.samples)

    def _take(self, X: Any) -> FloatArray:
        source = as_source(X, min_samples=1)
        if source.n_features != self.n_features:
            raise InvalidInputError(
                f"The table has {source.n_features} columns, but the kernel was learnt on "
                f"{self.n_features}: pass all of them, not only the selected ones."
            )
        return source.block(self.columns)

    def _between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        total = np.zeros((len(left), len(right)))
        for j, weight in enumerate(self.weights):
            if isinstance(self.kernel, Delta):
                total += weight * _delta(left[:, j], right[:, j], self.samples[:, j])
            else:
                distance = (left[:, None, j] - right[:, j]) / self.scales[j]
                total += weight * np.exp(-0.5 * distance * distance)
        return total


def _delta(left: FloatArray, right: FloatArray, samples: FloatArray) -> FloatArray:
    """1/n_x where both are x, with n_x counted on the samples; 0 for values not seen there."""
    values, counts = np.unique(samples, return_counts=True)
    place = np.minimum(np.searchsorted(values, left), values.size - 1)
    seen = values[place] == left
    return np.asarray((left[:, None] == right) * (seen / counts[place])[:, None])


def learn_kernel(
    samples: FloatArray, columns: IntArray, weights: FloatArray, kernel: Kernel, n_features: int
) -> SelectedKernel:
    """Make the kernel from the selected columns (n, m) and their weights."""
    scales = np.ones(columns.size)
    if isinstance(kernel, Gaussian):
        for j, column in enumerate(samples.T):
            # squares of very large or small numbers leave the range of doubles
            size = float(np.abs(column).max()) or 1.0
            unit = (
                median_distance(column)
                if kernel.width == "median"
                else size * (column / size).std()
            )
            width = 1.0 if kernel.width == "median" else kernel.width
            scales[j] = width * unit or 1.0
    return SelectedKernel(columns, weights, scales, kernel, samples, n_features)
