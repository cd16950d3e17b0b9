"""Compiled sums over samples of products of rows; `tests/inference` has NumPy versions."""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray

__all__ = ["add_squared_diagonals", "triple_sums"]


@summing
def _dot(left: FloatArray, right: FloatArray) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@summing
def _add_squares(row: FloatArray, mean: float, out: FloatArray) -> None:
    for i in range(row.size):
        out[i] += (row[i] - mean) * (row[i] - mean)


@summing
def _multiply(left: FloatArray, right: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = left[i] * right[i]


@compiled
def add_squared_diagonals(phi: FloatArray, means: FloatArray, out: FloatArray) -> None:
    """Add the sum of squared diagonal entries of the matrices of rows less their means.

    Parameters
    ----------
    phi : (c, N, s) rows of c columns on some samples
    means : (c, N) means of the rows over all samples
    out : (c,)
    """
    diagonal = np.empty(phi.shape[2])
    for c in range(phi.shape[0]):
        diagonal[:] = 0.0
        for r in range(phi.shape[1]):
            _add_squares(phi[c, r], means[c, r], diagonal)
        out[c] += _dot(diagonal, diagonal)


@compiled
def triple_sums(rows: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Write the sum of squares of ``sum_i w_i f_ai f_bi f_ci`` over all rows a, b, c.

    Parameters
    ----------
    rows : (k, r, n) rows of k matrices
    weights : (1, n) or (k, n)
    out : (k,)
    """
    weighted, pair = np.empty(rows.shape[2]), np.empty(rows.shape[2])
    for k in range(rows.shape[0]):
        total = 0.0
        for a in range(rows.shape[1]):
            _multiply(rows[k, a], weights[min(k, len(weights) - 1)], weighted)
            for b in range(a + 1):
                _multiply(weighted, rows[k, b], pair)
                for c in range(b + 1):
                    one = _dot(pair, rows[k, c])
                    orders = 6.0 if a > b > c else (1.0 if a == c else 3.0)
                    total += orders * one * one
        out[k] = total
