"""Compiled loops over pairs of samples; `tests/baselines` has a NumPy twin of each.

Matrices between samples are symmetric: only what lies below the diagonal is read and written.
Columns are rows here, (k, n), so that a loop over samples is contiguous.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray
from hsiclasso.kernels._loops import _exp, sum_row

__all__ = ["add_distances", "project_pairs", "sum_over_candidates"]

#: exp(-690) adds nothing to 1, and is still a normal number.
_FAR = 690.0


@compiled
def _add_squares(z: FloatArray, centre: float, out: FloatArray) -> None:
    for i in range(out.size):
        delta = z[i] - centre
        out[i] += delta * delta


@compiled
def add_distances(columns: FloatArray, first: int, last: int, out: FloatArray) -> None:
    """Add to rows `first:last` of `out` (n, n) the squared distances in `columns` (k, n)."""
    for i in range(first, last):
        row = out[i][:i]
        for j in range(columns.shape[0]):
            _add_squares(columns[j][:i], columns[j, i], row)


@compiled
def _weigh_candidate(
    z: FloatArray, centre: float, distances: FloatArray, sign: float, gamma: float,
    coupling: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Multiply a row of C with that of the kernel, with one column added or taken away."""
    for i in range(out.size):
        delta = z[i] - centre
        exponent = gamma * (distances[i] + sign * (delta * delta))
        # rounding may make the column that is taken away exceed the sum
        out[i] = coupling[i] * _exp(-min(max(exponent, 0.0), _FAR))


@compiled
def sum_over_candidates(
    columns: FloatArray, coupling: FloatArray, distances: FloatArray, sign: float, gamma: float,
    out: FloatArray,
) -> None:  # fmt: skip
    """Sum C times the kernel over pairs of samples, for each of `columns` (k, n).

    The squared distance of a pair is that of `distances` (n, n) plus `sign` times that in the
    column. A pair counts once, and the diagonal not at all.
    """
    k, n = columns.shape
    row = np.empty(n)
    out[:] = 0.0
    for i in range(1, n):  # rows of the matrices stay in the cache for all columns
        for j in range(k):
            z = columns[j]
            _weigh_candidate(
                z[:i], z[i], distances[i][:i], sign, gamma, coupling[i][:i], row[:i]
            )  # fmt: skip
            out[j] += sum_row(row[:i])


@compiled
def _weigh(distances: FloatArray, gamma: float, coupling: FloatArray) -> None:
    """Turn squared distances into entries of C times those of the kernel."""
    for i in range(distances.size):
        distances[i] = coupling[i] * _exp(-min(gamma * distances[i], _FAR))


@summing
def _pull(weights: FloatArray, z: FloatArray, centre: float, out: FloatArray) -> float:
    """Subtract the weighted differences to a centre from `out`, and return their sum."""
    total = 0.0
    for i in range(weights.size):
        part = weights[i] * (centre - z[i])
        out[i] -= part
        total += part
    return total


@compiled
def project_pairs(
    projected: FloatArray, coupling: FloatArray, gamma: float, pull: FloatArray
) -> float:
    """Sum C times the kernel of projected samples Z (q, n) over pairs, each once.

    `pull` (q, n) becomes Z (diag(A1) - A) with A the entrywise product of C and the kernel.
    """
    q, n = projected.shape
    row = np.empty(n)
    pull[:] = 0.0
    total = 0.0
    for i in range(1, n):
        weights = row[:i]
        weights[:] = 0.0
        for c in range(q):
            _add_squares(projected[c][:i], projected[c, i], weights)
        _weigh(weights, gamma, coupling[i][:i])
        total += sum_row(weights)
        for c in range(q):
            pull[c, i] += _pull(weights, projected[c][:i], projected[c, i], pull[c][:i])
    return total
