"""Compiled loops of the embedding station; `tests/embedding` has a NumPy twin of each.

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

__all__ = [
    "choose_features",
    "count_pairs_within",
    "features_needed",
    "gaussian_kernel",
    "hermite_features",
    "median_of_pairs",
    "pivoted_cholesky",
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
    if weights.size == 0:
        return sum_row(row)
    total = 0.0
    for i in range(row.size):
        total += weights[i] * row[i]
    return total


@summing
def _weighted_squares(row: FloatArray, weights: FloatArray) -> float:
    total = 0.0
    if weights.size == 0:
        for i in range(row.size):
            total += row[i] * row[i]
    else:
        for i in range(row.size):
            total += weights[i] * row[i] * row[i]
    return total


@summing
def standardise(
    block: FloatArray, weights: FloatArray, total: float, lowest: FloatArray,
    highest: FloatArray, std: FloatArray, middle: FloatArray,
) -> None:  # fmt: skip
    """Scale each row of `block` (k, n) to unit deviation (divisor n), its range centred on 0.

    `weights` (n,) of samples sum to `total`; without entries they are ones. `lowest` and
    `highest` (k,) are the extremes of the rows; deviations go to `std` (k,), and the middle of
    the range, in deviations from the mean, to `middle` (k,). Rows that do not vary become
    zeros, with `std` 0. Kernels of differences do not see shifts, and the smaller the largest
    magnitude, the fewer features a column needs.
    """
    k, n = block.shape
    for j in range(k):
        row = block[j]
        low = lowest[j]
        high = highest[j]
        if low == high:
            row[:] = 0.0
            std[j] = 0.0
            middle[j] = 0.0
            continue
        exponent = math.frexp(max(-low, high))[1]
        if abs(exponent) > 300:  # squares would overflow or vanish
            for i in range(n):
                row[i] = math.ldexp(row[i], -exponent)
        else:
            exponent = 0
        mean = _weighted_sum(row, weights) / total
        for i in range(n):
            row[i] -= mean
        first = _weighted_sum(row, weights) / total
        second = _weighted_squares(row, weights) / total
        # The first moment corrects for the rounding of the mean.
        deviation = math.sqrt(max(0.0, second - first * first))
        std[j] = math.ldexp(deviation, exponent)
        inverse = 1.0 / deviation
        centre = 0.5 * math.ldexp(low, -exponent) + 0.5 * math.ldexp(high, -exponent) - mean
        for i in range(n):
            row[i] = (row[i] - centre) * inverse
        middle[j] = (centre - first) * inverse


@summing
def _left_out(histogram: FloatArray, residual: FloatArray) -> float:
    """Bound on the trace that an expansion leaves out of a column."""
    total = 0.0
    for b in range(histogram.size):
        total += histogram[b] * residual[b]
    return total


@compiled
def features_needed(histogram: FloatArray, residual: FloatArray, allowed: float) -> int:
    """Least number of features that leave out at most `allowed`, or one more than there are.

    `histogram` may stop at the last bin that is not empty. `residual` (N, n_bins) falls with
    the number of features, so that bisection finds it.
    """
    few = 0
    many = residual.shape[0] + 1
    while many - few > 1:
        middle = (few + many) // 2
        if _left_out(histogram, residual[middle - 1]) <= allowed:
            many = middle
        else:
            few = middle
    return int(many)


@compiled
def choose_features(
    block: FloatArray, weights: FloatArray, bins_per_unit: float, residual: FloatArray,
    allowed: float, bulk_allowed: float, basis: IntArray, counts: IntArray, bulk: IntArray,
) -> None:  # fmt: skip
    """Choose for each row of `block` (k, n) the basis that needs the fewest features.

    `weights` (n,) of values are ones if there are none. `residual` (n_bases, N, n_bins) bounds
    what is left out of a value by the bin of its magnitude; `allowed` and `bulk_allowed` bound
    the sums over a row. `counts` is 0 where a value lies beyond the last bin or N features do
    not suffice.
    """
    n_bases, most, n_bins = residual.shape
    for j in range(block.shape[0]):
        histogram = np.zeros(n_bins + 1)
        for i in range(block.shape[1]):
            scaled = abs(block[j, i]) * bins_per_unit
            weight = weights[i] if weights.size > 0 else 1.0
            histogram[int(scaled) if scaled < n_bins else n_bins] += weight
        beyond = histogram[n_bins] > 0.0
        used = n_bins
        while used > 1 and histogram[used - 1] == 0.0:
            used -= 1
        histogram = histogram[:used]
        counts[j] = most + 1
        bulk[j] = most + 1
        for s in range(n_bases):
            needed = features_needed(histogram, residual[s], allowed)
            if needed < counts[j]:
                counts[j] = needed
                basis[j] = s
            bulk[j] = min(bulk[j], features_needed(histogram, residual[s], bulk_allowed))
        if counts[j] > most or beyond:
            counts[j] = 0


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
    block: FloatArray, start: int, stop: int, basis: IntArray, counts: IntArray,
    scale: FloatArray, decay: FloatArray, up: FloatArray, back: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Evaluate the first `counts[j]` Hermite features of row j, stacked row by row in `out`.

    Only samples `start:stop` are evaluated; rows of `out` may be longer. `basis[j]` picks the
    expansion (row of `scale`, `decay`, `up`, `back`) of row j.
    """
    first = 0
    for j in range(block.shape[0]):
        # a slice of a row is known to be contiguous, unlike a slice of the block: it vectorises
        z = block[j][start:stop]
        s = basis[j]
        _first_feature(z, scale[s], decay[s], out[first])
        if counts[j] > 1:
            _next_feature(z, out[first], out[first], up[s, 0], 0.0, out[first + 1])
        for m in range(1, counts[j] - 1):
            row = first + m
            _next_feature(z, out[row - 1], out[row], up[s, m], back[s, m], out[row + 1])
        first += counts[j]


