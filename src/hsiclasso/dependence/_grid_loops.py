"""Compiled loops of screening; `tests/dependence/test_loops.py` has a NumPy version of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hsiclasso._compile import compiled, summing
from hsiclasso._types import FloatArray, IntArray

__all__ = ["LANES", "RUN", "column_moments", "joint_table", "sum_on_grid"]

#: Number of rows of a target that are summed at once: they fill a vector register.
LANES = 8
#: Number of samples in a run. Each run is summed from 0, which reduces rounding errors.
RUN = 512
#: Largest sum of the magnitudes of the terms of the four weights: see `_add_to_nodes`.
MAGNITUDE = 17 / 6

SingleArray = npt.NDArray[np.float32]

_INDEX, _LANE = ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
#: fmuladd: one instruction if the CPU has it, else a product and a sum.
_FMA = ir.FunctionType(_VECTOR, [_VECTOR] * 3)


def _extremum(name: str) -> Any:
    """Return a function that is the smaller or the larger of two numbers, neither of them NaN.

    The compiler does not make vector code of `min` and `max`, because these care about NaN.
    """

    @intrinsic
    def extremum(_context: Any, _left: Any, _right: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            double = ir.DoubleType()
            kind = ir.FunctionType(double, [double, double])
            function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.f64")  # type: ignore[no-untyped-call]
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return types.float64(types.float64, types.float64), generate

    return extremum


_smaller, _larger = _extremum("minnum"), _extremum("maxnum")


def _vector_at(builder: Any, array: Any, place: Any) -> Any:
    """Return a pointer to the vector of `LANES` numbers at a place of an array of them."""
    start = builder.gep(array.data, [builder.mul(place, _INDEX(LANES))])
    return builder.bitcast(start, _VECTOR.as_pointer())


def _multiply_add(builder: Any, *args: Any) -> Any:
    """Return the product of the first two of three vectors, plus the third."""
    name = f"llvm.fmuladd.v{LANES}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, _FMA, name), args)  # type: ignore[no-untyped-call]


@intrinsic
def _add_to_cell(_context: Any, table: Any, cell: Any, away: Any, i: Any, rows: Any) -> Any:
    """Add ``away[i] ** p * rows[i]`` to ``table[cell, p]`` for p = 0, 1, 2 and 3.

    `table` (m, 4, LANES), `away` (s,) and `rows` (s, LANES) are C-contiguous, in single precision.
    The vector instructions are written out, because Numba does not vectorise code without loops.
    """
    signature = types.void(table, cell, away, i, rows)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, distances, added = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 4)
        )
        nothing, zeros = ir.Constant(_VECTOR, ir.Undefined), ir.VectorType(_LANE, LANES)(None)
        factor = builder.load(builder.gep(distances.data, [args[3]]))
        factor = builder.insert_element(nothing, factor, _LANE(0))
        factor = builder.shuffle_vector(factor, nothing, zeros)
        term = builder.load(_vector_at(builder, added, args[3]), align=4)
        first = builder.mul(args[1], _INDEX(4))
        places = [_vector_at(builder, sums, builder.add(first, _INDEX(p))) for p in range(4)]
        totals = [builder.load(place, align=4) for place in places]
        builder.store(builder.fadd(totals[0], term), places[0], align=4)
        for p in range(1, 4):
            builder.store(_multiply_add(builder, factor, term, totals[p]), places[p], align=4)
            term = builder.fmul(factor, term)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _add_to_nodes(_context: Any, table: Any, cell: Any, sums: Any, place: Any, step: Any) -> Any:
    r"""Move the sums of a cell to its four nodes q: add them to ``sums[place + q * step]``.

    The weights of the nodes are cubic polynomials in the distance g of a value from the middle of
    its cell, :math:`|g| \le 1/2`. Therefore the sums of :math:`g^p` times rows, which `table`
    (m, 4, LANES) holds, are enough. The cell is 0 afterwards. `sums` (..., LANES) is C-contiguous.
    """
    signature = types.void(table, cell, sums, place, step)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        powers, nodes = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2)
        )
        first = builder.mul(args[1], _INDEX(4))
        places = [_vector_at(builder, powers, builder.add(first, _INDEX(p))) for p in range(4)]
        one, g, g2, g3 = (builder.load(place, align=4) for place in places)
        for place in places:
            builder.store(ir.Constant(_VECTOR, None), place, align=4)

        def constant(value: float) -> Any:
            return ir.Constant(_VECTOR, [float(np.float32(value))] * LANES)

        def combined(a: float, x: Any, b: float, y: Any) -> Any:
            return _multiply_add(builder, constant(a), x, builder.fmul(constant(b), y))

        inner, slope = combined(9 / 16, one, -1 / 4, g2), combined(9 / 8, g, -1 / 2, g3)
        outer, tilt = combined(-1 / 16, one, 1 / 4, g2), combined(1 / 24, g, -1 / 6, g3)
        weighted = (
            builder.fadd(outer, tilt), builder.fsub(inner, slope),
            builder.fadd(inner, slope), builder.fsub(outer, tilt),
        )  # fmt: skip
        place = args[3]
        for added in weighted:
            node = _vector_at(builder, nodes, place)
            builder.store(builder.fadd(builder.load(node, align=4), added), node, align=4)
            place = builder.add(place, args[4])
        return context.get_dummy_value()

    return signature, generate


@summing
def column_moments(block: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Write minimum, maximum, weighted mean and variance of the rows of `block` (k, n) to `out`.

    `weights` has shape (n,) and `out` shape (k, 4).
    """
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    for j in range(block.shape[0]):
        row = block[j]
        origin = row[0]
        low, high, first, second = origin, origin, 0.0, 0.0
        for i in range(row.size):
            low = _smaller(low, row[i])
            high = _larger(high, row[i])
            away = row[i] - origin
            first += weights[i] * away
            second += weights[i] * away * away
        first /= total
        out[j, 0] = low
        out[j, 1] = high
        out[j, 2] = origin + first
        out[j, 3] = second / total - first * first


