r"""The space of functions on the samples: how they are weighed, and what is removed from them.

With weights :math:`w` a function :math:`f` stands for the vector :math:`\sqrt{w_i} f_i`, so that
inner products are weighted sums and a whole-number weight is as good as repeating the sample.
Centring removes the constant function; covariates have their functions removed too:

.. math:: A = P\, W^{1/2} K W^{1/2} P, \qquad P = I - Q^\top Q

with the orthonormal rows of Q spanning :math:`\sqrt w` and :math:`\sqrt w` times the functions
of the covariates. Without weights and covariates, P is the centring matrix of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hsiclasso._types import BoolArray, FloatArray

__all__ = ["NOTHING", "Samples"]

#: Functions whose independent part is this small are taken to depend on the others.
_DEPENDENT = 1e-8
#: Functions that vary by this little, beside their size, are constant.
_CONSTANT = 1e-12
#: Share of a feature's trace that is rounding, where all of it is removed.
NOTHING = 1e-12


@dataclass(frozen=True)
class Samples:
    """Weights of samples, and the functions removed from every feature and target.

    Attributes
    ----------
    n : int
        Number of samples.
    weights : ndarray of shape (n,) or None
        Weights >= 0; None stands for ones.
    covariates : ndarray of shape (c, n) or None
        Functions, unweighted, that are removed in addition to the constant.
    """

    n: int
    weights: FloatArray | None = None
    covariates: FloatArray | None = None

    @property
    def plain(self) -> bool:
        """Whether there are neither weights nor covariates."""
        return self.weights is None and self.covariates is None

    @cached_property
    def root(self) -> FloatArray:
        """Square roots of the weights."""
        return np.ones(self.n) if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def shares(self) -> FloatArray:
        """Weights of the samples as one row, shape (1, n)."""
        return np.ones((1, self.n)) if self.weights is None else self.weights[None]

    @cached_property
    def total(self) -> float:
        """Sum of the weights: the number of samples, if they were repeated."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @cached_property
    def removed(self) -> FloatArray:
        """Orthonormal rows Q of shape (q, n) that span what is removed; the constant first."""
        constant: FloatArray = (self.root / np.sqrt(self.total))[None]
        if self.covariates is None or not len(self.covariates):
            return constant
        sizes = np.abs(self.covariates).max(axis=1, initial=0.0)
        rows = self.covariates - np.average(self.covariates, axis=1, weights=self.weights)[:, None]
        rows = rows * self.root
        rows -= (rows @ constant.T) @ constant  # what rounding left
        norms = np.linalg.norm(rows, axis=1)
        varies = norms > _CONSTANT * sizes * np.sqrt(self.total)
        if not varies.any():
            return constant
        rows = rows[varies] / norms[varies, None]
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        return np.concatenate([constant, basis[sizes > _DEPENDENT * sizes[0]]])

    def only(self, seen: BoolArray) -> Samples:
        """Return the space of functions that vanish outside some of the samples.

        These functions are those of the samples that are seen: a missing value is one without
        weight.
        """
        weights = np.ones(self.n) if self.weights is None else self.weights
        return Samples(self.n, np.where(seen, weights, 0.0), self.covariates)

    def project(self, rows: FloatArray) -> FloatArray:
        """Weigh functions (..., n) and remove what is to be removed, in place."""
        if self.weights is not None:
            rows *= self.root
        return self.remove(rows)

    def remove(self, rows: FloatArray) -> FloatArray:
        """Remove from rows (..., n) that are weighed already what is to be removed, in place."""
        if self.plain:
            rows -= rows.mean(axis=-1, keepdims=True)
        else:
            rows -= (rows @ self.removed.T) @ self.removed
        return rows
