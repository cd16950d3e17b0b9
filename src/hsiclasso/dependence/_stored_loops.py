"""Compiled loops for sparse columns; `tests/dependence` has a NumPy twin of each."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence._loops import relevance_from_moments
from hsiclasso.embedding._loops import choose_features, hermite_features
from hsiclasso.embedding.samples import NOTHING

__all__ = ["relate_stored", "sum_stored_levels"]


@compiled
def _lowest_level(data: FloatArray, n_levels: int) -> float:
    """Least of some whole numbers and 0, if all are below it plus `n_levels`; else NaN."""
    low = 0.0
    high = 0.0
    for value in data:
        if value != math.floor(value):
            return np.nan
        low = min(low, value)
        high = max(high, value)
    return low if high - low < n_levels else np.nan


@compiled
def sum_stored_levels(
    indptr: IntArray, indices: IntArray, data: FloatArray, columns: IntArray,
    rows: FloatArray, totals: FloatArray, lowest: FloatArray, sums: FloatArray,
) -> None:  # fmt: skip
    """Sum rows over the samples of each level of sparse columns of whole numbers.

    Parameters
    ----------
    indptr, indices, data : compressed columns
    columns : (k,) which of them
    rows : (n, v) what is summed
    totals : (v,) its sums over all samples
    lowest : (k,) results: the value of the first level, NaN where a column does not have
        whole numbers, or too many
    sums : (k, L, v) results; zeros before
    """
    for j in range(columns.size):
        start, stop = indptr[columns[j]], indptr[columns[j] + 1]
        lowest[j] = _lowest_level(data[start:stop], sums.shape[1])
        if math.isnan(lowest[j]):
            continue
        for i in range(start, stop):
            at, row = sums[j, int(data[i] - lowest[j])], rows[indices[i]]
            for c in range(row.size):
                at[c] += row[c]
        if stop - start < rows.shape[0]:
            zero = int(-lowest[j])
            for c in range(totals.size):
                stored = 0.0
                for level in range(sums.shape[1]):
                    stored += sums[j, level, c]
                sums[j, zero, c] += totals[c] - stored


@summing
def _scale(values: FloatArray, weights: FloatArray, total: float, width: float) -> bool:
    """Scale values to unit deviation and kernel width, their range centred on 0; tell if they vary.

    `weights` sum to `total`. Values too large or small to be squared count as constant: the
    caller reads such a column in another way.
    """
    low = values.min()
    high = values.max()
    mean = 0.0
    for i in range(values.size):
        mean += weights[i] * values[i]
    mean /= total
    first = 0.0
    second = 0.0
    for i in range(values.size):
        values[i] -= mean
        first += weights[i] * values[i]
        second += weights[i] * values[i] * values[i]
    variance = second / total - (first / total) ** 2
    if low == high or not 1e-290 < variance < 1e290:
        return False
    middle = 0.5 * low + 0.5 * high - mean
    inverse = 1.0 / (math.sqrt(variance) * width)
    for i in range(values.size):
        values[i] = (values[i] - middle) * inverse
    return True


@compiled
def _read(
    indices: IntArray, data: FloatArray, weights: FloatArray, total: float
) -> tuple[FloatArray, FloatArray]:
    """Values of one column and their weights; if anything is not stored, zero comes last."""
    stored = indices.size
    size = stored + 1 if stored < weights.size else stored
    values, shares = np.zeros(size), np.zeros(size)
    left = total
    for i in range(stored):
        values[i] = data[i]
        shares[i] = weights[indices[i]]
        left -= shares[i]
    if size > stored:
        shares[stored] = max(left, 0.0)
    return values, shares


@compiled
def _cross(
    features: FloatArray, indices: IntArray, rows: FloatArray, totals: FloatArray
) -> FloatArray:
    """Multiply the features (N, size) of one column with rows (n, R + q) of samples."""
    stored, width = indices.size, rows.shape[1]
    picked = np.empty((stored, width))
    for i in range(stored):
        picked[i] = rows[indices[i]]
    changes = np.ascontiguousarray(features[:, :stored])
    if features.shape[1] == stored:
        return np.asarray(np.dot(changes, picked))
    cross = np.empty((features.shape[0], width))
    for m in range(features.shape[0]):
        zero = features[m, stored]
        for i in range(stored):
            changes[m, i] -= zero
        for c in range(width):
            cross[m, c] = zero * totals[c]
    cross += np.dot(changes, picked)
    return cross


@compiled
def relate_stored(
    indptr: IntArray, indices: IntArray, data: FloatArray, columns: IntArray,
    weights: FloatArray, total: float, rows: FloatArray, totals: FloatArray,
    signs: FloatArray, width: float, bins_per_unit: float, residual: FloatArray, share: float,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    ridge: float, normalised: bool,
    counts: IntArray, relevance: FloatArray, left: FloatArray, trace: FloatArray, norm: FloatArray,
) -> None:  # fmt: skip
    """Relate sparse columns with Gaussian kernels to the target, in closed form.

    Parameters
    ----------
    indptr, indices, data : compressed columns
    columns : (k,) which of them
    weights, total : (n,) weights of the samples, and their sum
    rows : (n, R + q) rows of the target and removed rows, times the roots of weights
    totals : (R + q,) their sums over the samples
    signs : (R,) signs of the target's rows
    width : width of the Gaussian
    bins_per_unit, residual : as in `choose_features`
    share : share of the total that may be left out of the trace of a column without zeros
    scale, decay, up, back : coefficients of the expansions
    ridge, normalised : the measure
    counts : (k,) results: features used, 0 where no expansion serves
    relevance : (k,) results: <A_k, T>
    left, trace, norm : (k,) results: trace left out, and trace and Frobenius norm of the
        projected Gram matrix that is not
    """
    basis, bulk = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for j in range(columns.size):
        start, stop = indptr[columns[j]], indptr[columns[j] + 1]
        where = indices[start:stop]
        values, shares = _read(where, data[start:stop], weights, total)
        if not _scale(values, shares, total, width):
            continue
        # the more zeros, the smaller is what centring leaves, and what may be left out of it
        zeros = shares[where.size] / total if values.size > where.size else 0.0
        left[j] = share * total * min(1.0, 4.0 * (1.0 - zeros))
        one, values = slice(j, j + 1), values.reshape(1, values.size)
        choose_features(
            values, shares, bins_per_unit, residual, left[j], left[j], basis, counts[one], bulk
        )
        if counts[j] == 0:
            continue
        features = np.empty((counts[j], values.size))
        hermite_features(
            values, 0, values.size, basis, counts[one], scale, decay, up, back, features
        )
        gram = np.dot(features * shares, features.T)
        cross = _cross(features, where, rows, totals)
        removed = np.ascontiguousarray(cross[:, signs.size :])
        projected = gram - np.dot(removed, removed.T)
        trace[j] = np.trace(projected)
        norm[j] = np.sqrt(np.sum(projected * projected))
        if trace[j] > NOTHING * np.trace(gram):
            relevance[j], _ = relevance_from_moments(gram, cross, signs, ridge, normalised)
