"""Linear algebra on the active set: a Cholesky factor to which features are added and removed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dtpsv
from scipy.linalg.lapack import dpptrs

from hsiclasso._types import FloatArray, IntArray

__all__ = ["ActiveCholesky"]

#: A column is dependent if its part orthogonal to the active ones is relatively smaller than this.
_DEPENDENT = 1e-12
#: Most steps of refinement; each gains as many digits as the conditioning allows.
_REFINEMENTS = 2
#: No second correction is needed after one that is relatively smaller than this.
_SMALL = 1e-9


class ActiveCholesky:
    """Cholesky factor of G on an ordered active set.

    The rows of the lower factor are stored one after the other, without the zeros: a new feature
    adds a row at the end, and LAPACK solves with the stored rows, without a copy.

    Solutions are refined with residuals in extended precision. They are accurate for this G even if
    features are almost dependent, so that errors do not add up along the path.
    """

    def __init__(self) -> None:
        self._factor = np.zeros(136)
        self._gram = np.zeros((16, 16), dtype=np.longdouble)
        self.size = 0

    def append(self, column: FloatArray, diagonal: float) -> bool:
        """Add a feature, given its G against the active ones and itself.

        Returns False, and changes nothing, if its matrix depends linearly on theirs.
        """
        m = self.size
        row = dtpsv(m, self._factor, column, lower=0, trans=1) if m else column
        rest = diagonal - float(row @ row)
        if rest <= _DEPENDENT * diagonal:
            return False
        if m == len(self._gram):
            self._gram = np.pad(self._gram, (0, m))
            self._factor = np.pad(self._factor, (0, _packed_size(2 * m) - _packed_size(m)))
        start = _packed_size(m)
        self._factor[start : start + m] = row
        self._factor[start + m] = np.sqrt(rest)
        self._gram[m, :m] = self._gram[:m, m] = column
        self._gram[m, m] = diagonal
        self.size = m + 1
        return True

    def remove(self, positions: IntArray) -> None:
        """Take features away, given their places in the order."""
        kept = np.delete(np.arange(self.size), positions)
        first = int(positions.min())
        lower = np.zeros((self.size, self.size))
        lower[np.tril_indices(self.size)] = self._factor[: _packed_size(self.size)]
        gram = self._gram[np.ix_(kept, kept)]
        # Rows and columns before the first removed feature stay as they are. The rest is factored
        # from G again, so that errors of earlier factors do not add up. It cannot fail: a feature
        # that was independent of more features is independent of fewer.
        lower = lower[np.ix_(kept, kept)]
        beside = lower[first:, :first]
        rest = gram[first:, first:] - beside @ beside.T
        lower[first:, first:] = np.linalg.cholesky(np.asarray(rest, dtype=np.float64))
        self.size = kept.size
        self._factor[: _packed_size(self.size)] = lower[np.tril_indices(self.size)]
        self._gram[: self.size, : self.size] = gram

    def solve(self, right: Any) -> FloatArray:
        """Solve G x = right on the active set, for each row of `right`, of extended precision."""
        if not self.size:
            return np.zeros(right.shape)
        gram = self._gram[: self.size, : self.size]
        solution = self._solve(right)
        for _ in range(_REFINEMENTS):
            correction = self._solve(right - solution @ gram)
            solution = solution + correction
            off = np.abs(correction).max(axis=1) > _SMALL * np.abs(solution).max(axis=1)
            if not off.any():
                break
        return solution

    def _solve(self, right: Any) -> FloatArray:
        rounded = right.astype(np.float64)
        # LAPACK has right-hand sides in columns
        return np.asarray(dpptrs(self.size, self._factor, rounded.T, lower=0)[0].T)


def _packed_size(size: int) -> int:
    """Number of entries of a triangle of `size` rows."""
    return size * (size + 1) // 2
