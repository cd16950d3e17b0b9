"""Compiled loops for columns of few levels; `tests/dependence` has a NumPy version of each.

The features of such a column depend on the level only. It is therefore enough to sum the target's
rows over the samples of each level. A few samples are summed at a time (the method of four
Russians): a table holds the sums over every subset of these samples. The subset at some level is
a number, with one bit for each sample. One look-up then replaces one addition for each sample.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from hsiclasso._compile import compiled, inlined
from hsiclasso._types import FloatArray, IntArray

__all__ = ["sum_calls", "sum_levels", "sum_stored_levels", "sum_three_levels", "transpose"]

CodeArray = npt.NDArray[np.uint8]

#: Number of rows that are summed together: they fill a vector register.
_LANES = 8
#: Number of tables that are looked up together: a sum is loaded and stored once for all of them.
_GROUPS = 4
#: Largest number of samples per table: four tables of 2^7 entries fill a level-one cache.
_BITS = 7
#: Number of sums in progress at once, in units of `_LANES`: one megabyte, for a level-two cache.
_SUMS = 16384
#: Largest number of levels for which subsets are faster than adding sample by sample.
_SUBSET_LEVELS = 8
#: Number of columns that are summed together sample by sample.
_COLUMNS = 128
#: Number of samples in a run. Each run is summed from 0, which reduces rounding errors.
_RUN = 2048
#: Side of a tile that is transposed within the cache.
_TILE = 64


@intrinsic
def _add_entries(_context: Any, sums: Any, at: Any, table: Any, starts: Any) -> Any:
    """Add ``table[start : start + 8]`` of all `starts` to ``sums[at : at + 8]``, as vectors.

    Both arrays are flat; `starts` is a tuple of int64. The vector instructions are written out,
    because the compiler would unroll a loop over eight entries before it vectorises it.
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
    """Return flat zeros that begin at a cache line: an entry of eight then lies in one line."""
    padded = np.zeros(size + _LANES)
    first = -(padded.ctypes.data // 8) % _LANES
    return padded[first : first + size]


@compiled
def _fill_tables(rows: FloatArray, first: int, bits: int, tables: FloatArray) -> None:
    """Fill `tables` (blocks, groups, 2^bits * 8) with sums over subsets of samples from `first`."""
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
    codes: CodeArray, start: int, first: int, bits: int, levels: CodeArray, subsets: CodeArray
) -> None:
    """Write the subset of samples at each level, as bits, to `subsets` (levels, groups, columns).

    `start` is the first column and `first` the first sample.
    """
    n_levels, n_groups, width = subsets.shape
    for level in range(n_levels):
        code = levels[level]
        for group in range(n_groups):
            members = subsets[level, group]
            members[:] = 0
            for bit in range(bits):
                sample = first + group * bits + bit
                if sample < codes.shape[0]:
                    # slice the row, not the block: the compiler then knows that it is contiguous
                    row = codes[sample][start : start + width]
                    flag = np.uint8(1 << bit)
                    for c in range(width):
                        members[c] |= flag if row[c] == code else np.uint8(0)


@inlined
def _add_subsets(
    table: FloatArray, step: int, subsets: CodeArray, column: int, sums: FloatArray
) -> None:
    """Add the entries of a column's four subsets; a table has `step` numbers."""
    _add_entries(
        sums, _LANES * column, table,
        (
            _LANES * subsets[0, column], step + _LANES * subsets[1, column],
            2 * step + _LANES * subsets[2, column], 3 * step + _LANES * subsets[3, column],
        ),
    )  # type: ignore[call-arg]  # fmt: skip


@compiled
def _look_up(table: FloatArray, bits: int, subsets: CodeArray, sums: FloatArray) -> None:
    """Add entries of four tables, stored one after the other, to `sums` (columns * 8)."""
    for c in range(subsets.shape[1]):
        _add_subsets(table, _LANES << bits, subsets, c, sums)


@compiled
def _look_up_some(
    table: FloatArray, bits: int, subsets: CodeArray, which: IntArray, sums: FloatArray
) -> None:
    """Do the same for some columns."""
    for c in which:
        _add_subsets(table, _LANES << bits, subsets, c, sums)


@compiled
def _find_some(subsets: CodeArray, which: IntArray) -> int:
    """Write the columns that have a sample in one of four subsets to `which`; return how many."""
    one, two, three, four = subsets[0], subsets[1], subsets[2], subsets[3]
    found = 0
    for c in range(one.size):  # without a branch, which could not be predicted
        which[found] = c
        found += (one[c] | two[c] | three[c] | four[c]) != 0
    return found


