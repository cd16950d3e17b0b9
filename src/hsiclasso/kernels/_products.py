"""Compiled sums of products of rows, with a NumPy version in `tests/kernels/test_loops.py`.

A few dozen rows on a few hundred samples are too small for BLAS, which copies its operands first.
These loops take half its time.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray
from hsiclasso.kernels.base import TILE

__all__ = ["multiply_terms"]

# The sums of one tile, as vectors, fill the registers.
_HEIGHT, _WIDTH = TILE


@summing
def _tile(
    left: FloatArray, m: int, right: FloatArray, r: int, start: int, size: int, out: FloatArray
) -> None:
    """Multiply rows m, m + 1, ... of `left` with rows r, r + 1, ... of `right`: `out` (3, 4).

    The last row is repeated where there are no more rows.
    """
    last, end = left.shape[0] - 1, right.shape[0] - 1
    a0, a1, a2 = left[m], left[min(m + 1, last)], left[min(m + 2, last)]
    # slice rows, not the array: the compiler then knows that they are contiguous
    b0, b1 = right[r][start:], right[min(r + 1, end)][start:]
    b2, b3 = right[min(r + 2, end)][start:], right[min(r + 3, end)][start:]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = 0.0
    for i in range(size):
        x0, x1, x2 = a0[i], a1[i], a2[i]
        y0, y1, y2, y3 = b0[i], b1[i], b2[i], b3[i]
        s00 += x0 * y0
        s01 += x0 * y1
        s02 += x0 * y2
        s03 += x0 * y3
        s10 += x1 * y0
        s11 += x1 * y1
        s12 += x1 * y2
        s13 += x1 * y3
        s20 += x2 * y0
        s21 += x2 * y1
        s22 += x2 * y2
        s23 += x2 * y3
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = s00, s01, s02, s03
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = s10, s11, s12, s13
    out[2, 0], out[2, 1], out[2, 2], out[2, 3] = s20, s21, s22, s23


@compiled
def multiply_terms(
    phi: FloatArray, size: int, target: FloatArray, start: int, out: FloatArray, gram: FloatArray
) -> None:
    """Add the products of the rows of columns with rows of a target, and with each other.

    The first `size` entries of the rows `phi` (c, N, at least size) belong to the samples from
    `start` on of `target` (r, n). The products are added to `out` (c, N, r) and `gram` (c, N, N);
    with a `gram` of shape (c, 0, 0), products with each other are left out.
    """
    tile = np.empty((_HEIGHT, _WIDTH))
    n_rows, n_target = phi.shape[1], target.shape[0]
    for c in range(phi.shape[0]):
        rows, products, own = phi[c], out[c], gram[c]
        for m in range(0, n_rows, _HEIGHT):
            height = min(_HEIGHT, n_rows - m)
            for r in range(0, n_target, _WIDTH):
                _tile(rows, m, target, r, start, size, tile)
                for i in range(height):
                    for j in range(min(_WIDTH, n_target - r)):
                        products[m + i, r + j] += tile[i, j]
            for r in range(m - m % _WIDTH, own.shape[0], _WIDTH):
                _tile(rows, m, rows, r, 0, size, tile)
                for i in range(height):
                    for j in range(max(0, m + i - r), min(_WIDTH, n_rows - r)):
                        own[m + i, r + j] += tile[i, j]
                        if r + j > m + i:
                            own[r + j, m + i] += tile[i, j]
