r"""The coordinates in which a kernel model is a linear one, shared by all penalties.

With :math:`K = U S U'`, the rows of :math:`S^{1/2} U'` are features of the samples, of which a
linear function :math:`w' S^{1/2} U'` has the squared norm :math:`\|w\|^2` of the kernel's space.
The matrix does not depend on the penalty, and is decomposed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Path", "Spectrum", "decompose"]

#: Negative eigenvalues up to this share of the largest are taken for rounding.
_NEGATIVE = 1e-6


@dataclass(frozen=True)
class Path:
    """Functions of the samples, for each penalty.

    Attributes
    ----------
    weights : ndarray of shape (n_alphas, q, r)
        Coefficients of the q outputs in the features of a `Spectrum`.
    offsets : ndarray of shape (n_alphas, q)
        What is added.
    """

    weights: FloatArray
    offsets: FloatArray

    @property
    def n_unsolved(self) -> int:
        """Number of penalties for which the tolerance was not reached."""
        return 0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a kernel matrix above rounding, with their vectors.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues > 0.
    vectors : ndarray of shape (r, n)
        Eigenvectors, in rows.
    centre : ndarray of shape (n,) or None
        Mean of the kernel over the samples of the fit, if functions have an intercept.
    """

    values: FloatArray
    vectors: FloatArray
    centre: FloatArray | None

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

        A function is the sum of the kernels of the samples, as it is given and not centred, times
        their coefficients, and the intercept.
        """
        dual = (path.weights / np.sqrt(self.values)) @ self.vectors
        return dual, path.offsets if self.centre is None else path.offsets - dual @ self.centre


def decompose(gram: FloatArray, fit_intercept: bool) -> Spectrum:
    """Decompose a kernel matrix (n, n), centred if there is an intercept.

    The intercept is free of penalty. Then the features may be shifted by their means: the
    functions and their norms stay as they are, but the intercept is orthogonal to the features.
    """
    n, height = len(gram), float(np.abs(gram).max())
    centre = gram.mean(axis=0) if fit_intercept else None
    if centre is not None:
        gram = gram - centre - centre[:, None] + centre.mean()
    values, vectors = np.linalg.eigh(gram)
    size = max(height, float(values[-1]))  # rounding comes from both
    if values[0] < -_NEGATIVE * size:
        raise InvalidInputError(
            f"The kernel matrix has the eigenvalue {values[0]:.3g}, and the largest is "
            f"{values[-1]:.3g}: it must be positive semi-definite, as that of any kernel is."
        )
    kept = values > n * np.finfo(np.float64).eps * size
    rows = np.ascontiguousarray(vectors[:, kept].T)
    if centre is not None:
        # those of small eigenvalues are mixed by rounding with the constant, of eigenvalue 0
        rows -= rows.mean(axis=1, keepdims=True)
    return Spectrum(values[kept], rows, centre)