@compiled
def _place(
    row: FloatArray, first: float, inverse: float, cells: npt.NDArray[np.int32], away: SingleArray
) -> None:
    """Find the first of the four nodes of each value, and its distance from their middle."""
    for i in range(row.size):
        place = (row[i] - first) * inverse
        cell = math.floor(place)
        cells[i] = np.int32(cell) - 1
        away[i] = np.float32(place - cell - 0.5)


@compiled
def _add_up(
    cells: npt.NDArray[np.int32], away: SingleArray, rows: SingleArray, table: SingleArray
) -> None:
    for i in range(cells.size):
        _add_to_cell(table, np.int64(cells[i]), away, i, rows)  # type: ignore[call-arg]


@compiled
def sum_on_grid(
    block: FloatArray, columns: IntArray, first: FloatArray, inverse: FloatArray, rows: SingleArray,
    sums: SingleArray, chunk: int,
) -> None:  # fmt: skip
    """Write the sums of a target's rows, times interpolation weights, at the nodes of each value.

    A value x of row ``columns[j]`` of `block` (k, n) lies ``(x - first[j]) * inverse[j]`` steps
    from the first node. It must be at least one step from both ends of the grid. `rows`
    (c, n, LANES) are chunks of the target's rows. Their sums are written to `sums`, of shape
    (columns, m, chunks, LANES), from `chunk` on.
    """
    n, n_nodes, n_chunks = block.shape[1], sums.shape[1], sums.shape[2]
    cells = np.empty(RUN, dtype=np.int32)
    away = np.empty(RUN, dtype=np.float32)
    table = np.zeros((n_nodes - 3, 4, LANES), dtype=np.float32)
    for j in range(columns.size):
        sums[j, :, chunk : chunk + rows.shape[0]] = 0.0
        for start in range(0, n, RUN):
            size = min(n - start, RUN)
            _place(block[columns[j]][start : start + size], first[j], inverse[j], cells, away)
            for c in range(rows.shape[0]):
                _add_up(cells[:size], away, rows[c][start : start + size], table)
                for cell in range(n_nodes - 3):
                    at = cell * n_chunks + chunk + c
                    _add_to_nodes(table, cell, sums[j], at, n_chunks)  # type: ignore[call-arg]


