"""Relating sparse columns to a target: zeros share one row of features.

With the features of zero taken from all, only stored entries are left,

    sum_i phi(x_i) t_i = phi(0) sum_i t_i + sum_{i stored} (phi(x_i) - phi(0)) t_i

so that time and memory grow with what is stored.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Stored
from hsiclasso.dependence.levels import MAX_LEVELS, RelateLevels
from hsiclasso.dependence.relate import (
    ClosedFormResults,
    Found,
    Relate,
    error_bound,
    nothing_left,
    one_width,
)
from hsiclasso.embedding import BINS_PER_UNIT, NOTHING, Embedding, bases

__all__ = ["RelateStored"]


class RelateStored:
    """Relates sparse columns to a target.

    Parameters
    ----------
    relate : Relate
        The target, the measure and the samples.
    """

    def __init__(self, relate: Relate) -> None:
        self.relate = relate
        self.levels = RelateLevels(relate)
        self.signs = self.levels.signs
        # sample-major, since what is needed are the rows of some samples; the last row counts
        self.counted = np.ascontiguousarray(self.levels.rows.T)
        self.rows = np.ascontiguousarray(self.counted[:, :-1])
        self.totals = self.levels.totals[:-1]
        self.weights = np.square(relate.samples.root)

    def __call__(
        self, stored: Stored, places: IntArray, embedding: Embedding, found: Found
    ) -> IntArray:
        """Relate the columns at some `places`; return those that must be read as numbers."""
        if self.relate.by_recursion(embedding):
            return places
        left = places
        if self.levels.serves(embedding):
            left = self._by_level(stored, left, embedding, found)
        left = self._closed_form(stored, left, embedding, found)
        indptr, _, data = stored
        again = []
        for j in left:
            if np.isnan(data[indptr[j] : indptr[j + 1]]).any():
                again.append(j)
            else:
                self._explicit(stored, int(j), embedding, found)
        return np.array(again, dtype=np.int64)

    def _by_level(
        self, stored: Stored, places: IntArray, embedding: Embedding, found: Found
    ) -> IntArray:
        """Relate columns of a few whole numbers; return the others."""
        from hsiclasso.dependence._stored_loops import sum_stored_levels

        lowest = np.empty(places.size)
        sums = np.zeros((places.size, MAX_LEVELS, self.counted.shape[1]))
        sum_stored_levels(*stored, places, self.counted, self.levels.totals, lowest, sums)
        few = ~np.isnan(lowest)
        if few.any():
            values = lowest[few, None] + np.arange(MAX_LEVELS)
            found.put(places[few], self.levels.from_sums(sums[few], values, embedding))
        return np.asarray(places[~few])

    def _closed_form(
        self, stored: Stored, places: IntArray, embedding: Embedding, found: Found
    ) -> IntArray:
        """Relate the columns that eigenfunctions serve; return the others."""
        from hsiclasso.dependence._stored_loops import relate_stored

        relate, width = self.relate, one_width(embedding.kernel)
        if embedding.method != "auto" or width is None or not places.size:
            return places
        total = relate.samples.total
        shrinkage = relate.measure.shrinkage(total)
        share = shrinkage.usual_share(relate.tol, total)
        made, results = bases(), ClosedFormResults.nothing(places.size)
        relate_stored(
            *stored, places, self.weights, total, self.rows, self.totals, self.signs,
            width, float(BINS_PER_UNIT), made.residual, share,
            made.scale, made.decay, made.up, made.back,
            shrinkage.ridge, relate.measure.normalised,
            results.counts, results.relevance, results.left, results.trace, results.norm,
        )  # fmt: skip
        return results.put(places, found, relate.tol, shrinkage.ridge)

    def _explicit(self, stored: Stored, j: int, embedding: Embedding, found: Found) -> None:
        """Relate one column by explicit features of its stored values and of zero."""
        from hsiclasso.dependence._loops import relevance_from_moments

        indptr, indices, data = stored
        rows_at = indices[indptr[j] : indptr[j + 1]]
        values, shares = data[indptr[j] : indptr[j + 1]], self.weights[rows_at]
        if rows_at.size < self.weights.size:
            zeros = max(self.relate.samples.total - shares.sum(), 0.0)
            values, shares = np.append(values, 0.0), np.append(shares, zeros)
        found.varies[j] = np.ptp(values) > 0
        if not found.varies[j]:
            return
        measure, total = self.relate.measure, self.relate.samples.total

        def relate(features: FloatArray, left: float) -> tuple[float, float]:
            at_zero = features[:, rows_at.size :].sum(axis=1, keepdims=True)
            changes = features[:, : rows_at.size] - at_zero
            cross = changes @ self.rows[rows_at] + at_zero * self.totals
            gram = (features * shares) @ features.T
            trace = np.trace(gram)
            ridge = measure.shrinkage(total).ridge
            relevance, mass = relevance_from_moments(
                gram, cross, self.signs, ridge, measure.normalised
            )
            if trace - mass <= NOTHING * trace:
                return nothing_left(left, trace)
            rank = np.array(len(features))
            return relevance, float(error_bound(measure.shrinkage(total), left, trace - mass, rank))

        found.relevance[j], found.error[j] = self.relate.refine(
            lambda share: embedding.expand(values, share, shares), relate, total
        )
