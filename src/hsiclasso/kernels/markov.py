r"""The matrix of a feature with a Laplace kernel, which has no factor of low rank.

.. math:: A = c\,P B P = c\,(B - Q^\top Z - Z^\top Q), \qquad B = W^{1/2} K W^{1/2}, \quad
          Z = Q B - \tfrac12 (Q B Q^\top) Q

with the removed rows Q of `hsiclasso.kernels.samples`. Products with B are recursions along
the sorted column, and so are inner products of two such matrices: all of it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.kernels.recursions import laplace_inner, laplace_product, laplace_self_inner
from hsiclasso.kernels.samples import Samples

__all__ = ["LaplaceMatrix", "laplace_matrix"]

#: Share of the squared norm that is rounding, where covariates explain all of a feature.
_NOTHING = 1e-13


@dataclass(frozen=True)
class LaplaceMatrix:
    """The matrix of a feature, known by its products.

    Attributes
    ----------
    z : ndarray of shape (n,)
        The column in units of its kernel width; anything finite where it is missing.
    root : ndarray of shape (n,)
        Square roots of the samples' weights, 0 where the column is missing.
    removed : ndarray of shape (q, n)
        Orthonormal rows Q that are removed, 0 where the column is missing.
    scale : float
        The factor c.
    observed : float
        Share of the total weight on samples where the feature is not missing.
    error : float
        Always 0: products are exact. A `Factor` has a bound here.
    """

    z: FloatArray
    root: FloatArray
    removed: FloatArray
    scale: float = 1.0
    observed: float = 1.0
    error: float = 0.0

    @cached_property
    def _image(self) -> FloatArray:
        return self._times_b(self.removed)

    @cached_property
    def _correction(self) -> FloatArray:
        inner = self._image @ self.removed.T
        return np.asarray(self._image - 0.5 * inner @ self.removed)

    @cached_property
    def norm(self) -> float:
        """Frobenius norm of the matrix."""
        inner = self._image @ self.removed.T
        whole = laplace_self_inner(self.z, np.square(self.root))
        left = whole - 2 * np.sum(np.square(self._image)) + np.sum(np.square(inner))
        return self.scale * float(np.sqrt(left)) if left > _NOTHING * whole else 0.0

    @property
    def nbytes(self) -> int:
        """Memory it takes, with what it remembers."""
        return 8 * self.z.size * (2 + 3 * len(self.removed))

    def scaled(self, scale: float) -> Self:
        """Return a multiple of the matrix."""
        return replace(self, scale=self.scale * scale)

    def normalised(self) -> Self:
        """Return the matrix divided by its Frobenius norm."""
        return self.scaled(1 / (self.norm or 1.0))

    def product(self, rows: FloatArray) -> FloatArray:
        """Multiply rows (r, n) by the matrix."""
        less = (rows @ self.removed.T) @ self._correction + (
            rows @ self._correction.T
        ) @ self.removed
        return np.asarray(self.scale * (self._times_b(rows) - less))

    def energies(self, rows: FloatArray) -> FloatArray:
        """Return ``f' A f`` for each row f of (r, n)."""
        inside = rows - (rows @ self.removed.T) @ self.removed
        return np.asarray(self.scale * np.einsum("ri,ri->r", inside, self._times_b(inside)))

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' A f`` over rows f of shape (r, n)."""
        return float(self.energies(rows).sum())

    def inner(self, other: LaplaceMatrix) -> float:
        """Inner product with another such matrix."""
        q, z, p, y = self.removed, self._correction, other.removed, other._correction
        whole = laplace_inner(self.z, other.z, self.root * other.root)
        mixed = np.sum(z * other._times_b(q)) + np.sum(y * self._times_b(p))
        both = np.sum((q @ p.T) * (z @ y.T)) + np.sum((q @ y.T) * (z @ p.T))
        return self.scale * other.scale * float(whole - 2 * mixed + 2 * both)

    def _times_b(self, rows: FloatArray) -> FloatArray:
        return np.asarray(laplace_product(self.z, rows * self.root) * self.root)


def laplace_matrix(z: FloatArray, samples: Samples, observed: float = 1.0) -> LaplaceMatrix:
    """Make the matrix of a column (n,) that varies, scaled to its kernel width.

    Samples on which it is missing have no weight; `observed` is the share of the others.
    """
    return LaplaceMatrix(z, samples.root, samples.removed, observed=observed)
