"""Compiled loops for columns of few levels; `tests/dependence` has a NumPy twin of each.

The features of such a column depend on the level only, so that sums of rows over the samples of
each level are all there is to know about it. They are found a few samples at a time (the method
of four Russians): a table holds the sums over every subset of the samples, and the subset at
some level is a number whose bits say which samples those are. One look-up then stands for as
many additions as there are samples.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from hsiclasso._compile import compiled, summing
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.dependence._loops import shrunk_energy
from hsiclasso.embedding.samples import NOTHING

__all__ = ["DELTA", "GAUSSIAN", "INDICATOR", "relate_levels", "sum_levels", "sum_three_levels"]

#: Kernels of `relate_levels`: of the standardised column, 1/n_x on equal levels, 1 on equal levels.
GAUSSIAN, DELTA, INDICATOR = 0, 1, 2

CodeArray = npt.NDArray[np.uint8]

#: Rows that are summed together, in vector registers.
_LANES = 8
#: Tables that are looked up together, so that a sum is loaded and stored once for all of them.
_GROUPS = 4
#: Most samples to a table: four tables of 2^7 entries fill a level-one cache.
_BITS = 7
#: Sums that are in progress at once, in units of `_LANES`: a megabyte, for a level-two cache.
_SUMS = 16384
#: Up to so many levels, subsets are faster than adding up sample by sample.
_FEW = 8
#: Columns that are added up together sample by sample.
_COLUMNS = 128
#: Samples whose sum is found before it is added to the others', against rounding.
_RUN = 2048

_EPS = 2.220446049250313e-16


@intrinsic
def _add_entries(_context: Any, sums: Any, at: Any, table: Any, starts: Any) -> Any:
    """Add ``table[start : start + 8]`` of all `starts` to ``sums[at : at + 8]``, as vectors.

    Both arrays are flat, `starts` is a tuple of int64. A loop would not do: the compiler
    unrolls loops over eight before it makes vectors.
    """
    signature = types.void(sums, types.int64, table, starts)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), _LANES).as_pointer()

        def pointer(which: int, start: Any) -> Any:
            array = context.make_array(signature.args[which])(context, builder, args[which])
            return builder.bitcast(builder.gep(array.data, [start]), vector)

        target = pointer(0, args[1])
        total = builder.load(target, align=8)
        for start in range(len(starts)):
            entry = pointer(2, builder.extract_value(args[3], start))
            total = builder.fadd(total, builder.load(entry, align=8))
        builder.store(total, target, align=8)
        return context.get_dummy_value()

    return signature, generate


@compiled
def _zeros(size: int) -> FloatArray:
    """Flat zeros that begin at a cache line, so that no entry of eight straddles two."""
    padded = np.zeros(size + _LANES)
    first = -(padded.ctypes.data // 8) % _LANES
    return padded[first : first + size]


@compiled
def _fill_tables(rows: FloatArray, first: int, bits: int, tables: FloatArray) -> None:
    """Sums over the subsets of samples from `first` on: `tables` (blocks, groups, 2^bits * 8)."""
    n = rows.shape[1]
    tables[:] = 0.0
    for block in range(tables.shape[0]):
        some = rows[block * _LANES : (block + 1) * _LANES]
        for group in range(tables.shape[1]):
            table = tables[block, group]
            for bit in range(min(bits, n - first - group * bits)):
                alone = _LANES << bit
                for lane in range(some.shape[0]):
                    table[alone + lane] = some[lane, first + group * bits + bit]
                for subset in range(_LANES, alone, _LANES):
                    _add_entries(table, alone + subset, table, (alone, subset))  # type: ignore[call-arg]


@compiled
def _find_subsets(
    codes: CodeArray, start: int, first: int, bits: int, lowest: int, subsets: CodeArray
) -> None:
    """Which samples are at which level: `subsets` (levels, groups, columns) as bits.

    `start` and `first` are the first column and sample, `lowest` the first level.
    """
    n_levels, n_groups, width = subsets.shape
    for level in range(n_levels):
        code = np.uint8(lowest + level)
        for group in range(n_groups):
            found = subsets[level, group]
            found[:] = 0
            for bit in range(bits):
                sample = first + group * bits + bit
                if sample < codes.shape[0]:
                    # a slice of a row, unlike a slice of the block, is known to be contiguous
                    row = codes[sample][start : start + width]
                    flag = np.uint8(1 << bit)
                    for c in range(width):
                        found[c] |= flag if row[c] == code else np.uint8(0)


@compiled
def _look_up(table: FloatArray, bits: int, subsets: CodeArray, sums: FloatArray) -> None:
    """Add to `sums` (columns * 8) the entries of four tables, flat one after the other."""
    step = _LANES << bits
    one, two, three, four = subsets[0], subsets[1], subsets[2], subsets[3]
    for c in range(one.size):
        _add_entries(
            sums, _LANES * c, table,
            (
                _LANES * one[c], step + _LANES * two[c],
                2 * step + _LANES * three[c], 3 * step + _LANES * four[c],
            ),
        )  # type: ignore[call-arg]  # fmt: skip


@compiled
def _move(sums: FloatArray, out: FloatArray) -> None:
    """Add `sums` (blocks, k * 8) to `out` (k, v), and begin again with zeros."""
    for c in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[c, r] += sums[r // _LANES, _LANES * c + r % _LANES]
    sums[:] = 0.0


@compiled
def _sum_by_subsets(codes: CodeArray, rows: FloatArray, lowest: int, out: FloatArray) -> None:
    """Sums at levels from `lowest` on, by tables of sums over subsets of samples."""
    n, k = codes.shape
    n_levels, n_rows = out.shape[1:]
    blocks = -(-n_rows // _LANES)
    tiles = max(1, -(-k * n_levels * blocks // _SUMS))
    most = max(1, -(-k // tiles))
    bits = 1  # a table is worth its making if its entries are few beside its look-ups
    while bits < _BITS and (16 << bits) <= n_levels * most:
        bits += 1
    run = _RUN // (_GROUPS * bits) * (_GROUPS * bits)
    out[:] = 0.0
    tables = _zeros(blocks * _GROUPS * _LANES << bits).reshape((blocks, _GROUPS, _LANES << bits))
    for start in range(0, k, most):
        width = min(most, k - start)
        sums = _zeros(blocks * n_levels * width * _LANES).reshape(
            (blocks, n_levels, width * _LANES)
        )
        subsets = np.empty((n_levels, _GROUPS, width), dtype=np.uint8)
        for begin in range(0, n, run):
            for first in range(begin, min(n, begin + run), _GROUPS * bits):
                _fill_tables(rows, first, bits, tables)
                _find_subsets(codes, start, first, bits, lowest, subsets)
                for block in range(blocks):
                    table = tables[block].reshape(-1)
                    for level in range(n_levels):
                        _look_up(table, bits, subsets[level], sums[block, level])
            for level in range(n_levels):
                _move(sums[:, level], out[start : start + width, level])


@compiled
def _by_sample(rows: FloatArray) -> FloatArray:
    """Rows (v, n) in blocks of eight, sample by sample: (blocks, n * 8)."""
    v, n = rows.shape
    blocks = -(-v // _LANES)
    out = _zeros(blocks * n * _LANES).reshape((blocks, n * _LANES))
    for r in range(v):
        for i in range(n):
            out[r // _LANES, _LANES * i + r % _LANES] = rows[r, i]
    return out


@compiled
def _sum_by_samples(codes: CodeArray, rows: FloatArray, out: FloatArray) -> None:
    """Sums at all levels, sample by sample."""
    n, k = codes.shape
    n_levels, n_rows = out.shape[1:]
    out[:] = 0.0
    by_sample = _by_sample(rows)
    blocks = by_sample.shape[0]
    for start in range(0, k, _COLUMNS):
        width = min(_COLUMNS, k - start)
        per_block = width * n_levels * _LANES
        sums = _zeros(blocks * per_block).reshape((blocks, per_block))
        for begin in range(0, n, _RUN):
            for block in range(blocks):
                for i in range(begin, min(n, begin + _RUN)):
                    row = codes[i][start : start + width]
                    for c in range(width):
                        _add_entries(
                            sums[block], _LANES * (c * n_levels + row[c]),
                            by_sample[block], (_LANES * i,),
                        )  # type: ignore[call-arg]  # fmt: skip
            _move(sums, out[start : start + width].reshape((width * n_levels, n_rows)))


@compiled
def sum_three_levels(codes: CodeArray, rows: FloatArray, out: FloatArray) -> None:
    """Sum rows over the samples of level 1, and over those of level 2, of each column.

    Sums at level 0 are what is left of the totals.

    Parameters
    ----------
    codes : (n, k) levels 0, 1 and 2, contiguous along a sample
    rows : (v, n) what is summed
    out : (k, 2, v) results, C-contiguous
    """
    _sum_by_subsets(codes, rows, 1, out)


@compiled
def sum_levels(codes: CodeArray, rows: FloatArray, n_levels: int, out: FloatArray) -> None:
    """Sum rows over the samples of each level of each column.

    Parameters
    ----------
    codes : (n, k) levels, all below `n_levels` (not checked), contiguous along a sample
    rows : (v, n) what is summed
    n_levels : number of levels
    out : (k, n_levels, v) results, C-contiguous
    """
    if n_levels <= _FEW:
        _sum_by_subsets(codes, rows, 0, out)
    else:
        _sum_by_samples(codes, rows, out)


@compiled
def _weigh_kernel(
    counts: FloatArray, values: FloatArray, size: int, kernel: int, width: float,
    share: float, out: FloatArray,
) -> None:  # fmt: skip
    """Kernel of the first `size` levels, times the roots of both counts."""
    if kernel != GAUSSIAN:
        for i in range(size):
            out[i, :size] = 0.0
            out[i, i] = share if kernel == DELTA else counts[i]
        return
    total = 0.0
    for i in range(size):
        total += counts[i]
    mean = 0.0
    for i in range(size):
        mean += counts[i] * values[i] / total
    variance = 0.0
    for i in range(size):
        variance += counts[i] * (values[i] - mean) ** 2 / total
    decay = 0.5 / (variance * width * width) if variance > 0.0 else 0.0
    for i in range(size):
        out[i, i] = counts[i]
        for j in range(i):
            likeness = math.exp(-decay * (values[i] - values[j]) ** 2)
            out[i, j] = out[j, i] = math.sqrt(counts[i] * counts[j]) * likeness


@summing
def _energy(kernel: FloatArray, sums: FloatArray, signs: FloatArray, size: int) -> float:
    """Signed squared norms of the rows' features: sums over pairs of levels."""
    energy = 0.0
    for i in range(size):
        for j in range(i + 1):
            if kernel[i, j] != 0.0:
                product = 0.0
                for r in range(signs.size):
                    product += signs[r] * sums[i, r] * sums[j, r]
                energy += (1.0 if i == j else 2.0) * kernel[i, j] * product
    return energy


