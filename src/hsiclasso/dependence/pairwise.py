r"""Similarities of pairs of samples -> rows of a target.

A target may be given as a function of two objects (strings, trees, graphs) or as the matrix of
its values. A positive semi-definite one is factored from few of its values, any other symmetric
one by its eigenvalues: :math:`T = \sum_k s_k f_k f_k^\top` with signs :math:`s_k = \pm 1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = [
    "check_affinity",
    "check_symmetric",
    "eigen_rows",
    "pair_value",
    "pairwise_gram",
    "pairwise_rows",
]

#: Share of the trace below which a residual is rounding.
_ROUNDING = 1e-14
#: A residual diagonal below minus this share of the largest value is no rounding.
_NEGATIVE = 1e-9
#: Largest difference between a matrix and its transpose, as a share of the largest entry.
_ASYMMETRY = 1e-8
#: Values of a matrix that differ by less than this share of the largest do not vary.
_CONSTANT = 1e-12


def pairwise_rows(
    items: Iterable[Any], function: Callable[[Any, Any], float], tol: float
) -> tuple[FloatArray, float] | None:
    r"""Factor a kernel on arbitrary objects by pivoted Cholesky, from few of its values.

    The next pivot is the item that the rows so far describe worst,
    :math:`p = \arg\max_j d_j` with :math:`d_j = K_{jj} - \sum_k F_{kj}^2`, and adds the row
    :math:`F_{r\cdot} = (K_{p\cdot} - \sum_k F_{kp} F_{k\cdot}) / \sqrt{d_p}`. What r rows leave
    out is positive semi-definite, so that its trace bounds its Frobenius norm.

    The function is called for the diagonal and for the pivots with the items that were not
    pivots before: fewer than (r + 1) n calls, and never more than n (n + 1) / 2. It must be
    symmetric: only one order of a pair is evaluated.

    Parameters
    ----------
    items : iterable of n objects
        The samples.
    function : callable
        ``function(a, b)`` is the kernel of two items, a finite number.
    tol : float
        Trace that may be left out, as a share of the whole.

    Returns
    -------
    rows : ndarray of shape (r, n)
        Rows F with ``F.T @ F`` equal to K up to the tolerance.
    left : float
        Trace that the rows leave out.

    None is returned instead if a value that was seen cannot be one of a positive semi-definite
    function, or if the diagonal is 0, as that of a distance: use `pairwise_gram`. Pairs that
    are never evaluated may of course hide that a function is indefinite.

    Examples
    --------
    >>> rows, left = pairwise_rows(["a", "bb", "cc"], lambda a, b: len(a) * len(b), 1e-6)
    >>> rows
    array([[1., 2., 2.]])
    """
    items = list(items)
    n = len(items)
    residual = np.array([pair_value(items, function, i, i) for i in range(n)])
    largest = residual.max(initial=0.0)
    allowed = max(tol, _ROUNDING) * residual.sum()
    lowest = -_NEGATIVE * largest
    if largest <= 0 or residual.min() < lowest:
        return None
    rows, rank = np.empty((min(n, 32), n)), 0
    open_ = np.ones(n, dtype=np.bool_)
    while (left := float(np.maximum(residual, 0.0).sum())) > allowed:
        if rank == len(rows):
            rows = np.concatenate([rows, np.empty((min(n - rank, rank), n))])
        pivot = int(np.argmax(residual))
        open_[pivot] = False
        row = _next_row(items, function, rows[:rank], pivot, open_)
        root = np.sqrt(residual[pivot])
        rows[rank] = row / root
        rows[rank, pivot] = root
        residual -= np.square(rows[rank])
        residual[pivot] = 0.0
        rank += 1
        if residual.min() < lowest:
            return None
    return rows[:rank].copy(), left


def _next_row(
    items: list[Any],
    function: Callable[[Any, Any], float],
    rows: FloatArray,
    pivot: int,
    open_: BoolArray,
) -> FloatArray:
    """Row of the pivot in what the rows leave out of K; pivots have nothing left to explain."""
    row = np.zeros(len(items))
    others = np.flatnonzero(open_)
    row[others] = [pair_value(items, function, pivot, int(j)) for j in others]
    row[others] -= (rows[:, pivot] @ rows)[others]
    return row


def pairwise_gram(items: Iterable[Any], function: Callable[[Any, Any], float]) -> FloatArray:
    """Evaluate a symmetric function on all pairs, in n (n + 1) / 2 calls.

    Parameters
    ----------
    items : iterable of n objects
        The samples.
    function : callable
        ``function(a, b)`` is the similarity of two items, a finite number; it may be
        indefinite. It is called with a before b in the order of the items.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric matrix of the values.

    Examples
    --------
    >>> pairwise_gram([1, 4, 6], lambda a, b: -abs(a - b))
    array([[ 0., -3., -5.],
           [-3.,  0., -2.],
           [-5., -2.,  0.]])
    """
    items = list(items)
    gram = np.empty((len(items), len(items)))
    for i in range(len(items)):
        gram[i, i:] = [pair_value(items, function, i, j) for j in range(i, len(items))]
        gram[i:, i] = gram[i, i:]
    return gram


def pair_value(
    items: Sequence[Any], function: Callable[[Any, Any], float], i: int, j: int
) -> float:
    """Evaluate the function on a pair and make sure that the result is one finite number."""
    value = function(items[i], items[j])
    number = _number(value)
    if not np.isfinite(number):
        raise InvalidInputError(
            f"the function returned {value!r:.80} for the pair of items {i} and {j}, but a "
            "similarity must be one finite number: let it return a float for every pair."
        )
    return number


def _number(value: Any) -> float:
    """Return a scalar as a float, anything else as NaN."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str | bytes) or np.iscomplexobj(value):
        return np.nan
    if getattr(value, "ndim", 0) != 0:  # NumPy takes an array of one number for a number
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def eigen_rows(matrix: FloatArray, tol: float) -> tuple[FloatArray, FloatArray]:
    r"""Factor a symmetric matrix by its eigenvalues of largest modulus.

    .. math:: T = \sum_k \lambda_k v_k v_k^\top \approx \sum_{k \le r} s_k f_k f_k^\top, \qquad
              f_k = \sqrt{|\lambda_k|}\, v_k, \quad s_k = \operatorname{sign} \lambda_k,

    with the least r for which :math:`\sum_{k>r} \lambda_k^2 \le tol^2 \|T\|_F^2`. No matrix of
    rank r is closer to T.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric matrix; only its lower triangle is read.
    tol : float
        Frobenius norm that may be left out, as a share of the whole.

    Returns
    -------
    rows : ndarray of shape (r, n)
        Orthogonal rows f, by decreasing squared norm.
    signs : ndarray of shape (r,)
        Signs s, 1.0 or -1.0: ``(rows.T * signs) @ rows`` is T up to the tolerance.

    Examples
    --------
    >>> rows, signs = eigen_rows(np.array([[0.0, 1.0], [1.0, 0.0]]), 1e-6)
    >>> sorted(signs.tolist()), ((rows.T * signs) @ rows).round(12).tolist()
    ([-1.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(eigenvalues), kind="stable")
    kept = eigenvalues[order]
    # tails[r] is the norm of what rank r leaves out; eigh is exact to about n eps
    tails = np.sqrt(np.append(np.cumsum(kept[::-1] ** 2)[::-1], 0.0))
    tol = max(tol, len(kept) * float(np.finfo(np.float64).eps))
    rank = int(np.argmax(tails <= tol * tails[0]))
    kept = kept[:rank]
    rows = vectors[:, order[:rank]].T * np.sqrt(np.abs(kept))[:, None]
    return rows, np.sign(kept)


def check_affinity(matrix: Any, n: int) -> FloatArray | sparse.csr_array:
    """Validate a matrix of similarities between samples.

    Parameters
    ----------
    matrix : array-like or SciPy sparse matrix of shape (n, n)
        Finite and symmetric up to rounding; it may be indefinite.
    n : int
        Number of samples.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
        The matrix in double precision, exactly symmetric.

    Examples
    --------
    >>> check_affinity([[2, 1], [1, 2]], 2)
    array([[2., 1.],
           [1., 2.]])
    """
    made: Any = check_symmetric(matrix, n, "affinity", "L")
    data = made.data if sparse.issparse(made) else made
    # entries that a sparse matrix does not store are zeros
    data = np.append(data, 0.0) if data.size < n * n else data
    if np.ptp(data) <= _CONSTANT * np.abs(data).max():
        raise InvalidInputError(
            f"affinity is {data.flat[0]:.6g} for all pairs of samples, but nothing can depend on "
            "similarities that do not vary: pass some that tell samples apart."
        )
    return made


def check_symmetric(matrix: Any, n: int, name: str, symbol: str) -> FloatArray | sparse.csr_array:
    """Return a finite symmetric (n, n) matrix, dense or CSR, in double precision.

    `name` and `symbol` are what an error calls the matrix. The result may be the caller's own
    array; rounding errors of its symmetry are averaged out.
    """
    try:
        made = _as_double(matrix)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} cannot be read as a matrix of real numbers ({error}): pass a numeric array "
            "or a SciPy sparse matrix."
        ) from error
    if made.shape != (n, n):
        raise InvalidInputError(
            f"{name} has shape {made.shape}, but it needs one row and one column for each of the "
            f"{n} samples: shape ({n}, {n})."
        )
    data = made.data if sparse.issparse(made) else made
    if not np.isfinite(data).all():
        value = data[~np.isfinite(data)][0]
        raise InvalidInputError(
            f"{name} contains {value}, but its entries must be finite: use 0 for pairs without "
            "a known value."
        )
    difference = abs(made - made.T)
    largest = difference.max()
    if largest == 0:
        return made
    if largest > _ASYMMETRY * np.abs(data).max():
        i, j = (int(index[0]) for index in (difference >= largest).nonzero())
        raise InvalidInputError(
            f"{name}[{i}, {j}]={made[i, j]:.6g} but {name}[{j}, {i}]={made[j, i]:.6g}, and it "
            f"must be symmetric: pass ({symbol} + {symbol}.T) / 2."
        )
    return (made + made.T) / 2


def _as_double(matrix: Any) -> Any:
    """Convert to a dense array or to CSR without duplicates; the argument is left as it is."""
    if np.iscomplexobj(matrix):
        raise TypeError("its entries are complex")
    if not sparse.issparse(matrix):
        return np.asarray(matrix, dtype=np.float64)
    made = sparse.csr_array(matrix, dtype=np.float64)
    if not made.has_canonical_format:
        made = made.copy()
        made.sum_duplicates()
    return made
