"""Linear algebra on the active set: a Cholesky factor that grows and is rebuilt on a drop."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from hsiclasso._types import FloatArray

__all__ = ["ActiveCholesky"]

#: A column whose part orthogonal to the active ones is smaller, relatively, is dependent.
_DEPENDENT = 1e-12


class ActiveCholesky:
    """Cholesky factor of G on an ordered active set."""

    def __init__(self) -> None:
        self._factor = np.zeros((16, 16))
        self.size = 0

    def append(self, column: FloatArray, diagonal: float) -> bool:
        """Add a feature, given its G against the active ones and itself.

        Returns False, and changes nothing, if its matrix depends linearly on theirs.
        """
        m = self.size
        lower = self._factor[:m, :m]
        row = solve_triangular(lower, column, lower=True, check_finite=False) if m else column
        rest = diagonal - row @ row
        if rest <= _DEPENDENT * diagonal:
            return False
        if m == len(self._factor):
            self._factor = np.pad(self._factor, (0, m))
        self._factor[m, :m] = row
        self._factor[m, m] = np.sqrt(rest)
        self.size = m + 1
        return True

    def rebuild(self, gram: FloatArray) -> None:
        """Start again from the G of a subset of the active set."""
        # A feature that was independent of more features is so of fewer.
        self._factor[: len(gram), : len(gram)] = np.linalg.cholesky(gram)
        self.size = len(gram)

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve G x = right on the active set; `right` may have several columns."""
        lower = self._factor[: self.size, : self.size]
        half = solve_triangular(lower, right, lower=True, check_finite=False)
        return np.asarray(solve_triangular(lower, half, lower=True, trans="T", check_finite=False))