@compiled
def _argmax(values: FloatArray, size: int) -> int:
    """Where the largest of the first `size` values is."""
    best = 0
    for i in range(1, size):
        if values[i] > values[best]:
            best = i
    return best


@compiled
def _factorise(kernel: FloatArray, size: int, factor: FloatArray, residual: FloatArray) -> int:
    """Rank of `kernel` (size, size), and as many rows whose outer products sum to it."""
    for i in range(size):
        residual[i] = kernel[i, i]
    allowed = size * _EPS * residual[_argmax(residual, size)]
    for rank in range(size):
        pivot = _argmax(residual, size)
        if residual[pivot] <= allowed:
            return rank
        row = factor[rank]
        for i in range(size):
            row[i] = kernel[pivot, i]
        for earlier in range(rank):
            weight = factor[earlier, pivot]
            if weight != 0.0:
                for i in range(size):
                    row[i] -= weight * factor[earlier, i]
        inverse_root = 1.0 / math.sqrt(residual[pivot])
        for i in range(size):
            row[i] *= inverse_root
            residual[i] -= row[i] * row[i]
        residual[pivot] = 0.0
    return size


@summing
def _project(
    factor: FloatArray, sums: FloatArray, size: int, rank: int, n_target: int,
    cross: FloatArray, gram: FloatArray,
) -> None:  # fmt: skip
    """Features times all rows, and the lower half of the features' projected Gram matrix."""
    n_rows = sums.shape[1]
    for i in range(rank):
        cross[i] = 0.0
        for level in range(size):
            weight = factor[i, level]
            if weight != 0.0:
                for r in range(n_rows):
                    cross[i, r] += weight * sums[level, r]
        for j in range(i + 1):
            product = 0.0
            for level in range(size):
                product += factor[i, level] * factor[j, level]
            for r in range(n_target, n_rows):
                product -= cross[i, r] * cross[j, r]
            gram[i, j] = product


