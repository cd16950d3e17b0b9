r"""Sparse columns, and columns of few distinct values: sums of the target's rows at each value.

A distinct value of a column is called an *atom*. Terms depend on the value only. It is therefore
enough to know the sums of the target's rows over the samples at each atom. With counts c and the
kernel K between atoms, :math:`M_{ij} = \sqrt{c_i c_j} K_{ij}` replaces the Gram matrix, and
:math:`s_i/\sqrt{c_i}` replaces a row with sums s. Columns of small integers are thus related
exactly under every kernel.

The atoms of a sparse column are its stored entries and zero. Time and memory are proportional to
the number of stored entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.data import Source, Stored
from hsiclasso.data.base import as_positions
from hsiclasso.dependence.columns import TargetRows
from hsiclasso.dependence.observed import centred, projected
from hsiclasso.dependence.statistic import Moments
from hsiclasso.kernels import Kernel, Measure, Samples, Terms
from hsiclasso.kernels.samples import NEGLIGIBLE

__all__ = ["AtomColumns", "Atoms", "few_whole_numbers"]

#: Columns with more levels are treated as numbers.
_MAX_LEVELS = 64
#: Columns are grouped by these largest numbers of levels; up to three levels have a faster loop.
_STEPS = (3, 16, _MAX_LEVELS)
#: The same for sparse columns. One loop sums all of them before they are grouped.
_STORED_STEPS = (4, 8, 12, 16, 24, 32, _MAX_LEVELS)
#: Matrices with at most this many rows are multiplied without BLAS, all at once.
_WITHOUT_BLAS = 4
#: With fewer samples per level, most kernels are faster if the column is treated as numbers.
_LEAST_PER_LEVEL = 32
#: Sparse columns with a larger share of stored entries are treated as numbers.
_DENSITY = 0.3
#: Number of calls that are decoded at once, and least number of samples of them.
_CALLS, _LEAST_SAMPLES = 1 << 24, 4096
#: Largest number of sums that are gathered at once.
_GATHERED = 1 << 21


@dataclass(frozen=True)
class AtomColumns:
    """Columns as atoms: values with weights and sums."""

    #: Shape (k, m).
    values: FloatArray
    #: Total weight of the samples at each value, shape (k, m); 0 if the value does not occur.
    weights: FloatArray
    #: Weighted sums of the target's r rows and of the q removed rows over these samples,
    #: shape (k, m, r + q).
    sums: FloatArray
    #: Number q of removed rows.
    n_removed: int
    #: Whether a column has so few values that `relevance` relates it exactly, without terms.
    needs_no_terms: bool = True

    cheap_gram: ClassVar[bool] = True

    def totals(self) -> FloatArray:
        """Weight of the samples of each column, shape (k,)."""
        return np.asarray(self.weights.sum(axis=1))

    def tolerance(self) -> FloatArray:
        """Factor of the trace that may be left out of each column, shape (k,).

        If many samples share one value, the centred matrix is small, and so is the factor.
        """
        return np.asarray(np.minimum(1.0, 4.0 * (1.0 - self.weights.max(axis=1) / self.totals())))

    def scale(self, kernel: Kernel) -> BoolArray:
        """Bring the values to the scale of their kernel in place; return which columns vary."""
        return np.asarray(kernel.scale(self.values, self.weights).factor > 0)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand some of the scaled columns."""
        return kernel.expand(self.values, which, allowed, self.weights)

    def moments(self, terms: Terms, rows: TargetRows, with_gram: bool) -> Moments:
        """Multiply the terms of columns with the target's rows and with each other."""
        columns = terms.columns
        phi = terms.on(slice(None), slice(None))
        both = phi @ self.sums[columns]
        cross, removed = both[:, :, : -self.n_removed], both[:, :, -self.n_removed :]
        removed_trace = np.einsum("cnq,cnq->c", removed, removed)
        gram = (phi * self.weights[columns][:, None, :]) @ phi.transpose(0, 2, 1)
        gram -= removed @ removed.transpose(0, 2, 1)
        return Moments(
            cross, gram, removed_trace, terms.left_out, terms.bulk_trace, terms.bulk_rank
        )

    def take(self, which: IntArray | BoolArray) -> AtomColumns:
        """Return some of the columns."""
        return replace(
            self, values=self.values[which], weights=self.weights[which], sums=self.sums[which]
        )

    def relevance(
        self, kernel: Kernel, measure: Measure, rows: TargetRows
    ) -> tuple[BoolArray, FloatArray]:
        """Relate columns exactly: return whether each varies (k,), and its relevance (k, t)."""
        weights, totals = self.weights, self.totals()
        present = weights > 0
        # replace values that do not occur, because they must not widen the range
        first = np.argmax(present, axis=1)
        z = np.where(present, self.values, self.values[np.arange(len(first)), first][:, None])
        varies = np.asarray(kernel.scale(z, weights).factor > 0)
        observed = totals / rows.total
        scale = np.broadcast_to(kernel.observed_scale(observed), totals.shape)
        roots = np.sqrt(weights)
        gram = kernel.gram(z, weights) * (scale[:, None] * roots)[:, :, None] * roots[:, None, :]
        heights = np.divide(1.0, roots, out=np.zeros_like(roots), where=present)
        both = self.sums * heights[:, :, None]
        target, removed = both[:, :, : -self.n_removed], both[:, :, -self.n_removed :]
        image, removed_image = _times(gram, target), _times(gram, removed)  # M s, M Q
        trace = np.trace(gram, axis1=1, axis2=2)
        removed_trace = np.einsum("kmq,kmq->k", removed, removed_image)
        is_zero = trace - removed_trace <= NEGLIGIBLE * trace
        kept = gram
        if measure.needs_gram:
            kept = gram - removed_image @ removed.transpose(0, 2, 1)  # M C, C = 1 - QQ'
        if measure.regularisation:
            ridge = (measure.regularisation * totals)[:, None, None]
            ridged = kept + ridge * np.eye(gram.shape[1])
            image, kept = np.linalg.solve(ridged, image), np.linalg.solve(ridged, kept)
        energy = np.einsum("kmr,kmr->kr", target, image) * rows.signs
        if measure.normalised:
            norm2 = np.einsum("kij,kji->k", kept, kept)
            energy = energy / np.sqrt(np.where(is_zero, 1.0, norm2))[:, None]
        energy[is_zero | ~varies] = 0.0
        starts = rows.starts
        by_target = np.add.reduceat(energy, starts, axis=1) if energy.shape[1] else energy[:, :1]
        return varies, by_target * np.asarray(measure.restoration(observed))[..., None]


