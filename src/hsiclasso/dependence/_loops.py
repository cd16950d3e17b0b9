"""Compiled loops of the dependence station; `tests/dependence` has a NumPy twin of each."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.embedding._compile import compiled, summing
from hsiclasso.embedding._loops import hermite_features, table_features
from hsiclasso.embedding.hermite import REACH

__all__ = ["relate_closed_form", "shrunk_energy"]

#: Doubles of features evaluated at once: they should stay in a core's second-level cache.
_PIECE = 1 << 17


@compiled
def shrunk_energy(gram: FloatArray, cross: FloatArray, ridge: float) -> float:
    """Squared Frobenius norm of ``L^-1 cross`` with ``L L' = gram + ridge I``.

    `gram` (N, N) and `cross` (N, r) are overwritten.
    """
    size = gram.shape[0]
    width = cross.shape[1]
    energy = 0.0
    for j in range(size):
        pivot = gram[j, j] + ridge
        for i in range(j):
            pivot -= gram[j, i] * gram[j, i]
        inverse = 1.0 / math.sqrt(pivot)
        for k in range(j + 1, size):
            value = gram[k, j]
            for i in range(j):
                value -= gram[k, i] * gram[j, i]
            gram[k, j] = value * inverse
        for i in range(j):
            weight = gram[j, i]
            for c in range(width):
                cross[j, c] -= weight * cross[i, c]
        for c in range(width):
            cross[j, c] *= inverse
            energy += cross[j, c] * cross[j, c]
    return energy


@summing
def _squares(values: FloatArray) -> float:
    total = 0.0
    for value in values.flat:
        total += value * value
    return total


@compiled
def _relevance(
    gram: FloatArray, cross: FloatArray, n: int, ridge: float, normalised: bool
) -> tuple[float, float]:
    """Relevance and squared mean of one column from its moments, which are overwritten.

    `cross` is (N, r + 1): features times target factor, and features times ones. `gram` is
    (N, N) features times features, and not used by plain HSIC.
    """
    r = cross.shape[1] - 1
    sums = cross[:, r].copy()
    against = np.ascontiguousarray(cross[:, :r])
    mass = _squares(sums) / n
    if not normalised and ridge == 0.0:
        return _squares(against), mass
    for i in range(gram.shape[0]):
        for j in range(gram.shape[0]):
            gram[i, j] -= sums[i] * sums[j] / n
    if normalised:
        return _squares(against) / math.sqrt(_squares(gram)), mass
    return shrunk_energy(gram, against, ridge), mass


@compiled
def relate_closed_form(
    values: FloatArray, basis: IntArray, counts: IntArray, table: FloatArray,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    target: FloatArray, ridge: float, normalised: bool,
    relevance: FloatArray, mass: FloatArray,
) -> None:  # fmt: skip
    """Relate columns in closed form to the target, a cache-sized piece at a time.

    Parameters
    ----------
    values : (k, n) columns in units of their kernel width
    basis, counts : (k,) expansion of each column
    table : (B, N) table to look eigenfunctions up in, or empty
    scale, decay, up, back : coefficients of the expansions
    target : (n_runs, r + 1, run) factor of the target cut into runs of samples, zero-padded,
        with a row of ones
    ridge, normalised : the measure
    relevance, mass : (k,) results: <A_k, T>, and n times the squared mean feature vector
    """
    k, n = values.shape
    n_runs, width, run = target.shape
    limit = max(_PIECE // run, counts.max())
    buffer = np.empty((limit, run))
    with_gram = normalised or ridge > 0.0
    first = 0
    while first < k:
        rows = counts[first]
        last = first + 1
        while last < k and rows + counts[last] <= limit:
            rows += counts[last]
            last += 1
        cross = np.zeros((rows, width))
        grams = np.zeros((last - first if with_gram else 0, counts.max(), counts.max()))
        features = buffer[:rows]
        for t in range(n_runs):
            piece = values[first:last, t * run : min(n, (t + 1) * run)]
            if t == n_runs - 1:
                features[:, piece.shape[1] :] = 0.0
            if table.size > 0:
                table_features(piece, REACH, table, counts[first:last], features)
            else:
                hermite_features(
                    piece, basis[first:last], counts[first:last], scale, decay, up, back, features
                )
            cross += np.dot(target[t], features.T).T
            start = 0
            for j in range(grams.shape[0]):
                size = counts[first + j]
                phi = features[start : start + size]
                grams[j, :size, :size] += np.dot(phi, phi.T)
                start += size
        start = 0
        for j in range(first, last):
            size = counts[j]
            gram = grams[j - first, :size, :size] if with_gram else grams[:0, :0, 0]
            relevance[j], mass[j] = _relevance(
                gram, cross[start : start + size], n, ridge, normalised
            )
            start += size
        first = last
