"""Compiled loops of the Laplace kernel; `tests/kernels/test_recursions.py` has NumPy versions.

Indices are unsigned 32-bit integers: they need half the memory traffic, and the loops need not
test for negative indices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray
from hsiclasso.kernels._loops import _exp

__all__ = ["multiply_rows", "sum_energies", "sum_over_pairs"]

IndexArray = npt.NDArray[np.uint32]

# Number of samples in a block, whose pairs are summed one by one; other sizes were slower.
_BLOCK = 8
# Smallest exponent. exp(-300) is 1e-130: far below rounding error, but not a slow denormal number.
_FLOOR = -300.0


@compiled
def _gather(source: FloatArray, index: IndexArray, out: FloatArray) -> None:
    for i in range(index.size):
        out[i] = source[index[i]]


@compiled
def _sweep(decay: FloatArray, row: FloatArray, from_left: FloatArray, out: FloatArray) -> None:
    """Multiply a row in sorted order by K: sums over the samples on the left and on the right.

    Both recursions run in one loop, because one alone would have to wait for its previous step.
    """
    n = row.size
    left = 0.0
    right = 0.0
    for i in range(n):
        left = decay[i] * left + row[i]
        from_left[i] = left
        k = n - 1 - i
        right = decay[k + 1] * right + row[k]
        out[k] = right - row[k]
    for i in range(n):
        out[i] += from_left[i]


@compiled
def multiply_rows(
    order: IndexArray, position: IndexArray, decay: FloatArray, rows: FloatArray, out: FloatArray
) -> None:
    """Write ``rows @ K`` to `out` (r, n).

    `order` sorts the column, and `position` is the inverse permutation. `decay` (n + 1,) holds
    :math:`e^{-gap}` for the gap before each sorted value, and zeros at both ends.
    """
    n = order.size
    row = np.empty(n)
    from_left = np.empty(n)
    product = np.empty(n)
    for r in range(rows.shape[0]):
        _gather(rows[r], order, row)
        _sweep(decay, row, from_left, product)
        _gather(product, position, out[r])  # scattering takes twice as long


@compiled
def _sum_within_blocks(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """Sum over the pairs i < j within each block of samples; `x` is sorted."""
    n = x.size
    sums = np.zeros(_BLOCK)  # one sum for each place in a block lets the inner loop vectorise
    for start in range(0, n, _BLOCK):
        for i in range(start + 1, min(start + _BLOCK, n)):
            for j in range(start, i):
                exponent = x[j] - x[i] - abs(y[j] - y[i])
                sums[j - start] += weights[i] * weights[j] * _exp(max(_FLOOR, exponent))
    return float(sums.sum())


@compiled
def _decay_to(split: float, x: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    for i in range(x.size):
        out[i] = weights[i] * _exp(max(_FLOOR, -abs(x[i] - split)))


@compiled
def _decay_from_last(y: FloatArray, out: FloatArray) -> None:
    for i in range(1, y.size):
        out[i] = _exp(max(_FLOOR, y[i - 1] - y[i]))


@compiled
def sum_energies(
    z: FloatArray, order: npt.NDArray[np.int64], root: FloatArray, rows: FloatArray, out: FloatArray
) -> None:
    """Add ``f' B f`` to `out` (r,) for each column f of `rows` (n, r), with B = root K root.

    `order` sorts the column `z` (n,). By symmetry one sweep is enough: every sample meets the sum
    over the samples on its left.
    """
    n, width = rows.shape
    values = np.empty(n)
    decay = np.zeros(n)
    for i in range(n):
        values[i] = z[order[i]]
    _decay_from_last(values, decay)
    left = np.zeros(width)
    for i in range(n):
        row, weight, share = rows[order[i]], root[order[i]], decay[i]
        for r in range(width):
            value = weight * row[r]
            before = share * left[r]
            out[r] += value * (value + 2.0 * before)
            left[r] = before + value


@compiled
def _split(
    start: int, stop: int, middle: int, values: FloatArray, decay: FloatArray,
    ranks: IndexArray, y: FloatArray, new_ranks: IndexArray, new_y: FloatArray,
) -> float:  # fmt: skip
    """Sum over the pairs that `middle` separates, and move ranks below `middle` to the front.

    Samples `start:stop` are in order of y, and both sides keep this order. `values` are the
    weights of the samples times their decay to the split, by rank in x.
    """
    total = 0.0
    left = 0.0
    right = 0.0
    n_left = 0
    for k in range(start, stop):
        rank = ranks[k]
        value = values[rank]
        # conditional values, not branches: the sides alternate at random
        is_left = rank < middle
        to_left = value if is_left else 0.0
        to_right = 0.0 if is_left else value
        left = decay[k] * left + to_left
        right = decay[k] * right + to_right
        total += to_left * right + to_right * left
        place = start + n_left if is_left else middle + (k - start) - n_left
        new_ranks[place] = rank
        new_y[place] = y[k]
        n_left += is_left
    return total


@compiled
def sum_over_pairs(
    x: FloatArray, y: FloatArray, weights: FloatArray, ranks: IndexArray, sorted_y: FloatArray
) -> float:
    """Sum over the pairs i < j of ``w_i w_j exp(-|x_i - x_j| - |y_i - y_j|)``.

    `x` is sorted. ``y[ranks]`` is `sorted_y`; `ranks` and `sorted_y` are overwritten.
    """
    n = x.size
    total = _sum_within_blocks(x, y, weights)
    values = np.empty(n)
    decay = np.zeros(n)
    new_ranks = np.empty_like(ranks)
    new_y = np.empty(n)
    size = _BLOCK
    while size < n:
        size *= 2
    while size > _BLOCK:
        # the decay from one part into the next is not used: every sweep starts from zeros
        _decay_from_last(sorted_y, decay)
        for start in range(0, n, size):  # a part: samples that are adjacent in x
            stop = min(start + size, n)
            middle = min(start + size // 2, stop)
            _decay_to(x[min(middle, n - 1)], x[start:stop], weights[start:stop], values[start:stop])
            total += _split(start, stop, middle, values, decay, ranks, sorted_y, new_ranks, new_y)
        ranks, new_ranks = new_ranks, ranks
        sorted_y, new_y = new_y, sorted_y
        size //= 2
    return total
