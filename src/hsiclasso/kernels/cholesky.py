r"""Pivoted Cholesky: a Gram matrix, known by its diagonal and its rows, as rows of low rank.

The next pivot is the sample that the rows so far describe worst, :math:`p = \arg\max_j d_j` with
:math:`d_j = K_{jj} - \sum_k F_{kj}^2`, and adds the row
:math:`F_{r\cdot} = (K_{p\cdot} - \sum_k F_{kp} F_{k\cdot}) / \sqrt{d_p}`. What r rows leave out is
positive semi-definite, so that its trace bounds its Frobenius norm. Only the rows of pivots are
ever evaluated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["NotPositiveError", "pivoted_cholesky"]

#: A residual diagonal below minus this share of the largest entry is no rounding.
_NEGATIVE = 1e-9
#: Rows that there is room for at first.
_ROOM = 32


class NotPositiveError(ValueError):
    """A value was seen that no positive semi-definite matrix has."""


def pivoted_cholesky(
    diagonal: FloatArray, row: Callable[[int], FloatArray], allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Factor a positive semi-definite matrix until little of its trace is left.

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
        ``rows.T @ rows`` is the matrix, up to what is left out.
    left : float
        Weighted trace that is left out.

    Examples
    --------
    >>> gram = np.outer([1.0, 2.0, 2.0], [1.0, 2.0, 2.0])
    >>> pivoted_cholesky(np.diag(gram), lambda p: gram[p], 1e-6, np.ones(3))[0]
    array([[1., 2., 2.]])
    """
    n = diagonal.size
    residual = diagonal.astype(np.float64)
    lowest = -_NEGATIVE * float(residual.max(initial=0.0))
    rows, rank = np.empty((min(n, _ROOM), n)), 0
    while True:
        if residual.min() < lowest:
            raise NotPositiveError
        np.maximum(residual, 0.0, out=residual)
        left = float(weights @ residual)
        if left <= allowed or rank == n:
            return rows[:rank], left
        if rank == len(rows):
            rows = np.concatenate([rows, np.empty((min(n - rank, rank), n))])
        pivot = int(np.argmax(residual))
        if residual[pivot] <= 0.0:
            return rows[:rank], left
        new = rows[rank]
        np.subtract(row(pivot), rows[:rank, pivot] @ rows[:rank], out=new)
        new /= np.sqrt(residual[pivot])
        residual -= new * new
        residual[pivot] = 0.0
        rank += 1
