"""Compiled loops of the dependence station; `tests/dependence` has a NumPy twin of each."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.embedding._loops import hermite_features, table_features
from hsiclasso.embedding.hermite import REACH
from hsiclasso.embedding.samples import NOTHING

__all__ = ["relate_closed_form", "relevance_from_moments", "shrunk_energy"]

#: Multiply-adds of one product: up to about so many, BLAS does not repack its operands.
_PIECE = 1_000_000


@compiled
def shrunk_energy(gram: FloatArray, cross: FloatArray, signs: FloatArray, ridge: float) -> float:
    """Sum of the signed squares of ``L^-1 cross`` with ``L L' = gram + ridge I``.

    `gram` (N, N), of which the lower half is read, and `cross` (N, r or more) are overwritten;
    `signs` (r,) belong to the columns of `cross`.
    """
    size = gram.shape[0]
    width = signs.size
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
            energy += signs[c] * cross[j, c] * cross[j, c]
    return energy


@summing
def _squares(values: FloatArray, signs: FloatArray) -> float:
    """Sum of signed squares of the first columns, as many as there are `signs`."""
    total = 0.0
    for i in range(values.shape[0]):
        for j in range(signs.size):
            total += signs[j] * values[i, j] * values[i, j]
    return total


@compiled
def relevance_from_moments(
    gram: FloatArray, cross: FloatArray, signs: FloatArray, ridge: float, normalised: bool
) -> tuple[float, float]:
    """Relevance of one column, and the part of its trace that is removed.

    `cross` is (N, r + q): features times the r rows of the target's factor, whose `signs` are
    (r,), then features times the q removed rows. `gram` is (N, N) features times features; it
    is overwritten, and not used by plain HSIC.
    """
    rank = signs.size
    removed = cross[:, rank:]
    mass = _squares(removed, np.ones(removed.shape[1]))
    if not normalised and ridge == 0.0:
        return _squares(cross, signs), mass
    size = gram.shape[0]
    trace = np.trace(gram)
    for i in range(size):
        for j in range(size):
            for c in range(removed.shape[1]):
                gram[i, j] -= removed[i, c] * removed[j, c]
    if normalised:
        norm = math.sqrt(_squares(gram, np.ones(size)))
        return (_squares(cross, signs) / norm if norm > NOTHING * trace else 0.0), mass
    return shrunk_energy(gram, cross[:, :rank].copy(), signs, ridge), mass


@compiled
def _evaluate(
    values: FloatArray, start: int, stop: int, basis: IntArray, counts: IntArray,
    table: FloatArray, scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    root: FloatArray, features: FloatArray,
) -> None:  # fmt: skip
    """Evaluate the features of samples `start:stop`; the rest of each row becomes zero.

    `root` (n,), if it has entries, weighs the samples.
    """
    features[:, stop - start :] = 0.0
    if table.size > 0:
        table_features(values, start, stop, counts, REACH, table, features)
    else:
        hermite_features(values, start, stop, basis, counts, scale, decay, up, back, features)
    if root.size > 0:
        for row in features:
            for i in range(stop - start):
                row[i] *= root[start + i]


@compiled
def _add_tail(
    values: FloatArray, basis: IntArray, counts: IntArray, table: FloatArray,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    tail: IntArray, sparse: FloatArray, features: FloatArray, cross: FloatArray,
) -> None:  # fmt: skip
    """Add to `cross` (N, q) the features on the tail times the rows that live there."""
    picked = np.empty((values.shape[0], tail.size))
    for j in range(values.shape[0]):
        for i in range(tail.size):
            picked[j, i] = values[j, tail[i]]
    n_runs, _, run = sparse.shape
    for t in range(n_runs):
        _evaluate(
            picked, t * run, min(tail.size, (t + 1) * run), basis, counts,
            table, scale, decay, up, back, np.empty(0), features,
        )  # fmt: skip
        cross += np.dot(features, sparse[t].T)


@compiled
def _add_grams(features: FloatArray, counts: IntArray, grams: FloatArray) -> None:
    """Add the inner products of each column's features to its part of `grams` (k, N, N)."""
    start = 0
    for j in range(grams.shape[0]):
        size = counts[j]
        phi = features[start : start + size]
        grams[j, :size, :size] += np.dot(phi, phi.T)
        start += size


@compiled
def relate_closed_form(
    values: FloatArray, basis: IntArray, counts: IntArray, table: FloatArray,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    root: FloatArray, dense: FloatArray, tail: IntArray, sparse: FloatArray,
    offset: FloatArray, signs: FloatArray, ridge: float, normalised: bool,
    relevance: FloatArray, mass: FloatArray,
) -> None:  # fmt: skip
    """Relate columns in closed form to the target, a cache-sized piece at a time.

    Parameters
    ----------
    values : (k, n) columns in units of their kernel width
    basis, counts : (k,) expansion of each column
    table : (B, N) table to look eigenfunctions up in, or empty
    scale, decay, up, back : coefficients of the expansions
    root : (n,) square roots of the samples' weights, or empty; then there must be no tail
    dense : (n_runs, p + m, run) dense rows of the target and the m removed rows, the constant
        one first, cut into runs of samples and zero-padded
    tail : (t,) samples on which the other q rows of the target are not constant
    sparse : (n_tail_runs, q, run) the other rows on the tail, beyond `offset`, cut into
        shorter runs
    offset : (q,) the other rows outside the tail
    signs : (q + p,) signs of the target's rows
    ridge, normalised : the measure
    relevance, mass : (k,) results: <A_k, T>, and the part of the trace that is removed
    """
    k, n = values.shape
    n_runs, width, run = dense.shape
    n_sparse = offset.size
    most = counts.max()
    limit = max(_PIECE // (run * width), most)
    buffer, tail_buffer = np.empty((limit, run)), np.empty((limit, sparse.shape[2]))
    with_gram = normalised or ridge > 0.0
    first = 0
    while first < k:
        rows = counts[first]
        last = first + 1
        while last < k and rows + counts[last] <= limit:
            rows += counts[last]
            last += 1
        group, features = values[first:last], buffer[:rows]
        group_basis, group_counts = basis[first:last], counts[first:last]
        products = np.zeros((rows, width))
        grams = np.zeros((last - first if with_gram else 0, most, most))
        for t in range(n_runs):
            _evaluate(
                group, t * run, min(n, (t + 1) * run), group_basis, group_counts,
                table, scale, decay, up, back, root, features,
            )  # fmt: skip
            products += np.dot(features, dense[t].T)
            _add_grams(features, group_counts, grams)

        cross = np.empty((rows, n_sparse + width))
        constant = math.sqrt(n) * products[:, signs.size - n_sparse]
        cross[:, :n_sparse] = np.outer(constant, offset)
        cross[:, n_sparse:] = products
        if n_sparse > 0:
            _add_tail(
                group, group_basis, group_counts, table, scale, decay, up, back,
                tail, sparse, tail_buffer[:rows], cross[:, :n_sparse],
            )  # fmt: skip

        start = 0
        for j in range(first, last):
            size = counts[j]
            gram = grams[j - first, :size, :size] if with_gram else grams[:0, :0, 0]
            relevance[j], mass[j] = relevance_from_moments(
                gram, cross[start : start + size], signs, ridge, normalised
            )
            start += size
        first = last
