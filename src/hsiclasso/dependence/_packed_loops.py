"""Compiled loops of packed Gram matrices; `tests/dependence` has a NumPy version of each.

A packed matrix has n (n + 1) / 2 numbers: the rows of its lower triangle, one after the other.
Entries off the diagonal are multiplied by the square root of 2.
"""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels._loops import dot, mixed_kernel, sum_row

__all__ = ["multiply_packed", "pack"]

_ROOT_2 = math.sqrt(2.0)


@compiled
def _add(row: FloatArray, out: FloatArray) -> None:
    for i in range(row.size):
        out[i] += row[i]


@compiled
def _centre(row: FloatArray, means: FloatArray, shift: float) -> None:
    for i in range(row.size):
        row[i] = _ROOT_2 * (row[i] - means[i] - shift)


@compiled
def _pack(z: FloatArray, inverse: FloatArray, means: FloatArray, out: FloatArray) -> None:
    """Fill `out` (p,) with the packed, centred Gaussian Gram matrix of `z` (n,).

    The kernel is the mean of those with the widths 1 / `inverse` (w,).
    """
    n = z.size
    means[:] = 1.0
    first = 0
    for i in range(n):
        row = out[first : first + i]
        mixed_kernel(z[:i], z[i], inverse, row)
        _add(row, means)
        means[i] += sum_row(row)
        first += i + 1
    for i in range(n):
        means[i] /= n
    mean = sum_row(means) / n
    first = 0
    for i in range(n):
        _centre(out[first : first + i], means, means[i] - mean)
        out[first + i] = 1.0 - 2.0 * means[i] + mean
        first += i + 1


@compiled
def pack(block: FloatArray, inverse: FloatArray, out: FloatArray, norm2: FloatArray) -> None:
    """Fill `out` (k, p) with the packed matrices of the rows of `block` (k, n).

    The kernel of each row is the mean of those with the widths 1 / `inverse` (k, w).
    `norm2` (k,) receives their squared norms.
    """
    means = np.empty(block.shape[1])
    for j in range(block.shape[0]):
        _pack(block[j], inverse[j], means, out[j])
        norm2[j] = dot(out[j], out[j])


@compiled
def multiply_packed(
    block: FloatArray, inverse: FloatArray, packed: FloatArray, places: IntArray, out: FloatArray,
    norm2: FloatArray,
) -> None:  # fmt: skip
    """Write inner products of rows of `block` (k, n) and packed matrices where `out` is NaN.

    The widths are as in `pack`.
    The packed matrices are the rows `places` (c,) of `packed`, and `out` has shape (k, c). Where
    `norm2` (k,) is NaN, it receives the squared norm of the matrix of that row.
    """
    means, matrix = np.empty(block.shape[1]), np.empty(packed.shape[1])
    for j in range(block.shape[0]):
        wanted = math.isnan(norm2[j])
        for c in range(places.size):
            wanted = wanted or math.isnan(out[j, c])
        if not wanted:
            continue
        _pack(block[j], inverse[j], means, matrix)
        if math.isnan(norm2[j]):
            norm2[j] = dot(matrix, matrix)
        for c in range(places.size):
            if math.isnan(out[j, c]):
                out[j, c] = dot(matrix, packed[places[c]])
