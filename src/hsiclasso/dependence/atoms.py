r"""Columns of few distinct values, and sparse ones: sums of the target's rows at each value.

The terms of a column depend on the value alone, so that all that is needed of the samples are sums
of the target's rows over those at each value, an *atom*. With counts c and the kernel K between
atoms, :math:`M = \sqrt{c_i c_j} K_{ij}` stands for the Gram matrix and :math:`s_i/\sqrt{c_i}` for a
row with sums s, so that small integers are related exactly under every kernel.

Of a sparse column, the stored entries and zero are the atoms: time and memory grow with what is
stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Stored
from hsiclasso.dependence.columns import TargetRows
from hsiclasso.dependence.statistic import Moments
from hsiclasso.kernels import Kernel, Measure, Samples, Terms
from hsiclasso.kernels.samples import NEGLIGIBLE

__all__ = ["AtomColumns", "Atoms", "few_whole_numbers"]

#: Columns with more levels are read as numbers.
_MAX_LEVELS = 64
#: Columns with up to so many levels are summed at once, by a faster loop if they are three.
_STEPS = (3, 16, _MAX_LEVELS)
#: The same for sparse columns, whose sums are found for all numbers of levels at once.
_STORED_STEPS = (4, 8, 16, _MAX_LEVELS)
#: Matrices of up to so many rows are multiplied by adding up rows.
_ADDED_UP = 4
#: With fewer samples for each level, most kernels relate a column faster as numbers.
_LEAST_PER_LEVEL = 32
#: Sparse columns with more than this share of stored entries are read as numbers.
_DENSITY = 0.3
#: Sums that are gathered at once, in numbers.
_GATHERED = 1 << 21


@dataclass(frozen=True)
class AtomColumns:
    """Columns as atoms: values with weights and sums.

    Attributes
    ----------
    values : ndarray of shape (k, m)
    weights : ndarray of shape (k, m)
        Weight of the samples at each value; 0 for one that does not occur.
    sums : ndarray of shape (k, m, r + q)
        Sums of the target's rows and of the removed rows over these samples, weighed.
    n_removed : int
        q.
    n_observed : ndarray of shape (k,) or None
        Samples that have a value; None if all have.
    few : bool
        Whether there are so few values that the kernel between them is all that is needed.
    """

    values: FloatArray
    weights: FloatArray
    sums: FloatArray
    n_removed: int
    n_observed: IntArray | None = None
    few: bool = True

    small: ClassVar[bool] = True

    def totals(self) -> FloatArray:
        """Weight of the samples of each column, shape (k,)."""
        return np.asarray(self.weights.sum(axis=1))

    def spread(self) -> FloatArray:
        """Factor of what may be left out of each column, shape (k,).

        The more samples share one value, the smaller is what centring leaves.
        """
        return np.asarray(np.minimum(1.0, 4.0 * (1.0 - self.weights.max(axis=1) / self.totals())))

    def scale(self, kernel: Kernel) -> BoolArray:
        """Bring the values to the scale of their kernel, in place; tell which columns vary."""
        return np.asarray(kernel.scale(self.values, self.weights).factor > 0)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand some of the columns, which are scaled."""
        return kernel.expand(self.values, which, allowed, self.weights)

    def moments(self, terms: Terms, rows: TargetRows, with_gram: bool) -> Moments:
        """Multiply the terms of columns with the target's rows and with each other."""
        columns = terms.columns
        phi = terms.on(slice(None), slice(None))
        both = phi @ self.sums[columns]
        cross, removed = both[:, :, : -self.n_removed], both[:, :, -self.n_removed :]
        mass = np.einsum("cnq,cnq->c", removed, removed)
        gram = (phi * self.weights[columns][:, None, :]) @ phi.transpose(0, 2, 1)
        gram -= removed @ removed.transpose(0, 2, 1)
        return Moments(cross, gram, mass, terms.left_out, terms.bulk_trace, terms.bulk_rank)

    def relevance(
        self, kernel: Kernel, measure: Measure, rows: TargetRows
    ) -> tuple[BoolArray, FloatArray]:
        """Relate columns of few values exactly: whether each varies, and its relevance (k, t)."""
        weights, totals = self.weights, self.totals()
        present = weights > 0
        # a value that does not occur must not widen the range
        first = np.argmax(present, axis=1)
        z = np.where(present, self.values, self.values[np.arange(len(first)), first][:, None])
        varies = np.asarray(kernel.scale(z, weights).factor > 0)
        observed = totals / rows_total(rows)
        scale = np.broadcast_to(kernel.observed_scale(observed), totals.shape)
        roots = np.sqrt(weights)
        gram = kernel.gram(z, weights) * (scale[:, None] * roots)[:, :, None] * roots[:, None, :]
        heights = np.divide(1.0, roots, out=np.zeros_like(roots), where=present)
        both = self.sums * heights[:, :, None]
        target, removed = both[:, :, : -self.n_removed], both[:, :, -self.n_removed :]
        image, lost = _times(gram, target), _times(gram, removed)  # M s, M Q
        trace = np.trace(gram, axis1=1, axis2=2)
        gone = trace - np.einsum("kmq,kmq->k", removed, lost) <= NEGLIGIBLE * trace
        kept = gram
        if measure.needs_gram:
            kept = gram - lost @ removed.transpose(0, 2, 1)  # M C, C = 1 - QQ'
        if measure.regularisation:
            ridge = (measure.regularisation * totals)[:, None, None]
            ridged = kept + ridge * np.eye(gram.shape[1])
            image, kept = np.linalg.solve(ridged, image), np.linalg.solve(ridged, kept)
        energy = np.einsum("kmr,kmr->kr", target, image) * rows.signs
        if measure.normalised:
            norm2 = np.einsum("kij,kji->k", kept, kept)
            energy = energy / np.sqrt(np.where(gone, 1.0, norm2))[:, None]
        energy[gone | ~varies] = 0.0
        starts = rows.starts
        by_target = np.add.reduceat(energy, starts, axis=1) if energy.shape[1] else energy[:, :1]
        return varies, by_target * np.asarray(measure.restoration(observed))[..., None]