@compiled
def table_features(
    block: FloatArray, start: int, stop: int, counts: IntArray, reach: float,
    table: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Look `counts[j]` features of each value of row j up in `table` (B, N): cubic interpolation.

    The table covers [-reach, reach]; samples and `out` are as in `hermite_features`.
    """
    inverse_step = (table.shape[0] - 1) / (2.0 * reach)
    first = 0
    for j in range(block.shape[0]):
        z = block[j][start:stop]
        for i in range(z.size):
            position = (z[i] + reach) * inverse_step
            cell = min(max(int(position), 1), table.shape[0] - 3)
            t = position - cell
            w0 = -t * (t - 1.0) * (t - 2.0) / 6.0
            w1 = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0
            w2 = -(t + 1.0) * t * (t - 2.0) / 2.0
            w3 = (t + 1.0) * t * (t - 1.0) / 6.0
            for m in range(counts[j]):
                out[first + m, i] = (
                    w0 * table[cell - 1, m]
                    + w1 * table[cell, m]
                    + w2 * table[cell + 1, m]
                    + w3 * table[cell + 2, m]
                )
        first += counts[j]


@compiled
def _subtract(row: FloatArray, weight: float, earlier: FloatArray) -> None:
    for i in range(row.size):
        row[i] -= weight * earlier[i]


@compiled
def gaussian_kernel(z: FloatArray, centre: float, out: FloatArray) -> None:
    """Evaluate the Gaussian kernel of width 1 between the values of `z` (n,) and a centre."""
    for i in range(z.size):
        delta = z[i] - centre
        out[i] = _exp(max(-690.0, -0.5 * delta * delta))


@compiled
def pivoted_cholesky(
    z: FloatArray, weights: FloatArray, allowed: float, factor: FloatArray,
    residual: FloatArray, rank: int,
) -> tuple[int, float]:  # fmt: skip
    """Factor the Gaussian Gram matrix of `z` until the weighted trace of the rest is `allowed`.

    Fills rows of `factor` (max rank, n), whose outer products sum to the Gram matrix, after
    the first `rank`, and goes on from the `residual` diagonal (n,), which starts as ones.
    Returns the rank reached and the trace that is left, weighted by `weights` (n,); it exceeds
    `allowed` only if `factor` was too small.
    """
    n = z.size
    left = 0.0
    for i in range(n):
        left += weights[i] * residual[i]
    while left > allowed and rank < factor.shape[0]:
        pivot = np.argmax(residual)
        if residual[pivot] <= 0.0:
            break
        row = factor[rank]
        gaussian_kernel(z, z[pivot], row)
        for earlier in range(rank):
            _subtract(row, factor[earlier, pivot], factor[earlier])
        inverse_root = 1.0 / math.sqrt(residual[pivot])
        left = 0.0
        for i in range(n):
            row[i] *= inverse_root
            residual[i] = max(0.0, residual[i] - row[i] * row[i])
        residual[pivot] = 0.0
        for i in range(n):
            left += weights[i] * residual[i]
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
