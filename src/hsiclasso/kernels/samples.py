r"""Functions on the samples: how they are weighted, and what is removed from them.

With weights :math:`w`, a function :math:`f` is represented by the vector :math:`\sqrt{w_i} f_i`.
Inner products are then weighted sums, and a whole-number weight has the same effect as repeating
the sample. Centring removes the constant function, and the functions of the covariates are
removed too:

.. math:: A = P\, W^{1/2} K W^{1/2} P, \qquad P = I - Q^\top Q

where the orthonormal rows of Q span :math:`\sqrt w` and :math:`\sqrt w` times the functions of
the covariates. Without weights and covariates, P is the centring matrix of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hsiclasso._types import BoolArray, FloatArray

__all__ = ["NEGLIGIBLE", "Samples"]

#: A covariate depends linearly on the others if its independent part is below this share.
_DEPENDENT = 1e-8
#: A covariate is constant if its deviation is below this share of its largest value.
_CONSTANT = 1e-12
#: A matrix is zero after removal if its trace is below this share of the trace before: the rest
#: is rounding error.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Samples:
    """Weights of the samples, and the functions removed from every feature and target."""

    #: Number of samples.
    n: int
    #: Weights >= 0, shape (n,); None means that all weights are 1.
    weights: FloatArray | None = None
    #: Functions to remove in addition to the constant, not yet weighted, shape (c, n).
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
        """Sum of the weights; without weights, the number of samples."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @cached_property
    def removed(self) -> FloatArray:
        """Orthonormal rows Q (q, n) that span the removed functions; the constant comes first."""
        constant: FloatArray = (self.root / np.sqrt(self.total))[None]
        if self.covariates is None or not len(self.covariates):
            return constant
        sizes = np.abs(self.covariates).max(axis=1, initial=0.0)
        rows = self.covariates - np.average(self.covariates, axis=1, weights=self.weights)[:, None]
        rows = rows * self.root
        rows -= (rows @ constant.T) @ constant  # the mean that rounding errors left
        norms = np.linalg.norm(rows, axis=1)
        varies = norms > _CONSTANT * sizes * np.sqrt(self.total)
        if not varies.any():
            return constant
        rows = rows[varies] / norms[varies, None]
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        return np.concatenate([constant, basis[sizes > _DEPENDENT * sizes[0]]])

    def only(self, seen: BoolArray) -> Samples:
        """Give weight 0 to all samples that are not `seen`, such as those with a missing value."""
        weights = np.ones(self.n) if self.weights is None else self.weights
        return Samples(self.n, np.where(seen, weights, 0.0), self.covariates)

    def project(self, rows: FloatArray) -> FloatArray:
        """Weight functions (..., n) and project them with P, in place."""
        if self.weights is not None:
            rows *= self.root
        return self.remove(rows)

    def remove(self, rows: FloatArray) -> FloatArray:
        """Project rows (..., n) that are already weighted with P, in place."""
        if self.plain:
            rows -= rows.mean(axis=-1, keepdims=True)
        else:
            rows -= (rows @ self.removed.T) @ self.removed
        return rows
