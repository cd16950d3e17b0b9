"""Compiled loops for sparse and for incomplete columns; the tests compare them with dense ones."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence._loops import relevance_from_moments
from hsiclasso.embedding._loops import choose_features, hermite_features
from hsiclasso.embedding.samples import NOTHING

__all__ = ["relate_gaps", "relate_stored", "sum_stored_levels"]


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
def _embed(
    values: FloatArray, shares: FloatArray, left: float, bins_per_unit: float,
    residual: FloatArray, scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
) -> FloatArray:  # fmt: skip
    """Features (N, size) of one scaled column that leave out `left` at most; none if N is 0."""
    basis, bulk = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    count = np.zeros(1, dtype=np.int64)
    row = values.reshape(1, values.size)
    choose_features(row, shares, bins_per_unit, residual, left, left, basis, count, bulk)
    features = np.empty((count[0], values.size))
    if count[0] > 0:
        hermite_features(row, 0, values.size, basis, count, scale, decay, up, back, features)
    return features


@compiled
def _conclude(
    features: FloatArray, shares: FloatArray, cross: FloatArray, signs: FloatArray, ridge: float,
    normalised: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """Relevance of a column, trace and Frobenius norm of its projected Gram matrix."""
    gram = np.dot(features * shares, features.T)
    removed = np.ascontiguousarray(cross[:, signs.size :])
    projected = gram - np.dot(removed, removed.T)
    trace = np.trace(projected)
    norm = np.sqrt(np.sum(projected * projected))
    relevance = 0.0
    if trace > NOTHING * np.trace(gram):
        relevance, _ = relevance_from_moments(gram, cross, signs, ridge, normalised)
    return relevance, trace, norm


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
    for j in range(columns.size):
        start, stop = indptr[columns[j]], indptr[columns[j] + 1]
        where = indices[start:stop]
        values, shares = _read(where, data[start:stop], weights, total)
        if not _scale(values, shares, total, width):
            continue
        # the more zeros, the smaller is what centring leaves, and what may be left out of it
        zeros = shares[where.size] / total if values.size > where.size else 0.0
        left[j] = share * total * min(1.0, 4.0 * (1.0 - zeros))
        features = _embed(values, shares, left[j], bins_per_unit, residual, scale, decay, up, back)
        counts[j] = features.shape[0]
        if counts[j] > 0:
            cross = _cross(features, where, rows, totals)
            relevance[j], trace[j], norm[j] = _conclude(
                features, shares, cross, signs, ridge, normalised
            )


@compiled
def _centre_on_observed(cross: FloatArray, rows: FloatArray, n_target: int) -> bool:
    """Project `cross` (N, R + q) as if rows (m, R + q) of observed samples had been removed.

    The last q columns become those of an orthonormal basis of what is removed. Returns whether
    the removed rows are independent on these samples; if not, `cross` is spoilt.
    """
    n_removed = rows.shape[1] - n_target
    removed = np.ascontiguousarray(rows[:, n_target:])
    products = np.dot(removed.T, rows)  # with the target's rows, then with each other
    for a in range(n_removed):
        pivot = products[a, n_target + a]
        if pivot <= 1e-10:
            return False
        root = math.sqrt(pivot)
        # one step of Gram and Schmidt, on products instead of rows
        for c in range(rows.shape[1]):
            products[a, c] /= root
        for m in range(cross.shape[0]):
            cross[m, n_target + a] /= root
            for c in range(n_target):
                cross[m, c] -= cross[m, n_target + a] * products[a, c]
            for b in range(a + 1, n_removed):
                cross[m, n_target + b] -= cross[m, n_target + a] * products[a, n_target + b]
        for b in range(a + 1, n_removed):
            weight = products[a, n_target + b]
            for c in range(rows.shape[1]):
                products[b, c] -= weight * products[a, c]
    return True


@compiled
def relate_gaps(
    block: FloatArray, weights: FloatArray, rows: FloatArray, signs: FloatArray,
    width: float, bins_per_unit: float, residual: FloatArray, share: float,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray,
    epsilon: float, normalised: bool,
    counts: IntArray, relevance: FloatArray, left: FloatArray, trace: FloatArray, norm: FloatArray,
    total: FloatArray,
) -> None:  # fmt: skip
    """Relate incomplete columns with Gaussian kernels to the target, in closed form.

    Parameters
    ----------
    block : (k, n) columns, NaN where they are missing
    weights : (n,) weights of the samples
    rows : (n, R + q) rows of the target and removed rows
    signs : (R,) signs of the target's rows
    width, bins_per_unit, residual, scale, decay, up, back : as in `relate_stored`
    share : share of the observed weight that may be left out of the trace
    epsilon, normalised : the measure
    counts, relevance, left, trace, norm : (k,) results as in `relate_stored`; nothing is restored
    total : (k,) results: weight of the observed samples
    """
    n_target = signs.size
    for j in range(block.shape[0]):
        where = np.flatnonzero(~np.isnan(block[j]))
        values, shares = block[j][where], weights[where]
        total[j] = shares.sum()
        if not _scale(values, shares, total[j], width):
            continue
        left[j] = share * total[j]
        features = _embed(values, shares, left[j], bins_per_unit, residual, scale, decay, up, back)
        picked = rows[where]
        cross = np.dot(features * np.sqrt(shares), picked)
        if features.shape[0] > 0 and _centre_on_observed(cross, picked, n_target):
            counts[j] = features.shape[0]
            relevance[j], trace[j], norm[j] = _conclude(
                features, shares, cross, signs, epsilon * total[j], normalised
            )