def _times(left: FloatArray, right: FloatArray) -> FloatArray:
    """Multiply matrices (k, m, m) and (k, m, r); a few rows are added up for all k at once."""
    if left.shape[1] > _ADDED_UP:
        return np.asarray(left @ right)
    out = left[:, :, :1] * right[:, :1]
    for j in range(1, left.shape[1]):
        out += left[:, :, j : j + 1] * right[:, j : j + 1]
    return np.asarray(out)


def rows_total(rows: TargetRows) -> float:
    """Total weight of the samples."""
    return float(rows.dense.shape[1]) if rows.root is None else float(rows.root @ rows.root)


class Atoms:
    """Sums the target's rows over the samples of each value of a column.

    Parameters
    ----------
    rows : TargetRows
    samples : Samples
    """

    def __init__(self, rows: TargetRows, samples: Samples) -> None:
        self.samples = samples
        self.n_removed = rows.n_removed
        # weighed twice: as functions of the samples, and as what multiplies terms; the last
        # row counts the samples
        self.rows = np.concatenate([rows.whole, samples.root[None]]) * samples.root
        self.totals = self.rows.sum(axis=1)
        self.by_sample = np.ascontiguousarray(self.rows.T)

    def of_integers(
        self, small: np.ndarray[Any, Any], *, always: bool
    ) -> list[tuple[IntArray, AtomColumns]]:
        """Count columns (n, k) of small integers by level.

        Returns those of few levels, each with its position; `always` counts them also where
        samples are few.
        """
        from hsiclasso.dependence._level_loops import sum_levels, sum_three_levels

        lowest, highest = small.min(axis=0), small.max(axis=0)
        n_levels = highest.astype(np.int64) - lowest + 1
        made, fewest = [], 0
        for most in _STEPS:
            if not (always or most == 3 or self.samples.n >= _LEAST_PER_LEVEL * most):
                continue
            some = np.flatnonzero((n_levels > fewest) & (n_levels <= most))
            fewest = most
            if not some.size:
                continue
            codes = _codes(small, some, lowest)
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

    def of_stored_integers(self, stored: Stored) -> list[tuple[IntArray, AtomColumns]]:
        """Count sparse columns of few whole numbers by level."""
        from hsiclasso.dependence._level_loops import sum_stored_levels

        k = stored[0].size - 1
        lowest, sums = np.empty(k), np.zeros((k, _MAX_LEVELS, len(self.rows)))
        sum_stored_levels(*stored, np.arange(k), self.by_sample, self.totals, lowest, sums)
        whole = np.flatnonzero(~np.isnan(lowest))
        n_levels = _n_levels(sums[whole])
        made, fewest = [], 0
        for most in _STORED_STEPS:
            few = whole[(n_levels > fewest) & (n_levels <= most)]
            fewest = most
            if few.size:
                values = lowest[few, None] + np.arange(most)
                made.append((few, self._columns(values, sums[few][:, :most])))
        return made

    def of_numbers(self, values: FloatArray, few: BoolArray) -> list[tuple[IntArray, AtomColumns]]:
        """Count the columns of (k, n) that hold few whole numbers by level, NaN being missing."""
        from hsiclasso.dependence._level_loops import sum_levels

        which = np.flatnonzero(few)
        if not which.size:
            return []
        some = values[which]
        known = ~np.isnan(some)
        lowest = np.where(known, some, np.inf).min(axis=1)
        missing = _MAX_LEVELS - 1  # a level of its own, which no kernel sees
        codes = np.where(known, some - lowest[:, None], missing).astype(np.uint8)
        sums = np.zeros((which.size, _MAX_LEVELS, len(self.rows)))
        sum_levels(np.ascontiguousarray(codes.T), self.rows, _MAX_LEVELS, sums)
        levels = lowest[:, None] + np.arange(missing)
        columns = self._columns(levels, sums[:, :missing])
        if known.all():
            return [(which, columns)]
        return [(which, _centred(columns, known.sum(axis=1)))]

    def of_stored(self, stored: Stored, which: IntArray) -> Iterator[tuple[IntArray, AtomColumns]]:
        """Yield sparse columns as the atoms that are stored and zero, similar sizes together."""
        indptr, indices, data = stored
        sizes = np.diff(indptr)[which]
        short = np.setdiff1d(np.arange(which.size), self.too_long(stored, which))
        order = short[np.argsort(sizes[short], kind="stable")]
        start = 0
        while start < order.size:
            # as many columns as fit, all as long as the longest of them
            lengths = sizes[order[start:]] + 1
            fit = np.cumsum(np.ones(lengths.size)) * lengths * self.by_sample.shape[1] <= _GATHERED
            step = max(1, int(np.argmin(fit)) if not fit.all() else lengths.size)
            some = order[start : start + step]
            start += step
            yield some, self._padded(indptr, indices, data, which[some])

    def too_long(self, stored: Stored, which: IntArray) -> IntArray:
        """Return the positions of sparse columns that are read faster as numbers."""
        return np.flatnonzero(np.diff(stored[0])[which] > _DENSITY * self.samples.n)

    def _padded(
        self, indptr: IntArray, indices: Any, data: FloatArray, columns: IntArray
    ) -> AtomColumns:
        """Gather the stored entries of columns; zero, with all other samples, comes last."""
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
        return replace(self._columns(values, sums), few=False)

    def _columns(self, values: FloatArray, sums: FloatArray) -> AtomColumns:
        """Take the counts, the last of the sums, apart."""
        counts = sums[:, :, -1].copy()
        counts[counts < 1e-12 * self.samples.total] = 0.0  # rounding of a difference
        return AtomColumns(values, counts, sums[:, :, :-1], self.n_removed)


