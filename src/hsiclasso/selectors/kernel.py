r"""The kernel that a selection has learnt, :math:`\sum_k a_k K_k`, for use in kernel methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source, as_source
from hsiclasso.dependence import Features, Scaled
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Kernel
from hsiclasso.kernels.scale import Scaling

__all__ = ["KernelTerm", "SelectedKernel", "learn_kernel"]


@dataclass(frozen=True)
class KernelTerm:
    """The kernel of one selected feature, as learnt from the samples."""

    #: Columns of the table that it uses, shape (q,); several for a joint feature.
    columns: IntArray
    #: Weight in the sum, multiplied by the factors that the measure gives the kernel.
    weight: float
    #: Kernel whose parameters are learnt from the samples.
    kernel: Kernel
    #: Scaling of values for the kernel.
    scaling: Scaling
    #: Labels that the codes of a column stand for, if it has labels.
    labels: tuple[list[Any] | None, ...]
    #: The scaled columns on the samples it was learnt on, NaN where they are missing, shape (q, n).
    samples: FloatArray

    def take(self, source: Source) -> FloatArray:
        """Read the columns (q, m) of a table, scaled, with labels coded as in the samples."""
        block = source.block(self.columns).T
        for place, (column, labels) in enumerate(zip(self.columns, self.labels, strict=True)):
            if labels is not None:
                block[place] = _recoded(source, int(column), labels, block[place])
        return self.scaling.apply(block) if not self.kernel.of_labels else block

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) of scaled (q, m) and (q, p); 0 where a value is missing."""
        known = [~np.isnan(side).any(axis=0) for side in (left, right)]
        values = self.kernel.between(
            *(np.where(seen, side, 0.0) for seen, side in zip(known, (left, right), strict=True))
        )
        return np.where(np.logical_and.outer(*known), values, 0.0)


def _recoded(source: Source, column: int, labels: list[Any], codes: FloatArray) -> FloatArray:
    """Translate the codes of a column of labels to those of the samples; NaN for other labels."""
    theirs = source.categories(column)
    if theirs is None:
        raise InvalidInputError(
            f"column {source.name(column)!r} held labels when the kernel was learnt: pass a "
            f"frame with labels such as {labels[0]!r}, not their codes."
        )
    known = {label: code for code, label in enumerate(labels)}
    ours = np.array([known.get(label, np.nan) for label in [*theirs, None]])
    return ours[np.where(np.isnan(codes), len(theirs), codes).astype(np.int64)]


@dataclass(frozen=True)
class SelectedKernel:
    r"""Weighted sum of the kernels of the selected features.

    Call it as a metric, ``SVC(kernel=selector.selected_kernel_)``, or let it transform tables to
    their kernel matrix with the samples it was learnt on, for ``kernel="precomputed"``. This is
    the second stage of two-stage multiple kernel learning (Cortes, Mohri and Rostamizadeh, 2012).
    A missing value adds nothing to a sum.

    Attributes
    ----------
    terms : tuple of KernelTerm
        One for each selected feature.
    n_samples : int
        Samples it was learnt on.
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

    terms: tuple[KernelTerm, ...]
    n_samples: int
    n_features: int

    @property
    def columns(self) -> IntArray:
        """Columns that it uses."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(t.columns for t in self.terms)])

    @property
    def weights(self) -> FloatArray:
        """Weights of the features."""
        return np.array([term.weight for term in self.terms])

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
        left = self._source(X)
        right = left if Y is None or Y is X else self._source(Y)
        total = np.zeros((left.n_samples, right.n_samples))
        for term in self.terms:
            total += term.weight * term.between(term.take(left), term.take(right))
        return total

    def transform(self, X: Any) -> FloatArray:
        """Return the kernel matrix between a table and the samples it was learnt on."""
        left = self._source(X)
        total = np.zeros((left.n_samples, self.n_samples))
        for term in self.terms:
            total += term.weight * term.between(term.take(left), term.samples)
        return total

    def _source(self, X: Any) -> Source:
        source = as_source(X, min_samples=1)
        if source.n_features != self.n_features:
            raise InvalidInputError(
                f"The table has {source.n_features} columns, but the kernel was learnt on "
                f"{self.n_features}: pass all of them, not only the selected ones."
            )
        return source


def learn_kernel(
    features: Features, selected: IntArray, weights: FloatArray, scaled: list[Scaled]
) -> SelectedKernel:
    """Make the kernel of selected features with their weights, from their scaled columns."""
    terms = []
    for feature, weight, one in zip(selected.tolist(), weights, scaled, strict=True):
        columns, shares = features.columns_of(feature), one.samples.shares[0]
        labels = tuple(features.source.categories(int(column)) for column in columns)
        kernel = one.kernel.learnt(one.z, shares)
        scale = one.kernel.observed_scale(one.observed)
        samples = _own(one.z) if shares.all() else np.where(shares > 0, one.z, np.nan)
        terms.append(
            KernelTerm(columns, float(weight) * scale, kernel, one.scaling, labels, samples)
        )
    return SelectedKernel(tuple(terms), features.n_samples, features.source.n_features)


def _own(values: FloatArray) -> FloatArray:
    """Return an array that keeps no other values in memory; a copy only if it is needed."""
    base = values.base
    alone = not isinstance(base, np.ndarray) or base.nbytes <= values.nbytes
    return values if alone else values.copy()