@summing
def _norm(gram: FloatArray, size: int) -> float:
    """Frobenius norm of a symmetric matrix, given its lower half."""
    total = 0.0
    for i in range(size):
        for j in range(i):
            total += 2.0 * gram[i, j] * gram[i, j]
        total += gram[i, i] * gram[i, i]
    return math.sqrt(total)


@compiled
def relate_levels(
    sums: FloatArray, counts: FloatArray, values: FloatArray, signs: FloatArray,
    kernel: int, width: float, observed: FloatArray, ridge: FloatArray, normalised: bool,
    relevance: FloatArray, varies: BoolArray,
) -> None:  # fmt: skip
    """Relate columns of few levels to the target, given sums of rows at each level.

    With level features Phi, where Phi' Phi is the kernel matrix of the levels, the relevance is
    sum_r sign_r |Phi s_r|^2 for HSIC; normalised HSIC divides by the Frobenius norm of
    G = Phi diag(counts) Phi' - C C', where C = Phi times the sums of the removed rows; NOCCO
    is sum_r sign_r (Phi s_r)' (G + ridge I)^-1 (Phi s_r).

    Parameters
    ----------
    sums : (k, L, R + q) sums of the R rows of the target, then of the q removed directions,
        which are orthonormal to each other and to the target
    counts : (k, L) weight of the samples at each level; levels without any are passed over
    values : (k, L) what each level stands for
    signs : (R,) signs of the target's rows
    kernel : `GAUSSIAN` of the standardised column, `DELTA` or `INDICATOR`
    width : width of the Gaussian
    observed : (k,) share of the samples that are at any level, the others being missing
    ridge, normalised : the measure; (k,) ridges
    relevance, varies : (k,) results: <A_k, T>, and whether there are two levels or more
    """
    k, most, n_rows = sums.shape
    # Sums are divided, and kernels multiplied, by the roots of counts: what is left out of the
    # factor is then small beside the n x n matrix, however the counts may differ.
    scaled, cross = np.empty((most, n_rows)), np.empty((most, n_rows))
    matrix, factor, gram = np.empty((most, most)), np.empty((most, most)), np.empty((most, most))
    count, value, residual = np.empty(most), np.empty(most), np.empty(most)
    for c in range(k):
        size = 0
        for level in range(most):
            if counts[c, level] > 0.0:
                count[size] = counts[c, level]
                value[size] = values[c, level]
                inverse_root = 1.0 / math.sqrt(count[size])
                for r in range(n_rows):
                    scaled[size, r] = sums[c, level, r] * inverse_root
                size += 1
        varies[c] = size > 1
        relevance[c] = 0.0
        if size < 2:
            continue
        _weigh_kernel(count, value, size, kernel, width, observed[c], matrix)
        trace = np.trace(matrix[:size, :size])
        removed = _energy(matrix, scaled[:, signs.size :], np.ones(n_rows - signs.size), size)
        if trace - removed <= NOTHING * trace:
            continue
        if normalised or ridge[c] == 0.0:
            relevance[c] = _energy(matrix, scaled, signs, size)
        if normalised or ridge[c] > 0.0:
            rank = _factorise(matrix, size, factor, residual)
            _project(factor, scaled, size, rank, signs.size, cross, gram)
            if not normalised:
                relevance[c] = shrunk_energy(gram[:rank, :rank], cross[:rank], signs, ridge[c])
            else:
                relevance[c] /= _norm(gram, rank)
