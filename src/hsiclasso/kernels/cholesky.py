r"""Pivoted Cholesky: a low-rank factor F of a Gram matrix K.

The next pivot is the sample with the largest residual, :math:`p = \arg\max_j d_j` with
:math:`d_j = K_{jj} - \sum_k F_{kj}^2`. It adds the row
:math:`F_{r\cdot} = (K_{p\cdot} - \sum_k F_{kp} F_{k\cdot}) / \sqrt{d_p}`. The residual
:math:`K - F^\top F` is positive semi-definite, and therefore its trace bounds its Frobenius norm.
Of K, only the diagonal and the rows of the pivots are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["NotPositiveError", "pivoted_cholesky"]

#: A residual below minus this share of the largest diagonal entry cannot be a rounding error.
_NEGATIVE = 1e-9
#: Number of rows that are allocated at first.
_FIRST_ROWS = 32


class NotPositiveError(ValueError):
    """The matrix is not positive semi-definite."""


def pivoted_cholesky(
    diagonal: FloatArray, row: Callable[[int], FloatArray], allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Factor a positive semi-definite matrix until the rows leave little of its trace out.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
    row : callable
        Returns row p of the matrix, shape (n,).
    allowed : float
        Weighted trace that may be left out.
    weights : ndarray of shape (n,)
        Weights of the samples in that trace.

    Returns
    -------
    rows : ndarray of shape (r, n)
        ``rows.T @ rows`` is the matrix without its residual.
    left_out : float
        Weighted trace of the residual.

    Examples
    --------
    >>> gram = np.outer([1.0, 2.0, 2.0], [1.0, 2.0, 2.0])
    >>> pivoted_cholesky(np.diag(gram), lambda p: gram[p], 1e-6, np.ones(3))[0]
    array([[1., 2., 2.]])
    """
    n = diagonal.size
    residual = diagonal.astype(np.float64)
    lowest = -_NEGATIVE * float(residual.max(initial=0.0))
    rows, rank = np.empty((min(n, _FIRST_ROWS), n)), 0
    while True:
        if residual.min() < lowest:
            raise NotPositiveError
        np.maximum(residual, 0.0, out=residual)
        left_out = float(weights @ residual)
        if left_out <= allowed or rank == n:
            return rows[:rank], left_out
        if rank == len(rows):
            rows = np.concatenate([rows, np.empty((min(n - rank, rank), n))])
        pivot = int(np.argmax(residual))
        if residual[pivot] <= 0.0:
            return rows[:rank], left_out
        new = rows[rank]
        np.subtract(row(pivot), rows[:rank, pivot] @ rows[:rank], out=new)
        new /= np.sqrt(residual[pivot])
        residual -= new * new
        residual[pivot] = 0.0
        rank += 1
