"""Compiled loops over nearest neighbours; `tests/baselines` has a NumPy twin of each.

Columns are rows here, (k, n), so that a loop over samples is contiguous. Distances that differ by
less than a share of `TIED` are ties: samples as far as the last neighbour share its place, which is
the mean over all ways to break ties at random.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray, IntArray

__all__ = ["TIED", "means_of_nearest", "means_on_a_line"]

TIED = 1e-9


@compiled
def _keep(best: FloatArray, distance: float) -> None:
    """Put a distance into its place in `best`, sorted, which loses its largest."""
    place = best.size - 1
    while place > 0 and best[place - 1] > distance:
        best[place] = best[place - 1]
        place -= 1
    best[place] = distance


@summing
def _sum_of_nearest(distances: FloatArray, values: FloatArray, reach: float, wanted: int) -> float:
    """Sum the values of those nearer than `reach`, and of those as far their share."""
    low, high = reach * (1 - TIED), reach * (1 + TIED)
    inner = n_inner = tied = n_tied = 0.0
    for a in range(distances.size):
        near = 1.0 if distances[a] < low else 0.0
        level = 1.0 if distances[a] <= high else 0.0
        inner += near * values[a]
        n_inner += near
        tied += (level - near) * values[a]
        n_tied += level - near
    return inner + (wanted - n_inner) * tied / n_tied


@compiled
def means_of_nearest(
    columns: FloatArray, order: IntArray, distances: FloatArray, values: FloatArray, wanted: int,
    out: FloatArray,
) -> None:  # fmt: skip
    """Mean of `values` over the nearest neighbours of all samples, for each of `columns` (k, n).

    Row i of `order`, `distances` and `values` (n, n - 1) lists the other samples by their squared
    distance without the column. It only grows with the column, so the search ends early.
    """
    k, n = columns.shape
    found, best = np.empty(n), np.empty(wanted)
    out[:] = 0.0
    for i in range(n):  # rows of the matrices stay in the cache for all columns
        others, least = order[i], distances[i]
        for j in range(k):
            z = columns[j]
            best[:] = np.inf
            m = 0
            while m < n - 1 and least[m] <= best[wanted - 1] * (1 + TIED):
                delta = z[others[m]] - z[i]
                found[m] = least[m] + delta * delta
                if found[m] < best[wanted - 1]:
                    _keep(best, found[m])
                m += 1
            out[j] += _sum_of_nearest(found[:m], values[i][:m], best[wanted - 1], wanted)
    for j in range(k):
        out[j] /= n * wanted


@compiled
def means_on_a_line(columns: FloatArray, values: FloatArray, wanted: int, out: FloatArray) -> None:
    """Mean of `values` (n, n) over the nearest neighbours in each of `columns` (k, n) alone."""
    k, n = columns.shape
    found, near = np.empty(n), np.empty(n)
    for j in range(k):
        places = np.argsort(columns[j])
        z = columns[j][places]
        out[j] = 0.0
        for p in range(n):
            first, last = p, p  # the neighbours are among first, ..., last
            for _ in range(wanted):
                if last == n - 1 or (first > 0 and z[p] - z[first - 1] <= z[last + 1] - z[p]):
                    first -= 1
                else:
                    last += 1
            reach = max(z[p] - z[first], z[last] - z[p])
            while first > 0 and z[p] - z[first - 1] <= reach * (1 + TIED):
                first -= 1
            while last < n - 1 and z[last + 1] - z[p] <= reach * (1 + TIED):
                last += 1
            m = 0
            for q in range(first, last + 1):
                if q != p:
                    found[m] = (z[q] - z[p]) ** 2
                    near[m] = values[places[p], places[q]]
                    m += 1
            out[j] += _sum_of_nearest(found[:m], near[:m], reach**2, wanted)
        out[j] /= n * wanted
