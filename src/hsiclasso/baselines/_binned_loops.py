"""Compiled loops of binned mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = [
    "additive_logs",
    "count_information",
    "cut",
    "few_levels",
    "fill_indicators",
    "information_from_counts",
    "sum_logs",
]

CodeArray = npt.NDArray[np.uint8]
CountArray = npt.NDArray[Any]


@compiled
def few_levels(columns: FloatArray, most: int, codes: CodeArray, sizes: IntArray) -> None:
    """Code each column (k, n) by its distinct values, in order, if there are at most `most`.

    The number of values goes to `sizes`; it is 0 if there are more.
    """
    levels = np.empty(most)
    for k in range(len(columns)):
        found = 0
        for value in columns[k]:
            seen = False
            for level in levels[:found]:
                if value == level:
                    seen = True
                    break
            if not seen:
                if found == most:
                    found = 0
                    break
                levels[found] = value
                found += 1
        sizes[k] = found
        if found:
            levels[:found] = np.sort(levels[:found])
            for i, value in enumerate(columns[k]):
                codes[k, i] = np.searchsorted(levels[:found], value)


@compiled
def cut(
    columns: FloatArray, which: IntArray, edges: FloatArray, codes: CodeArray, sizes: IntArray
) -> None:
    """Code columns (k, n) by the edges (k, e), ascending, that their values exceed.

    The codes go to the rows `which`. Empty states are left out.
    """
    n_edges = edges.shape[1]
    for j, k in enumerate(which):
        used = np.zeros(n_edges + 1, dtype=np.uint8)
        for i, value in enumerate(columns[j]):
            state = 0
            for e in range(n_edges):
                state += value > edges[j, e]
            codes[k, i] = state
            used[state] = 1
        names = np.cumsum(used) - used
        for i in range(codes.shape[1]):
            codes[k, i] = names[codes[k, i]]
        sizes[k] = used.sum()


@compiled
def additive_logs(logs: FloatArray, high: float, low: float, out: FloatArray) -> None:
    """Write c log c to `out` (2, n + 1) as two parts, multiples of 1/high and 1/low.

    The parts of log(ab) are exactly those of log(a) plus those of log(b): only the logarithms of
    primes, taken from `logs` (n + 1,), are rounded.
    """
    n = logs.size - 1
    out[:] = 0.0
    for prime in range(2, n + 1):
        if out[0, prime] > 0:  # a smaller number divides it
            continue
        first = np.rint(logs[prime] * high) / high
        second = np.rint((logs[prime] - first) * low) / low
        power = prime
        while power <= n:
            for multiple in range(power, n + 1, power):
                out[0, multiple] += first
                out[1, multiple] += second
            power *= prime
    for count in range(n + 1):
        out[0, count] *= count
        out[1, count] *= count


@compiled
def sum_logs(codes: CodeArray, sizes: IntArray, logs: FloatArray, out: FloatArray) -> None:
    """Sum c log c over the counts c of the states of each column of `codes` (k, n), in two parts.

    `logs` (2, n + 1) is what `additive_logs` writes; `out` has shape (k, 2).
    """
    for k in range(codes.shape[0]):
        counts = np.zeros(sizes[k], dtype=np.int64)
        for code in codes[k]:
            counts[code] += 1
        out[k] = 0.0
        for count in counts:
            out[k, 0] += logs[0, count]
            out[k, 1] += logs[1, count]


@compiled
def _information(counts: CountArray, own: FloatArray, other: FloatArray, logs: FloatArray) -> Any:
    """Mutual information from a table of counts (s, t), and c log c of all c up to n, in two parts.

    `own` and `other` are the sums of c log c over the states of either column. All sums are exact.
    """
    if min(counts.shape) < 2:  # exactly 0, whatever the counts
        return 0.0
    n = logs.shape[1] - 1
    high, low = logs[0, n] - own[0] - other[0], logs[1, n] - own[1] - other[1]
    for a in range(counts.shape[0]):
        for b in range(counts.shape[1]):
            count = np.int64(counts[a, b])
            high += logs[0, count]
            low += logs[1, count]
    return max(high + low, 0.0) / n


@compiled
def count_information(
    codes: CodeArray, sizes: IntArray, own: FloatArray, rows: IntArray, other: CodeArray,
    other_size: int, other_own: FloatArray, logs: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Mutual information of some columns of `codes` (d, n) with one other, by counting.

    `own` (d, 2) and `other_own` (2,) are their sums of c log c.
    """
    n = other.size
    for j, k in enumerate(rows):
        # neighbouring samples often share a state: two tables spare waiting for the last count
        even = np.zeros((sizes[k], other_size), dtype=np.int64)
        odd = np.zeros((sizes[k], other_size), dtype=np.int64)
        column = codes[k]
        for i in range(0, n - 1, 2):
            even[column[i], other[i]] += 1
            odd[column[i + 1], other[i + 1]] += 1
        if n % 2:
            even[column[n - 1], other[n - 1]] += 1
        out[j] = _information(even + odd, own[k], other_own, logs)


@compiled
def fill_indicators(codes: CodeArray, starts: IntArray, out: CountArray) -> None:
    """Put a one into row ``starts[k] + codes[k, i]`` of sample i, for every column k."""
    for k in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            out[starts[k] + codes[k, i], i] = 1.0


@compiled
def information_from_counts(
    counts: CountArray, row_starts: IntArray, row_sizes: IntArray, row_own: FloatArray,
    col_starts: IntArray, col_sizes: IntArray, col_own: FloatArray, logs: FloatArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Mutual information of columns from the counts of all pairs of their states.

    `row_own` and `col_own` are their sums of c log c.
    """
    for j in range(row_starts.size):
        some = counts[row_starts[j] : row_starts[j] + row_sizes[j]]
        for k in range(col_starts.size):
            pair = some[:, col_starts[k] : col_starts[k] + col_sizes[k]]
            out[j, k] = _information(pair, row_own[j], col_own[k], logs)
