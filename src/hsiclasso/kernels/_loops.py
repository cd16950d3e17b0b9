"""Compiled loops of the kernels; `tests/kernels/test_loops.py` has a NumPy twin of each.

Arrays are feature-major here, (k, n) with one column of the table per row, so that a loop
over samples is contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from hsiclasso._compile import compiled, inlined, summing
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels._products import add_gram, add_product

__all__ = [
    "count_magnitudes",
    "count_pairs_within",
    "gaussian_cholesky",
    "gaussian_kernel",
    "hermite_features",
    "median_of_pairs",
    "multiply_hermite",
    "standardise",
    "sum_row",
    "table_features",
]

_LOG2_E = 1.4426950408889634
# ln 2 in two parts: the first has trailing zeros, so that k * _LN2_HIGH is exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@intrinsic
def _bits_as_float(_context: Any, _bits: Any) -> Any:
    """Reinterpret the bits of an int64 as a float64."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@inlined
def _exp(x: float) -> float:
    """exp(x) for -700 < x <= 0 to one unit in the last place, in vectorisable arithmetic."""
    k = math.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1 / 479001600.0
    p = p * r + 1 / 39916800.0
    p = p * r + 1 / 3628800.0
    p = p * r + 1 / 362880.0
    p = p * r + 1 / 40320.0
    p = p * r + 1 / 5040.0
    p = p * r + 1 / 720.0
    p = p * r + 1 / 120.0
    p = p * r + 1 / 24.0
    p = p * r + 1 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _bits_as_float((np.int64(k) + 1023) << 52)  # type: ignore[call-arg]


@summing
def sum_row(row: FloatArray) -> float:
    """Sum the entries of a row."""
    total = 0.0
    for i in range(row.size):
        total += row[i]
    return total


@summing
def _weighted_sum(row: FloatArray, weights: FloatArray) -> float:
    total = 0.0
    for i in range(row.size):
        total += weights[i] * row[i]
    return total


@summing
def _weighted_squares(row: FloatArray, weights: FloatArray) -> float:
    total = 0.0
    for i in range(row.size):
        total += weights[i] * row[i] * row[i]
    return total


@compiled
def standardise(
    block: FloatArray, weights: FloatArray, lowest: FloatArray, highest: FloatArray,
    std: FloatArray, middle: FloatArray,
) -> None:  # fmt: skip
    """Scale each row of `block` (k, n) to unit deviation (divisor n), its range centred on 0.

    `weights` of the values are (k, n), or (1, n) for all rows alike. `lowest` and `highest` (k,)
    are the extremes of the rows. Deviations go to `std` (k,), and the middle of the range, in
    deviations from the mean, to `middle` (k,). Rows that do not vary become zeros, with `std` 0.
    Kernels of differences do not see shifts, and the smaller the largest magnitude, the fewer
    features a column needs.
    """
    n = block.shape[1]
    for j in range(block.shape[0]):
        row, shares = block[j], weights[min(j, weights.shape[0] - 1)]
        low, high = lowest[j], highest[j]
        std[j] = 0.0
        middle[j] = 0.0
        if low == high:
            for i in range(n):
                row[i] = 0.0
            continue
        exponent = math.frexp(max(-low, high))[1]
        if abs(exponent) > 300:  # squares would overflow or vanish
            for i in range(n):
                row[i] = math.ldexp(row[i], -exponent)
        else:
            exponent = 0
        total = sum_row(shares)
        mean = _weighted_sum(row, shares) / total
        for i in range(n):
            row[i] -= mean
        # The first moment corrects for the rounding of the mean.
        first = _weighted_sum(row, shares) / total
        second = _weighted_squares(row, shares) / total
        deviation = math.sqrt(max(0.0, second - first * first))
        std[j] = math.ldexp(deviation, exponent)
        inverse = 1.0 / deviation
        centre = 0.5 * math.ldexp(low, -exponent) + 0.5 * math.ldexp(high, -exponent) - mean
        for i in range(n):
            row[i] = (row[i] - centre) * inverse
        middle[j] = (centre - first) * inverse