@intrinsic
def _add_product(
    _context: Any, table: Any, row: Any, column: Any, left: Any, right: Any, i: Any
) -> Any:
    """Add ``left[q, i] * right[p, i]`` to ``table[row + q, column + p]`` for the six q and p.

    `table` (m, l), `left` (6, s) and `right` (6, s) are C-contiguous doubles.
    """
    signature = types.void(table, row, column, left, right, i)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        sums, first, second = (
            context.make_array(kinds[k])(context, builder, args[k]) for k in (0, 3, 4)
        )
        row, column, i = args[1], args[2], args[5]
        width, size = (cgutils.unpack_tuple(builder, array.shape)[1] for array in (sums, first))  # type: ignore[no-untyped-call]

        def weight(array: Any, q: int) -> Any:
            place = builder.add(builder.mul(_INDEX(q), size), i)
            return builder.load(builder.gep(array.data, [place]))

        factors = [weight(first, q) for q in range(6)]
        for start, lanes in ((0, 4), (4, 2)):
            kind = ir.VectorType(ir.DoubleType(), lanes)
            fma = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
                builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fmuladd.v{lanes}f64"
            )
            unset, all_first = ir.Constant(kind, ir.Undefined), ir.VectorType(_LANE, lanes)(None)
            weights = unset
            for p in range(lanes):
                weights = builder.insert_element(weights, weight(second, start + p), _LANE(p))
            begin = builder.add(builder.mul(row, width), builder.add(column, _INDEX(start)))
            for factor in factors:
                every = builder.insert_element(unset, factor, _LANE(0))
                every = builder.shuffle_vector(every, unset, all_first)
                entry = builder.bitcast(builder.gep(sums.data, [begin]), kind.as_pointer())
                total = builder.call(fma, [every, weights, builder.load(entry, align=8)])
                builder.store(total, entry, align=8)
                begin = builder.add(begin, width)
        return context.get_dummy_value()

    return signature, generate


@compiled
def _place_exactly(
    row: FloatArray, first: float, inverse: float, cells: npt.NDArray[np.int32],
    weights: FloatArray,
) -> None:  # fmt: skip
    """Find the first of the six nodes of each value, and the weights (6, s) of the nodes."""
    for i in range(row.size):
        place = (row[i] - first) * inverse
        cell = math.floor(place)
        cells[i] = np.int32(cell) - 2
        f = place - cell
        a, b, c, d, e = f + 2.0, f + 1.0, f - 1.0, f - 2.0, f - 3.0
        low, high = a * b, d * e
        weights[0, i] = b * f * c * high * (-1.0 / 120.0)
        weights[1, i] = a * f * c * high * (1.0 / 24.0)
        weights[2, i] = low * c * high * (-1.0 / 12.0)
        weights[3, i] = low * f * high * (1.0 / 12.0)
        weights[4, i] = low * f * c * e * (-1.0 / 24.0)
        weights[5, i] = low * f * c * d * (1.0 / 120.0)


@compiled
def joint_table(
    left: FloatArray, right: FloatArray, shares: FloatArray, firsts: FloatArray, steps: FloatArray,
    table: FloatArray,
) -> None:  # fmt: skip
    """Add up the samples by the nodes of their values in two columns.

    `left` and `right` (n,) are the columns, and `shares` (n,), if it has entries, weighs the
    samples. `firsts` and `steps` hold the first node and the distance of the nodes of both grids,
    and `table` (m, l) is added to.
    """
    cells = np.empty((2, RUN), dtype=np.int32)
    weights = np.empty((2, 6, RUN))
    for start in range(0, left.size, RUN):
        size = min(left.size - start, RUN)
        stop = start + size
        _place_exactly(left[start:stop], firsts[0], 1.0 / steps[0], cells[0], weights[0])
        _place_exactly(right[start:stop], firsts[1], 1.0 / steps[1], cells[1], weights[1])
        for q in range(6):
            for i in range(min(size, shares.size)):
                weights[0, q, i] *= shares[start + i]
        for i in range(size):
            _add_product(  # type: ignore[call-arg]
                table, np.int64(cells[0, i]), np.int64(cells[1, i]), weights[0], weights[1], i
            )