def _centred(columns: AtomColumns, n_observed: IntArray) -> AtomColumns:
    """Centre the target's rows on the observed samples: only the constant is removed."""
    weights, totals = columns.weights, columns.totals()
    sums = columns.sums.copy()
    target = sums[:, :, : -columns.n_removed]
    shares = weights / totals[:, None]
    target -= shares[:, :, None] * target.sum(axis=1, keepdims=True)
    sums[:, :, -columns.n_removed] = weights / np.sqrt(totals)[:, None]
    return AtomColumns(columns.values, weights, sums, columns.n_removed, n_observed)


def _n_levels(sums: FloatArray) -> IntArray:
    """Number of levels up to the last that occurs, from sums (k, L, v) whose last row counts."""
    present = sums[:, ::-1, -1] > 0
    return np.asarray(sums.shape[1] - np.argmax(present, axis=1))


def few_whole_numbers(values: FloatArray) -> BoolArray:
    """Tell which rows of (k, n) hold few distinct whole numbers, NaN being missing."""
    known = ~np.isnan(values)
    lowest = np.where(known, values, np.inf).min(axis=1)
    highest = np.where(known, values, -np.inf).max(axis=1)
    few: BoolArray = highest - lowest < _MAX_LEVELS - 1
    few[few] = np.all((np.floor(values[few]) == values[few]) | ~known[few], axis=1)
    return few


def _codes(
    small: np.ndarray[Any, Any], some: IntArray, lowest: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Levels 0, 1, ... of some columns of (n, k), contiguous along a sample."""
    if some.size < small.shape[1]:
        small, lowest = small[:, some], lowest[some]
    plain = small.view(np.uint8) if small.dtype != np.uint8 else small
    if not lowest.any() and plain.strides[1] == 1:
        return plain
    codes = np.empty(plain.shape, dtype=np.uint8)
    np.subtract(plain, lowest.view(np.uint8), out=codes)  # modulo 256, as differences are small
    return codes
