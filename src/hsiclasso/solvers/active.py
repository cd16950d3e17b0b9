"""Linear algebra on the active set: a Cholesky factor that grows and is rebuilt on a drop."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from hsiclasso._types import FloatArray

__all__ = ["ActiveCholesky"]

#: A column whose part orthogonal to the active ones is smaller, relatively, is dependent.
_DEPENDENT = 1e-12
#: Steps of refinement; each gains the digits that the conditioning leaves.
_REFINEMENTS = 2


class ActiveCholesky:
    """Cholesky factor of G on an ordered active set.

    Solutions are refined with residuals in extended precision: they are then accurate for this
    G, however nearly dependent the features are, and the path does not stray.
    """

    def __init__(self) -> None:
        self._factor = np.zeros((16, 16))
        self._gram = np.zeros((16, 16), dtype=np.longdouble)
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
            self._gram = np.pad(self._gram, (0, m))
        self._factor[m, :m] = row
        self._factor[m, m] = np.sqrt(rest)
        self._gram[m, :m] = self._gram[:m, m] = column
        self._gram[m, m] = diagonal
        self.size = m + 1
        return True

    def rebuild(self, gram: FloatArray) -> None:
        """Start again from the G of a subset of the active set."""
        # A feature that was independent of more features is so of fewer.
        self._factor[: len(gram), : len(gram)] = np.linalg.cholesky(gram)
        self._gram[: len(gram), : len(gram)] = gram
        self.size = len(gram)

    def solve(self, right: Any) -> FloatArray:
        """Solve G x = right on the active set; `right` may have extended precision."""
        solution = self._solve(np.asarray(right, dtype=np.float64))
        gram = self._gram[: self.size, : self.size]
        for _ in range(_REFINEMENTS):
            residual = np.asarray(right - gram @ solution, dtype=np.float64)
            solution = solution + self._solve(residual)
        return solution

    def _solve(self, right: FloatArray) -> FloatArray:
        lower = self._factor[: self.size, : self.size]
        half = solve_triangular(lower, right, lower=True, check_finite=False)
        return np.asarray(solve_triangular(lower, half, lower=True, trans="T", check_finite=False))