@compiled
def _move(sums: FloatArray, out: FloatArray) -> None:
    """Add `sums` (blocks, k * 8) to `out` (k, v), and set them to zero."""
    for c in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[c, r] += sums[r // _LANES, _LANES * c + r % _LANES]
    sums[:] = 0.0


@compiled
def _sum_by_subsets(
    codes: CodeArray, rows: FloatArray, levels: CodeArray, n_rare: int, out: FloatArray
) -> None:
    """Sum rows at some levels, by tables of sums over subsets of samples.

    The last `n_rare` levels are rare: only columns that have one among a few samples are summed.
    """
    n, k = codes.shape
    n_levels, n_rows = out.shape[1:]
    blocks = -(-n_rows // _LANES)
    tiles = max(1, -(-k * (n_levels - n_rare) * blocks // _SUMS))
    most = max(1, -(-k // tiles))
    bits = 1  # a larger table pays only if it has far fewer entries than look-ups
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
        some = np.empty((n_rare, width + 1), dtype=np.int64)
        n_some = np.zeros(n_rare, dtype=np.int64)
        for begin in range(0, n, run):
            for first in range(begin, min(n, begin + run), _GROUPS * bits):
                _fill_tables(rows, first, bits, tables)
                _find_subsets(codes, start, first, bits, levels, subsets)
                for rare in range(n_rare):
                    n_some[rare] = _find_some(subsets[n_levels - n_rare + rare], some[rare])
                for block in range(blocks):
                    table = tables[block].reshape(-1)
                    for level in range(n_levels - n_rare):
                        _look_up(table, bits, subsets[level], sums[block, level])
                    for rare in range(n_rare):
                        level, which = n_levels - n_rare + rare, some[rare, : n_some[rare]]
                        _look_up_some(table, bits, subsets[level], which, sums[block, level])
            for level in range(n_levels):
                _move(sums[:, level], out[start : start + width, level])


@compiled
def _by_sample(rows: FloatArray) -> FloatArray:
    """Return rows (v, n) in blocks of eight, sample by sample: (blocks, n * 8)."""
    v, n = rows.shape
    blocks = -(-v // _LANES)
    out = _zeros(blocks * n * _LANES).reshape((blocks, n * _LANES))
    for r in range(v):
        for i in range(n):
            out[r // _LANES, _LANES * i + r % _LANES] = rows[r, i]
    return out


@compiled
def _sum_by_samples(codes: CodeArray, rows: FloatArray, out: FloatArray) -> None:
    """Sum rows at all levels, sample by sample."""
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
    """Sum rows over the samples of level 1, and over the samples of level 2, of each column.

    The caller gets the sums at level 0 by subtracting both from the totals.

    Parameters
    ----------
    codes : (n, k) levels 0, 1 and 2, contiguous along a sample
    rows : (v, n) rows to sum
    out : (k, 2, v) results, C-contiguous
    """
    _sum_by_subsets(codes, rows, np.array([1, 2], dtype=np.uint8), 0, out)


@compiled
def sum_calls(codes: CodeArray, rows: FloatArray, missing: int, out: FloatArray) -> None:
    """Sum rows over the samples of level 1, of level 2, and of a level that means missing.

    It takes as long as `sum_three_levels` if few values are missing.

    Parameters
    ----------
    codes : (n, k) levels 0, 1, 2 and `missing`, contiguous along a sample
    rows : (v, n) rows to sum
    missing : the level that means missing, 3 to 255
    out : (k, 3, v) results, C-contiguous
    """
    _sum_by_subsets(codes, rows, np.array([1, 2, missing], dtype=np.uint8), 1, out)


@compiled
def sum_levels(codes: CodeArray, rows: FloatArray, n_levels: int, out: FloatArray) -> None:
    """Sum rows over the samples of each level of each column.

    Parameters
    ----------
    codes : (n, k) levels, all below `n_levels` (not checked), contiguous along a sample
    rows : (v, n) rows to sum
    n_levels : number of levels
    out : (k, n_levels, v) results, C-contiguous
    """
    if n_levels <= _SUBSET_LEVELS:
        _sum_by_subsets(codes, rows, np.arange(n_levels).astype(np.uint8), 0, out)
    else:
        _sum_by_samples(codes, rows, out)


@compiled
def transpose(codes: CodeArray, out: CodeArray) -> None:
    """Copy columns (k, n), each of them contiguous, to `out` (n, k), tile by tile."""
    k, n = codes.shape
    for start in range(0, k, _TILE):
        for first in range(0, n, _TILE):
            for i in range(first, min(n, first + _TILE)):
                row = out[i]
                for c in range(start, min(k, start + _TILE)):
                    row[c] = codes[c, i]


@compiled
def _lowest_level(data: FloatArray, n_levels: int) -> float:
    """Return the minimum of 0 and `data`; NaN if `data` are not whole or need more levels."""
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
    columns : (k,) the columns to sum
    rows : (n, v) rows to sum, sample by sample
    totals : (v,) sums over all samples
    lowest : (k,) results: the value of the first level; NaN if a column contains other numbers
        than whole ones, or needs more than L levels
    sums : (k, L, v) results; must contain zeros before
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
