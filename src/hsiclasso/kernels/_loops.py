"""Compiled loops of the kernels; `tests/kernels/test_loops.py` has a NumPy version of each.

Arrays are feature-major: each row of (k, n) is a column of the table. A loop over samples is
therefore contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from hsiclasso._compile import compiled, inlined, summing
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels._products import multiply_terms

__all__ = [
    "RUN",
    "bits_as_float",
    "count_magnitudes",
    "count_pairs_within",
    "dot",
    "factor_at_pivots",
    "gaussian_cholesky",
    "gaussian_kernel",
    "hermite_features",
    "median_of_pairs",
    "mixed_kernel",
    "multiply_hermite",
    "standardise",
    "sum_row",
    "table_features",
]

#: Number of samples whose features are computed at once.
RUN = 512
_LOG2_E = 1.4426950408889634
# ln 2 in two parts: k * _LN2_HIGH is exact, because the last bits of _LN2_HIGH are zeros.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@intrinsic
def bits_as_float(_context: Any, bits: Any) -> Any:
    """Reinterpret the bits of an int64 as a float64, or those of an int32 as a float32."""
    number: Any = {types.int64: types.float64, types.int32: types.float32}[bits]

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(number))

    return number(bits), generate


@inlined
def _exp(x: float) -> float:
    """Return exp(x) for -700 < x <= 0, to one unit in the last place, by vectorisable steps."""
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
    return p * bits_as_float((np.int64(k) + 1023) << 52)  # type: ignore[call-arg]


@summing
def sum_row(row: FloatArray) -> float:
    """Sum the entries of a row."""
    total = 0.0
    for i in range(row.size):
        total += row[i]
    return total


@summing
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of two rows."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
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
    """Scale each row of `block` (k, n) to standard deviation 1 (divisor n), its range centred on 0.

    `weights` of the values have shape (k, n), or (1, n) if they are the same for all rows.
    `lowest` and `highest` (k,) are the extremes of the rows. `std` (k,) receives the deviations.
    `middle` (k,) receives the middle of the range minus the mean, in deviations. Rows that do not
    vary become zeros, with `std` 0.
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
        if abs(exponent) > 300:  # squares would overflow or underflow
            for i in range(n):
                row[i] = math.ldexp(row[i], -exponent)
        else:
            exponent = 0
        total = sum_row(shares)
        mean = dot(row, shares) / total
        for i in range(n):
            row[i] -= mean
        # the first moment corrects the rounding error of the mean
        first = dot(row, shares) / total
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
    """Add the weight of each value of `block` (k, n) to the bin of its magnitude.

    `weights` are as in `standardise`. `histogram` (k, bins + 1) must contain zeros before. Its last
    column receives the weight of the values beyond the bins.
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

    Only samples `start:stop` are evaluated. `out` has shape (c, N, at least stop - start), with one
    layer for each of `columns` (c,). `basis[j]` is the basis of row j of `block`; `first` and
    `steps` are the coefficients of `HermiteBases`.
    """
    for c in range(columns.size):
        # slice the row, not the block: the compiler then knows that it is contiguous
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
    target: FloatArray, root: FloatArray, out: FloatArray, gram: FloatArray,
) -> None:  # fmt: skip
    """Add the products of Hermite features with rows of a target.

    `block`, `columns`, `basis`, `first` and `steps` are as in `hermite_features`. The other
    arguments are the fields of `Product`. The features are computed in runs that fit in the cache.
    """
    n = block.shape[1]
    phi = np.empty((1, out.shape[1], min(n, RUN)))
    for c in range(columns.size):
        for start in range(0, n, RUN):
            stop = min(n, start + RUN)
            hermite_features(block, columns[c : c + 1], start, stop, basis, first, steps, phi)
            if root.size > 0:
                weights = root[start:stop]
                for m in range(out.shape[1]):
                    row = phi[0, m]
                    for i in range(weights.size):
                        row[i] *= weights[i]
            multiply_terms(phi, stop - start, target, start, out[c : c + 1], gram[c : c + 1])