@compiled
def count_magnitudes(
    block: FloatArray, weights: FloatArray, bins_per_unit: float, histogram: FloatArray
) -> None:
    """Add the weights of the values of each row of `block` (k, n) up by the bin of |value|.

    `weights` are as in `standardise`. The last column of `histogram` (k, bins + 1), which
    starts as zeros, gets what lies beyond the bins.
    """
    beyond = histogram.shape[1] - 1
    for j in range(block.shape[0]):
        row, shares = block[j], weights[min(j, weights.shape[0] - 1)]
        counts = histogram[j]
        for i in range(row.size):
            scaled = abs(row[i]) * bins_per_unit
            counts[int(scaled) if scaled < beyond else beyond] += shares[i]


@compiled
def _first_feature(z: FloatArray, scale: float, decay: float, out: FloatArray) -> None:
    for i in range(z.size):
        out[i] = scale * _exp(-decay * z[i] * z[i])


@compiled
def _next_feature(
    z: FloatArray, previous: FloatArray, current: FloatArray, up: float, back: float,
    out: FloatArray,
) -> None:  # fmt: skip
    for i in range(z.size):
        out[i] = up * z[i] * current[i] - back * previous[i]


@compiled
def hermite_features(
    block: FloatArray, columns: IntArray, start: int, stop: int, basis: IntArray,
    first: FloatArray, steps: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Evaluate the first N Hermite features of some rows of `block` (k, n).

    `out` is (c, N, at least stop - start), one layer for each of `columns` (c,), and only samples
    `start:stop` are evaluated. `basis[j]` picks the expansion of row j: rows of `first` and
    `steps`, which are those of `HermiteBases`.
    """
    for c in range(columns.size):
        # a slice of a row is known to be contiguous, unlike a slice of the block: it vectorises
        z = block[columns[c]][start:stop]
        s = basis[columns[c]]
        rows = out[c]
        _first_feature(z, first[s, 0], first[s, 1], rows[0])
        if rows.shape[0] > 1:
            _next_feature(z, rows[0], rows[0], steps[s, 0, 0], 0.0, rows[1])
        for m in range(1, rows.shape[0] - 1):
            _next_feature(z, rows[m - 1], rows[m], steps[s, 0, m], steps[s, 1, m], rows[m + 1])


@compiled
def multiply_hermite(
    block: FloatArray, columns: IntArray, basis: IntArray, first: FloatArray, steps: FloatArray,
    target: FloatArray, root: FloatArray, buffer: FloatArray, out: FloatArray, gram: FloatArray,
) -> None:  # fmt: skip
    """Add the products of Hermite features with rows of a target, piece by piece in a cache.

    `block`, `columns`, `basis`, `first` and `steps` are as in `hermite_features`. `target` (runs,
    s, r) holds the rows, cut into runs of samples; `root` (n,), if it has entries, weighs the
    samples; `buffer` has room for the features of a piece. `out` (c, N, r) gets features times
    rows, and `gram` (c, N, N), if it has entries, features times features.
    """
    size = out.shape[1]
    n = block.shape[1]
    n_runs, run, width = target.shape
    step = max(1, buffer.size // (size * run))
    for begin in range(0, columns.size, step):
        end = min(columns.size, begin + step)
        for t in range(n_runs):
            start, stop = t * run, min(n, (t + 1) * run)
            phi = buffer[: (end - begin) * size * (stop - start)].reshape(
                (end - begin, size, stop - start)
            )
            hermite_features(block, columns[begin:end], start, stop, basis, first, steps, phi)
            if root.size > 0:
                for c in range(end - begin):
                    for m in range(size):
                        row = phi[c, m]
                        for i in range(stop - start):
                            row[i] *= root[start + i]
            flat = phi.reshape(((end - begin) * size, stop - start))
            sums = out[begin:end].reshape(((end - begin) * size, width))
            add_product(flat, target[t][: stop - start], sums)  # type: ignore[call-arg]
            for c in range(begin, min(end, gram.shape[0])):
                add_gram(phi[c - begin], gram[c])


@compiled
def table_features(
    block: FloatArray, columns: IntArray, start: int, stop: int, reach: float,
    table: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Look features of each value up in `table` (B, at least N), by cubic interpolation.

    The table covers [-reach, reach]; the other arguments are as in `hermite_features`.
    """
    inverse_step = (table.shape[0] - 1) / (2.0 * reach)
    for c in range(columns.size):
        z = block[columns[c]][start:stop]
        rows = out[c]
        for i in range(z.size):
            position = (z[i] + reach) * inverse_step
            cell = min(max(int(position), 1), table.shape[0] - 3)
            t = position - cell
            w0 = -t * (t - 1.0) * (t - 2.0) / 6.0
            w1 = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0
            w2 = -(t + 1.0) * t * (t - 2.0) / 2.0
            w3 = (t + 1.0) * t * (t - 1.0) / 6.0
            for m in range(rows.shape[0]):
                rows[m, i] = (
                    w0 * table[cell - 1, m]
                    + w1 * table[cell, m]
                    + w2 * table[cell + 1, m]
                    + w3 * table[cell + 2, m]
                )


@compiled
def gaussian_kernel(z: FloatArray, centre: float, out: FloatArray) -> None:
    """Evaluate the Gaussian kernel of width 1 between the values of `z` (n,) and a centre."""
    for i in range(z.size):
        delta = z[i] - centre
        out[i] = _exp(max(-690.0, -0.5 * delta * delta))


@compiled
def _subtract(row: FloatArray, weight: float, earlier: FloatArray) -> None:
    for i in range(row.size):
        row[i] -= weight * earlier[i]


@compiled
def gaussian_cholesky(
    z: FloatArray, weights: FloatArray, allowed: float, factor: FloatArray,
    residual: FloatArray, rank: int,
) -> tuple[int, float]:  # fmt: skip
    """Factor the Gaussian Gram matrix of `z` (n,), as `hsiclasso.kernels.cholesky` does.

    Fills rows of `factor` (max rank, n) after the first `rank`, and goes on from the `residual`
    diagonal (n,), which starts as ones. Returns the rank reached and the trace that is left,
    weighted by `weights` (n,); it exceeds `allowed` only if `factor` was too small.
    """
    left = _weighted_sum(residual, weights)
    while left > allowed and rank < factor.shape[0]:
        pivot = 0
        for i in range(z.size):
            if residual[i] > residual[pivot]:
                pivot = i
        if residual[pivot] <= 0.0:
            break
        row = factor[rank]
        gaussian_kernel(z, z[pivot], row)
        for earlier in range(rank):
            _subtract(row, factor[earlier, pivot], factor[earlier])
        inverse_root = 1.0 / math.sqrt(residual[pivot])
        for i in range(z.size):
            row[i] *= inverse_root
            residual[i] = max(0.0, residual[i] - row[i] * row[i])
        residual[pivot] = 0.0
        left = _weighted_sum(residual, weights)
        rank += 1
    return rank, left


@compiled
def count_pairs_within(values: FloatArray, weights: FloatArray, distance: float) -> float:
    """Count the pairs of sorted `values` that are at most `distance` apart.

    A pair counts by the product of its `weights`; a value is no pair with itself.
    """
    pairs = 0.0
    first = 0
    between = 0.0  # weight of the values from the first up to the last
    for last in range(values.size):
        while values[last] - values[first] > distance:
            between -= weights[first]
            first += 1
        pairs += weights[last] * between
        between += weights[last]
    return pairs


@compiled
def median_of_pairs(values: FloatArray, weights: FloatArray) -> float:
    """Least distance that at least half of the pairs of distinct sorted `values` do not exceed."""
    n_zero = count_pairs_within(values, weights, 0.0)
    low, high = 0.0, values[-1] - values[0]
    n_pairs = count_pairs_within(values, weights, high) - n_zero
    # bisect on the distance until no double lies between the ends
    middle = 0.5 * (low + high)
    while low < middle < high:
        if 2 * (count_pairs_within(values, weights, middle) - n_zero) >= n_pairs:
            high = middle
        else:
            low = middle
        middle = 0.5 * (low + high)
    return float(high)
