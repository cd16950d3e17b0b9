"""Compiled loops of the statistic; `tests/dependence` has a NumPy version of each."""

from __future__ import annotations

import math

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = ["add_by_class", "shrunk_energies"]


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
