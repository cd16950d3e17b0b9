r"""The matrix A of a feature with a Laplace kernel, which has no factor of low rank.

.. math:: A = c\,P B P = c\,(B - Q^\top Z - Z^\top Q), \qquad B = W^{1/2} K W^{1/2}, \quad
          Z = Q B - \tfrac12 (Q B Q^\top) Q

with the removed rows Q of `hsiclasso.kernels.samples`. Recursions along the sorted column compute
products with B, and inner products of two such matrices. All results are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.kernels.recursions import (
    laplace_energies,
    laplace_inner,
    laplace_product,
    laplace_self_inner,
)
from hsiclasso.kernels.samples import Samples

__all__ = ["LaplaceMatrix", "laplace_matrix"]

#: A squared norm below this share of the squared norm of B is rounding error: the covariates
#: explain the feature completely.
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class LaplaceMatrix:
    """The matrix of a feature, which is never stored: only products with it are computed."""

    #: The column in units of its kernel width, shape (n,); any finite number where it is missing.
    z: FloatArray
    #: Square roots of the samples' weights, 0 where the column is missing, shape (n,).
    root: FloatArray
    #: Orthonormal rows Q that are removed, 0 where the column is missing, shape (q, n).
    removed: FloatArray
    #: The factor c.
    scale: float = 1.0
    #: Share of the total weight on samples where the feature is not missing.
    observed: float = 1.0
    #: Always 0, because products are exact. A `Factor` has an error bound here.
    error: float = 0.0

    @cached_property
    def _image(self) -> FloatArray:
        """The rows Q B."""
        return self._times_b(self.removed)

    @cached_property
    def _correction(self) -> FloatArray:
        """The rows Z."""
        inner = self._image @ self.removed.T
        return np.asarray(self._image - 0.5 * inner @ self.removed)

    @cached_property
    def norm(self) -> float:
        """Frobenius norm of the matrix."""
        inner = self._image @ self.removed.T
        before = laplace_self_inner(self.z, np.square(self.root))  # |B|^2
        norm2 = before - 2 * np.sum(np.square(self._image)) + np.sum(np.square(inner))
        return self.scale * float(np.sqrt(norm2)) if norm2 > _NEGLIGIBLE * before else 0.0

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, with the cached ones."""
        return 8 * self.z.size * (2 + 3 * len(self.removed))

    def scaled(self, scale: float) -> Self:
        """Return a multiple of the matrix."""
        return replace(self, scale=self.scale * scale)

    def normalised(self) -> Self:
        """Return the matrix divided by its Frobenius norm."""
        return self.scaled(1 / (self.norm or 1.0))

    def product(self, rows: FloatArray) -> FloatArray:
        """Multiply rows (r, n) by the matrix."""
        q, z = self.removed, self._correction
        correction = (rows @ q.T) @ z + (rows @ z.T) @ q
        return np.asarray(self.scale * (self._times_b(rows) - correction))

    def energies(self, rows: FloatArray) -> FloatArray:
        """Return ``f' A f`` for each projected row f of (r, n)."""
        if self.observed < 1:  # the rows were projected on all samples
            rows = rows - (rows @ self.removed.T) @ self.removed
        return self.scale * laplace_energies(self.z, self.root, rows)

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' A f`` over rows f of shape (r, n)."""
        return float(self.energies(rows).sum())

    def inner(self, other: LaplaceMatrix) -> float:
        """Return the inner product with another such matrix."""
        q, z, p, y = self.removed, self._correction, other.removed, other._correction
        before = laplace_inner(self.z, other.z, self.root * other.root)  # <B, B'>
        mixed = np.sum(z * other._times_b(q)) + np.sum(y * self._times_b(p))
        both = np.sum((q @ p.T) * (z @ y.T)) + np.sum((q @ y.T) * (z @ p.T))
        return self.scale * other.scale * float(before - 2 * mixed + 2 * both)

    def _times_b(self, rows: FloatArray) -> FloatArray:
        return np.asarray(laplace_product(self.z, rows * self.root) * self.root)


def laplace_matrix(z: FloatArray, samples: Samples, observed: float = 1.0) -> LaplaceMatrix:
    """Make the matrix of a scaled column (n,) that varies.

    Samples on which the column is missing have weight 0; `observed` is the share of the others.
    """
    return LaplaceMatrix(z, samples.root, samples.removed, observed=observed)
