"""Compiled loops of the statistic and of products; the tests have a NumPy version of each."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled, inlined
from hsiclasso._types import FloatArray, IntArray

__all__ = ["add_by_class", "multiply_sparse", "shrunk_energies"]


@compiled
def add_by_class(phi: FloatArray, codes: IntArray, sums: FloatArray) -> None:
    """Add rows (c, N, s) to the sums (c, N, classes) of the classes of their samples (s,)."""
    for c in range(phi.shape[0]):
        for row in range(phi.shape[1]):
            values, out = phi[c, row], sums[c, row]
            for i in range(codes.size):
                out[codes[i]] += values[i]


@compiled
def shrunk_energies(
    gram: FloatArray, cross: FloatArray, ridge: FloatArray, energy: FloatArray
) -> None:
    """Write the squared norms of the columns of ``L^-1 cross``, where ``L L' = gram + ridge I``.

    `gram` has shape (c, N, N), and only its lower half is read. `cross` has shape (c, N, r). Both
    are overwritten. `ridge` has shape (c,) and `energy`, which receives the norms, (c, r).
    """
    size, width = cross.shape[1:]
    for c in range(gram.shape[0]):
        matrix, rows, total = gram[c], cross[c], energy[c]
        for r in range(width):
            total[r] = 0.0
        for j in range(size):
            pivot = matrix[j, j] + ridge[c]
            for i in range(j):
                pivot -= matrix[j, i] * matrix[j, i]
            inverse = 1.0 / math.sqrt(pivot)
            for k in range(j + 1, size):
                value = matrix[k, j]
                for i in range(j):
                    value -= matrix[k, i] * matrix[j, i]
                matrix[k, j] = value * inverse
            row = rows[j]
            for i in range(j):
                weight, above = matrix[j, i], rows[i]
                for r in range(width):
                    row[r] -= weight * above[r]
            for r in range(width):
                row[r] *= inverse
                total[r] += row[r] * row[r]


@inlined
def _add_product(factor: float, left: FloatArray, right: FloatArray, out: FloatArray) -> None:
    """Add a multiple of the outer product of two vectors to `out`."""
    for r in range(left.size):
        for s in range(right.size):
            out[r, s] += factor * left[r] * right[s]


@compiled
def multiply_sparse(
    n: int, places: IntArray, deviations: FloatArray, at_zero: FloatArray, others: IntArray,
    other_deviations: FloatArray, others_at_zero: FloatArray, sizes: IntArray, energies: FloatArray,
) -> None:  # fmt: skip
    """Write the squared norms of the products of a sparse factor with other ones.

    The first four arguments are of a `SparseFactor`. The others follow each other in `others`,
    `other_deviations` and `others_at_zero`; `sizes` (k, 2) has the number m of places and the rank
    of each. `energies` has shape (k,).
    """
    where = np.full(n, -1, dtype=np.int32)
    for i in range(places.size):
        where[places[i]] = i
    first, value, row = 0, 0, 0
    for k in range(sizes.shape[0]):
        size, width = sizes[k, 0], sizes[k, 1]
        own = other_deviations[value : value + size * width].reshape((size, width))
        product = np.zeros((at_zero.size, width))
        _add_product(-float(n), at_zero, others_at_zero[row : row + width], product)
        for j in range(size):
            i = where[others[first + j]]
            if i >= 0:
                _add_product(1.0, deviations[i], own[j], product)
        energies[k] = 0.0
        for entry in product.flat:
            energies[k] += entry * entry
        first, value, row = first + size, value + size * width, row + width