def _times(left: FloatArray, right: FloatArray) -> FloatArray:
    """Multiply matrices (k, m, m) and (k, m, r); small ones without BLAS, for all k at once."""
    if left.shape[1] > _WITHOUT_BLAS:
        return np.asarray(left @ right)
    out = left[:, :, :1] * right[:, :1]
    for j in range(1, left.shape[1]):
        out += left[:, :, j : j + 1] * right[:, j : j + 1]
    return np.asarray(out)


class Atoms:
    """Makes atoms: sums the target's rows over the samples at each value of a column."""

    def __init__(self, rows: TargetRows, samples: Samples) -> None:
        self.samples = samples
        self.n_removed = rows.n_removed
        # the target's rows contain one square root of the weights, and the terms need another one;
        # sums of the last row are the weights of the atoms
        self.rows = np.concatenate([rows.all_rows, samples.root[None]]) * samples.root
        self.totals = self.rows.sum(axis=1)
        self.by_sample = np.ascontiguousarray(self.rows.T)
        self._all_rows = rows.all_rows

    def of_integers(
        self, integers: np.ndarray[Any, Any], *, always: bool
    ) -> list[tuple[IntArray, AtomColumns]]:
        """Make atoms of columns (n, k) of small integers, one for each level.

        Returns groups of columns that have few levels, each with the positions of its columns.
        Unless `always` is true, columns with few samples per level are left out.
        """
        from hsiclasso.dependence._level_loops import sum_levels, sum_three_levels

        lowest, highest = integers.min(axis=0), integers.max(axis=0)
        n_levels = highest.astype(np.int64) - lowest + 1
        made, fewest = [], 0
        for most in _STEPS:
            if not (always or most == 3 or self.samples.n >= _LEAST_PER_LEVEL * most):
                continue
            some = np.flatnonzero((n_levels > fewest) & (n_levels <= most))
            fewest = most
            if not some.size:
                continue
            codes = _codes(integers, some, lowest)
            sums = np.zeros((some.size, most, len(self.rows)))
            if most == 3:
                others = np.zeros((some.size, 2, len(self.rows)))
                sum_three_levels(codes, self.rows, others)
                sums[:, 1:] = others
                sums[:, 0] = self.totals - others.sum(axis=1)
            else:
                sum_levels(codes, self.rows, most, sums)
            values = lowest[some, None].astype(np.float64) + np.arange(most)
            made.append((some, self._columns(values, sums)))
        return made

    def of_calls(
        self, source: Source, wanted: Columns, least_observed: int
    ) -> tuple[IntArray, list[tuple[IntArray, AtomColumns]]]:
        """Make atoms of genotypes: 0, 1, 2 and a value that stands for a missing call.

        Returns the number of observed samples of each column, and two groups of columns, complete
        ones and others, each with the positions of its columns. Columns that are observed on too
        few samples are left out. `least_observed` is 0 if no call may be missing.
        """
        chosen = as_positions(wanted, source.n_features)
        others, n_missing, decoded = self._sum_calls(source, wanted, chosen.size)
        sums = np.concatenate([self.totals - others.sum(axis=1, keepdims=True), others], axis=1)
        columns = self._columns(np.tile(np.arange(3.0), (chosen.size, 1)), sums[:, :3])
        observed = self.samples.n - n_missing
        complete = np.flatnonzero(n_missing == 0)
        enough = (observed >= least_observed) & (least_observed > 0)
        partial = np.flatnonzero((n_missing > 0) & enough)
        made = [(complete, columns.take(complete))] if complete.size else []
        if partial.size:
            some = columns.take(partial)
            if self.n_removed == 1:
                some = _centred(some)
            else:
                sums = self._projected(source, chosen, partial, some.sums, decoded)
                some = replace(some, sums=sums, n_removed=some.values.shape[1])
            made.append((partial, some))
        return observed, made

    def _sum_calls(
        self, source: Source, wanted: Columns, k: int
    ) -> tuple[FloatArray, IntArray, Any | None]:
        """Sum rows at 1, 2 and missing calls (k, 3, v), and count the latter (k,).

        With many samples, only calls of some of them are decoded at once. Memory then allows more
        columns, which share tables of sums. If all are decoded at once, they are returned too.
        """
        from hsiclasso.dependence._level_loops import sum_calls

        n, missing = self.samples.n, source.missing_level
        assert missing is not None
        out, part = np.zeros((2, k, 3, len(self.rows)))
        n_missing = np.zeros(k, dtype=np.int64)
        step = max(_LEAST_SAMPLES, _CALLS // max(1, k))
        for start in range(0, n, step):
            some = slice(start, min(n, start + step))
            codes = source.calls(wanted, some)
            sum_calls(codes, np.ascontiguousarray(self.rows[:, some]), missing, part)
            out += part
            if self.samples.weights is not None:
                n_missing += np.count_nonzero(codes == missing, axis=0)
        if self.samples.weights is None:
            n_missing = np.rint(out[:, 2, -1]).astype(np.int64)
        return out, n_missing, codes if step >= n else None

    def _projected(
        self, source: Source, chosen: IntArray, some: IntArray, sums: FloatArray, decoded: Any
    ) -> FloatArray:
        """Remove covariates from sums (k, m, v) of genotypes on their observed samples.

        `some` (k,) of the columns `chosen` are decoded again, unless all calls are `decoded`.
        """
        level = source.missing_level
        assert level is not None
        step, parts = max(1, _CALLS // self.samples.n), []
        for start in range(0, some.size, step):
            run = slice(start, start + step)
            if decoded is None:
                calls = source.calls(chosen[some[run]], slice(None))
            else:
                calls = decoded[:, some[run]]
            missing = np.asarray(calls == np.int64(level)).T
            parts.append(projected(sums[run], self._all_rows, self.n_removed, missing))
        return np.concatenate(parts)

    def of_stored_integers(self, stored: Stored) -> list[tuple[IntArray, AtomColumns]]:
        """Make atoms of the sparse columns that contain few whole numbers, one for each level."""
        from hsiclasso.dependence._level_loops import sum_stored_levels

        k, data = stored[0].size - 1, stored[2]
        # at least zero is a level; most tables need far fewer levels than are allowed
        span = data.max(initial=0.0) - data.min(initial=0.0)
        lowest = np.empty(k)
        sums = np.zeros((k, int(min(_MAX_LEVELS, span + 1)), len(self.rows)))
        sum_stored_levels(*stored, np.arange(k), self.by_sample, self.totals, lowest, sums)
        integers = np.flatnonzero(~np.isnan(lowest))
        n_levels = _n_levels(sums[integers])
        made, fewest = [], 0
        for most in _STORED_STEPS:
            some = integers[(n_levels > fewest) & (n_levels <= most)]
            fewest = most
            if some.size:
                part = sums[some, :most]
                values = lowest[some, None] + np.arange(part.shape[1])
                made.append((some, self._columns(values, part)))
        return made

    def of_whole_numbers(self, values: FloatArray) -> AtomColumns:
        """Make atoms of columns (k, n) for which `few_whole_numbers` is true."""
        from hsiclasso.dependence._level_loops import sum_levels

        known = ~np.isnan(values)
        lowest = np.where(known, values, np.inf).min(axis=1)
        missing = _MAX_LEVELS - 1  # missing values get a level of their own, which is dropped
        codes = np.where(known, values - lowest[:, None], missing).astype(np.uint8)
        sums = np.zeros((len(values), _MAX_LEVELS, len(self.rows)))
        sum_levels(np.ascontiguousarray(codes.T), self.rows, _MAX_LEVELS, sums)
        levels = lowest[:, None] + np.arange(missing)
        columns = self._columns(levels, sums[:, :missing])
        return columns if known.all() else _centred(columns)

    def of_stored(self, stored: Stored, which: IntArray) -> Iterator[tuple[IntArray, AtomColumns]]:
        """Yield atoms of sparse columns, the stored entries and zero; similar sizes together."""
        indptr, indices, data = stored
        sizes = np.diff(indptr)[which]
        short = np.setdiff1d(np.arange(which.size), self.too_long(stored, which))
        order = short[np.argsort(sizes[short], kind="stable")]
        start = 0
        while start < order.size:
            # take as many columns as fit; all are padded to the length of the longest
            lengths = sizes[order[start:]] + 1
            fit = np.cumsum(np.ones(lengths.size)) * lengths * self.by_sample.shape[1] <= _GATHERED
            step = max(1, int(np.argmin(fit)) if not fit.all() else lengths.size)
            some = order[start : start + step]
            start += step
            yield some, self._padded(indptr, indices, data, which[some])

    def too_long(self, stored: Stored, which: IntArray) -> IntArray:
        """Return the positions of sparse columns that are related faster as numbers."""
        return np.flatnonzero(np.diff(stored[0])[which] > _DENSITY * self.samples.n)

    def _padded(
        self, indptr: IntArray, indices: Any, data: FloatArray, columns: IntArray
    ) -> AtomColumns:
        """Gather the stored entries of columns; the last atom is zero, with all other samples."""
        starts, sizes = indptr[columns], indptr[columns + 1] - indptr[columns]
        most = int(sizes.max(initial=0))
        place = np.arange(most)
        inside = place < sizes[:, None]
        where = np.where(inside, starts[:, None] + place, 0)
        values = np.zeros((columns.size, most + 1))
        sums = np.zeros((columns.size, most + 1, self.by_sample.shape[1]))
        if data.size:
            values[:, :-1] = np.where(inside, data[where], 0.0)
            sums[:, :-1] = self.by_sample[indices[where]] * inside[:, :, None]
        sums[:, -1] = self.totals - sums[:, :-1].sum(axis=1)
        return replace(self._columns(values, sums), needs_no_terms=False)

    def _columns(self, values: FloatArray, sums: FloatArray) -> AtomColumns:
        """Make columns of atoms; the last of the sums are their weights."""
        weights = sums[:, :, -1].copy()
        weights[weights < 1e-12 * self.samples.total] = 0.0  # rounding error of a difference
        return AtomColumns(values, weights, sums[:, :, :-1], self.n_removed)


def _centred(columns: AtomColumns) -> AtomColumns:
    """Centre the target's rows on the observed samples; there are no covariates."""
    return replace(columns, sums=centred(columns.sums, columns.weights))


def _n_levels(sums: FloatArray) -> IntArray:
    """Number of levels up to the last one that occurs; the last of the sums (k, L, v) counts."""
    present = sums[:, ::-1, -1] > 0
    return np.asarray(sums.shape[1] - np.argmax(present, axis=1))


def few_whole_numbers(values: FloatArray) -> BoolArray:
    """Return which rows of (k, n) contain only whole numbers in a short range, or NaN."""
    known = ~np.isnan(values)
    lowest = np.where(known, values, np.inf).min(axis=1)
    highest = np.where(known, values, -np.inf).max(axis=1)
    few: BoolArray = highest - lowest < _MAX_LEVELS - 1
    few[few] = np.all((np.floor(values[few]) == values[few]) | ~known[few], axis=1)
    return few


def _codes(
    integers: np.ndarray[Any, Any], some: IntArray, lowest: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Levels 0, 1, ... of some columns of (n, k), contiguous along a sample."""
    if some.size < integers.shape[1]:
        integers, lowest = integers[:, some], lowest[some]
    unsigned = integers.view(np.uint8) if integers.dtype != np.uint8 else integers
    if not lowest.any() and unsigned.strides[1] == 1:
        return unsigned
    codes = _by_sample(unsigned)
    return codes - lowest.view(np.uint8) if lowest.any() else codes  # differences are below 256


def _by_sample(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return (n, k) codes contiguous along a sample, as a copy if they are not."""
    from hsiclasso.dependence._level_loops import transpose

    if codes.strides[1] == 1:
        return codes
    if codes.strides[0] != 1:
        return np.ascontiguousarray(codes)
    out = np.empty(codes.shape, dtype=np.uint8)
    transpose(codes.T, out)
    return out
