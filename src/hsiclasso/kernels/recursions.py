r"""Exact products with the Gram matrix of a Laplace kernel, without storing the matrix.

In one dimension :math:`K_{ij} = e^{-|z_i - z_j|}` is Markov: if :math:`z_i \le z_k \le z_j`, then
:math:`K_{ij} = K_{ik} K_{kj}`. A product with K is therefore two recursions along the sorted
column, one from each end. For the same reason, the inner product of two such matrices can be split
at any value into a part on each side. Every factor is a decay of at most 1. Therefore nothing
overflows, however far apart the values are.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["laplace_energies", "laplace_inner", "laplace_product", "laplace_self_inner"]


def laplace_product(z: FloatArray, rows: FloatArray) -> FloatArray:
    r"""Multiply rows by the Laplace Gram matrix :math:`K_{ij} = e^{-|z_i - z_j|}` of a column.

    Takes O(n log n + r n) time and O(r n) memory.

    Parameters
    ----------
    z : ndarray of shape (n,)
        The column divided by the width of the kernel, in any order.
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
    # decay[i] leads from sorted value i - 1 to sorted value i; it is 0 at both ends
    decay = np.zeros(n + 1)
    decay[1:-1] = np.exp(-np.diff(z[order]))
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    out = np.empty_like(rows)
    multiply_rows(order.astype(np.uint32), position, decay, rows, out)
    return out


def laplace_energies(z: FloatArray, root: FloatArray, rows: FloatArray) -> FloatArray:
    r"""Return :math:`f^\top W^{1/2} K W^{1/2} f` for each row f of (r, n).

    Takes O(n log n + r n) time. `root` (n,) is the diagonal of :math:`W^{1/2}`. Rows that are
    stored sample by sample are not copied.

    Examples
    --------
    >>> z = np.log([4.0, 1.0, 2.0])
    >>> laplace_energies(z, np.ones(3), np.array([[1.0, 2.0, 0.0]]))  # 1 + 4 + 2 * (2 * 1/4)
    array([6.])
    """
    from hsiclasso.kernels._laplace_loops import sum_energies

    out = np.zeros(len(rows))
    sum_energies(z, np.argsort(z), root, np.ascontiguousarray(rows.T), out)
    return out


def laplace_inner(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    r"""Return the weighted inner product of the Laplace Gram matrices of two columns.

    .. math:: \sum_{i,j} w_i w_j\, e^{-|x_i - x_j|}\, e^{-|y_i - y_j|}

    The samples are sorted by x and halved recursively. If a split at s separates samples i and j,
    then :math:`e^{-|x_i - x_j|} = e^{-|x_i - s|} e^{-|x_j - s|}`. One sweep along the sorted y
    therefore adds up all pairs that the split separates. This takes O(n log n) time and O(n)
    memory.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        The columns divided by the widths of their kernels, in any order.
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
    r"""Return the weighted inner product of the Laplace Gram matrix of a column with itself.

    It equals ``laplace_inner(z, z, weights)`` but takes one product, because the square of the
    kernel of z is the kernel of 2z. After sorting, this takes O(n) time.

    Parameters
    ----------
    z : ndarray of shape (n,)
        The column divided by the width of the kernel, in any order.
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
