"""Compiled loops of half-samples; `tests/dependence/test_loops.py` has a NumPy version of each."""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import summing
from hsiclasso._types import FloatArray, IntArray, SingleArray

__all__ = ["energies_of_halves", "energies_of_pairs", "restrict"]


@summing
def energies_of_halves(
    cross: SingleArray, ones: SingleArray, means: SingleArray, whole: SingleArray,
    left: SingleArray, out: FloatArray,
) -> None:  # fmt: skip
    """Add to `out` (k, 2b) the squared products of centred halves, for pairs of halves.

    `cross` (k, N, b, r + 1) holds the sums of N terms times r rows of the target over the first
    half of each of b pairs; its last column is not read. `ones` (k, N, b) are the sums of the
    terms, and `whole` (k, N, r + 1) both over all samples, those of the terms last. `left`
    (k, N, b, r + 1) is what neither half has; it has no entries if there is nothing. `means`
    (2b, r) are the means of the rows on each half.
    """
    n_rows, n_pairs, width = cross.shape[1], cross.shape[2], means.shape[1]
    for k in range(cross.shape[0]):
        for b in range(n_pairs):
            first, second = means[2 * b], means[2 * b + 1]
            one, two = 0.0, 0.0
            for p in range(n_rows):
                row, every = cross[k, p, b], whole[k, p]
                here = ones[k, p, b]
                there = every[width] - here
                if left.size:
                    there -= left[k, p, b, width]
                for r in range(width):
                    sum_here = row[r]
                    sum_there = every[r] - sum_here
                    if left.size:
                        sum_there -= left[k, p, b, r]
                    a = sum_here - first[r] * here
                    c = sum_there - second[r] * there
                    one += a * a
                    two += c * c
            out[k, 2 * b] += one
            out[k, 2 * b + 1] += two


@summing
def energies_of_pairs(
    products: SingleArray, left: IntArray, right: IntArray, out: FloatArray
) -> None:
    """Write the sums of squares of blocks of `products` to `out` (k, l).

    Block (i, j) has the rows from ``left[i]`` to ``left[i + 1]``, and columns likewise.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.float32(0.0)
            for p in range(left[i], left[i + 1]):
                row = products[p]
                for q in range(right[j], right[j + 1]):
                    total += row[q] * row[q]
            out[i, j] = total


@summing
def restrict(
    stack: SingleArray, places: IntArray, heights: IntArray, samples: IntArray, out: SingleArray
) -> None:
    """Write rows of features on some samples, centred there, to `out`, one below the other.

    ``stack[places[j]]`` has ``heights[j]`` rows.
    """
    into = 0
    for j in range(places.size):
        for p in range(heights[j]):
            row, made = stack[places[j], p], out[into]
            total = np.float32(0.0)
            for i in range(samples.size):
                value = row[samples[i]]
                made[i] = value
                total += value
            mean = total / np.float32(samples.size)
            for i in range(samples.size):
                made[i] -= mean
            into += 1
