r"""The coordinates in which a kernel model is a linear one, shared by all penalties.

With :math:`K = U S U'`, the rows of :math:`S^{1/2} U'` are features of the samples. A linear
function :math:`w' S^{1/2} U'` of them has the squared norm :math:`\|w\|^2` in the kernel's space.
The matrix does not depend on the penalty, and is decomposed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Path", "Spectrum", "decompose"]

#: Negative eigenvalues up to this share of the largest count as rounding errors.
_NEGATIVE = 1e-6


@dataclass(frozen=True)
class Path:
    """Functions of the samples, for each penalty."""

    weights: FloatArray  # (n_alphas, q, r), coefficients of q outputs in features of a `Spectrum`
    offsets: FloatArray  # (n_alphas, q), added to the functions

    @property
    def n_unsolved(self) -> int:
        """Number of penalties for which the tolerance was not reached."""
        return 0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a kernel matrix that exceed rounding errors, with their vectors."""

    values: FloatArray  # (r,), positive
    vectors: FloatArray  # (r, n), eigenvectors in rows
    centre: FloatArray | None  # (n,), mean of the kernel over the samples if there is an intercept

    @property
    def has_intercept(self) -> bool:
        """Whether functions have an intercept, to which the features are orthogonal."""
        return self.centre is not None

    @property
    def features(self) -> FloatArray:
        """Features (r, n) of the samples, orthogonal, with the eigenvalues as squared norms."""
        return np.asarray(np.sqrt(self.values)[:, None] * self.vectors)

    def expand(self, path: Path) -> tuple[FloatArray, FloatArray]:
        """Return coefficients (n_alphas, q, n) of the samples, and intercepts (n_alphas, q).

        A function is the intercept plus the kernels of the samples, not centred, times their
        coefficients.
        """
        dual = (path.weights / np.sqrt(self.values)) @ self.vectors
        return dual, path.offsets if self.centre is None else path.offsets - dual @ self.centre


def decompose(gram: FloatArray, fit_intercept: bool) -> Spectrum:
    """Decompose a kernel matrix (n, n), centred if there is an intercept.

    The intercept has no penalty. Therefore the features may be shifted by their means: the
    functions and their norms do not change, and the intercept is orthogonal to the features.
    """
    n, height = len(gram), float(np.abs(gram).max())
    centre = gram.mean(axis=0) if fit_intercept else None
    if centre is not None:
        gram = gram - centre - centre[:, None] + centre.mean()
    values, vectors = np.linalg.eigh(gram)
    size = max(height, float(values[-1]))  # rounding errors come from both
    if values[0] < -_NEGATIVE * size:
        raise InvalidInputError(
            f"The kernel matrix has the eigenvalue {values[0]:.3g}, and the largest is "
            f"{values[-1]:.3g}: it must be positive semi-definite, like the matrix of any kernel."
        )
    kept = values > n * np.finfo(np.float64).eps * size
    rows = np.ascontiguousarray(vectors[:, kept].T)
    if centre is not None:
        # rounding mixes vectors of small eigenvalues with the constant, whose eigenvalue is 0
        rows -= rows.mean(axis=1, keepdims=True)
    return Spectrum(values[kept], rows, centre)
