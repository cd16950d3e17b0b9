r"""Exact arithmetic with the Laplace kernel of a column, without its Gram matrix.

In one dimension :math:`K_{ij} = e^{-|z_i - z_j|}` is Markov: for :math:`z_i \le z_k \le z_j`
it is :math:`K_{ik} K_{kj}`. Along the sorted column a product with K is therefore two
recursions, one from each end, and a sum over the entries of a product of two such matrices
splits at any value into a part on either side. Only decays, numbers of at most 1, are ever
multiplied: nothing overflows, however far apart the values are.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["laplace_inner", "laplace_product", "laplace_self_inner"]


def laplace_product(z: FloatArray, rows: FloatArray) -> FloatArray:
    r"""Multiply rows by the Laplace Gram matrix :math:`K_{ij} = e^{-|z_i - z_j|}` of a column.

    Takes O(n log n + r n) time and no more than O(r n) memory.

    Parameters
    ----------
    z : ndarray of shape (n,)
        The column, divided by the width of the kernel; in any order.
    rows : ndarray of shape (r, n)
        The rows.

    Returns
    -------
    ndarray of shape (r, n)
        ``rows @ K``.

    Examples
    --------
    >>> z = np.log([4.0, 1.0, 2.0])
    >>> laplace_product(z, np.eye(3))
    array([[1.  , 0.25, 0.5 ],
           [0.25, 1.  , 0.5 ],
           [0.5 , 0.5 , 1.  ]])
    """
    from hsiclasso.kernels._laplace_loops import multiply_rows

    n = z.size
    order = np.argsort(z)
    position = np.empty(n, dtype=np.uint32)
    position[order] = np.arange(n, dtype=np.uint32)
    # decay[i] leads from value i - 1 to value i; nothing comes in at the ends
    decay = np.zeros(n + 1)
    decay[1:-1] = np.exp(-np.diff(z[order]))
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    out = np.empty_like(rows)
    multiply_rows(order.astype(np.uint32), position, decay, rows, out)
    return out


def laplace_inner(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    r"""Weighted inner product of the Laplace Gram matrices of two columns.

    .. math:: \sum_{i,j} w_i w_j\, e^{-|x_i - x_j|}\, e^{-|y_i - y_j|}

    The samples, sorted by x, are halved again and again. A pair that a split at s parts has
    :math:`e^{-|x_i - x_j|} = e^{-|x_i - s|} e^{-|x_j - s|}`, so that one sweep along the sorted
    y adds up all of those: O(n log n) time and O(n) memory.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        The columns, divided by the widths of their kernels; in any order.
    weights : ndarray of shape (n,)
        The weights :math:`w`.

    Returns
    -------
    float
        The sum over all n x n pairs.

    Examples
    --------
    >>> x, y = np.log([1.0, 2.0]), np.log([4.0, 1.0])
    >>> round(laplace_inner(x, y, np.ones(2)), 12)  # 1 + 1 + 2 * (1/2 * 1/4)
    2.25
    """
    from hsiclasso.kernels._laplace_loops import sum_over_pairs

    order = np.argsort(x)
    x, y, weights = x[order], y[order], weights[order]
    ranks = np.argsort(y)
    pairs = sum_over_pairs(x, y, weights, ranks.astype(np.uint32), y[ranks])
    return float(weights @ weights + 2.0 * pairs)


def laplace_self_inner(z: FloatArray, weights: FloatArray) -> float:
    r"""Weighted inner product of the Laplace Gram matrix of a column with itself.

    ``laplace_inner(z, z, weights)`` by one product: the square of the kernel is the kernel of
    2z. O(n) beyond the sort.

    Parameters
    ----------
    z : ndarray of shape (n,)
        The column, divided by the width of the kernel; in any order.
    weights : ndarray of shape (n,)
        The weights :math:`w`.

    Returns
    -------
    float
        :math:`\sum_{i,j} w_i w_j\, e^{-2|z_i - z_j|}`.

    Examples
    --------
    >>> round(laplace_self_inner(np.log([1.0, 2.0]), np.ones(2)), 12)  # 1 + 1 + 2 * 1/4
    2.5
    """
    return float(laplace_product(2.0 * z, weights[None])[0] @ weights)