@compiled
def table_features(
    block: FloatArray, columns: IntArray, start: int, stop: int, reach: float,
    table: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Interpolate the features of each value in `table` (B, at least N) by cubic polynomials.

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
    """Evaluate the Gaussian kernel of width 1 between the values of `z` (n,) and `centre`."""
    for i in range(z.size):
        delta = z[i] - centre
        out[i] = _exp(max(-690.0, -0.5 * delta * delta))


@compiled
def mixed_kernel(z: FloatArray, centre: float, inverse: FloatArray, out: FloatArray) -> None:
    """Evaluate the mean of Gaussian kernels, whose widths are 1 / `inverse` (w,), as above."""
    factor = -0.5 * inverse[0] * inverse[0]
    for i in range(z.size):
        delta = z[i] - centre
        out[i] = _exp(max(-690.0, factor * delta * delta))
    if inverse.size == 1:
        return
    for k in range(1, inverse.size):
        factor = -0.5 * inverse[k] * inverse[k]
        for i in range(z.size):
            delta = z[i] - centre
            out[i] += _exp(max(-690.0, factor * delta * delta))
    share = 1.0 / inverse.size
    for i in range(z.size):
        out[i] *= share


@compiled
def _subtract(row: FloatArray, weight: float, earlier: FloatArray) -> None:
    for i in range(row.size):
        row[i] -= weight * earlier[i]


@compiled
def gaussian_cholesky(
    z: FloatArray, inverse: FloatArray, weights: FloatArray, allowed: float, factor: FloatArray,
    residual: FloatArray, pivots: IntArray, rank: int,
) -> tuple[int, float]:  # fmt: skip
    """Factor the Gaussian Gram matrix of `z` (n,), as `hsiclasso.kernels.cholesky` does.

    The kernel is the mean of those with the widths 1 / `inverse` (w,).
    The first `rank` rows of `factor` (max rank, n), and their `pivots` (max rank,), are known; the
    loop fills the next ones and updates the `residual` diagonal (n,), which is 1 for rank 0.
    Returns the rank reached and the trace of the residual, weighted by `weights` (n,). The trace
    exceeds `allowed` only if `factor` has too few rows.
    """
    left_out = dot(residual, weights)
    while left_out > allowed and rank < factor.shape[0]:
        pivot = 0
        for i in range(z.size):
            if residual[i] > residual[pivot]:
                pivot = i
        if residual[pivot] <= 0.0:
            break
        pivots[rank] = pivot
        row = factor[rank]
        mixed_kernel(z, z[pivot], inverse, row)
        for earlier in range(rank):
            _subtract(row, factor[earlier, pivot], factor[earlier])
        _normalise_row(row, 1.0 / math.sqrt(residual[pivot]), residual)
        residual[pivot] = 0.0
        left_out = dot(residual, weights)
        rank += 1
    return rank, left_out


@compiled
def _normalise_row(row: FloatArray, inverse: float, residual: FloatArray) -> None:
    """Scale a new row of a factor, and take its squares from the residual diagonal."""
    for i in range(row.size):
        row[i] *= inverse
        residual[i] = max(0.0, residual[i] - row[i] * row[i])


@compiled
def factor_at_pivots(
    z: FloatArray, inverse: FloatArray, weights: FloatArray, centres: FloatArray,
    lower: FloatArray, factor: FloatArray,
) -> float:  # fmt: skip
    """Fill the rows of a Cholesky factor (r, n) whose pivots are known, run by run.

    The kernel is that of `inverse` (w,). `centres` (r,) are the values of the pivots, and
    ``lower.T`` (r, r) is the factor at the pivots. Returns the trace of the residual, weighted by
    `weights` (n,).
    """
    left_out = 0.0
    residual = np.empty(RUN)
    for start in range(0, z.size, RUN):
        stop = min(z.size, start + RUN)
        left = residual[: stop - start]
        left[:] = 1.0
        for m in range(centres.size):
            row = factor[m][start:stop]
            mixed_kernel(z[start:stop], centres[m], inverse, row)
            for earlier in range(m):
                _subtract(row, lower[m, earlier], factor[earlier][start:stop])
            _normalise_row(row, 1.0 / lower[m, m], left)
        left_out += dot(left, weights[start:stop])
    return left_out


@compiled
def count_pairs_within(values: FloatArray, weights: FloatArray, distance: float) -> float:
    """Count the pairs of sorted `values` that are at most `distance` apart.

    A pair counts as the product of its `weights`. A value does not form a pair with itself.
    """
    pairs = 0.0
    first = 0
    between = 0.0  # total weight of values[first:last]
    for last in range(values.size):
        while values[last] - values[first] > distance:
            between -= weights[first]
            first += 1
        pairs += weights[last] * between
        between += weights[last]
    return pairs


@compiled
def median_of_pairs(values: FloatArray, weights: FloatArray) -> float:
    """Return the median distance of the pairs of distinct sorted `values`."""
    n_zero = count_pairs_within(values, weights, 0.0)
    low, high = 0.0, values[-1] - values[0]
    n_pairs = count_pairs_within(values, weights, high) - n_zero
    # bisect until no floating-point number lies between the ends
    middle = 0.5 * (low + high)
    while low < middle < high:
        if 2 * (count_pairs_within(values, weights, middle) - n_zero) >= n_pairs:
            high = middle
        else:
            low = middle
        middle = 0.5 * (low + high)
    return float(high)
