"""Relating blocks of numbers that explicit rows would be slow for: incomplete, or to be counted."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.levels import RelateLevels
from hsiclasso.dependence.relate import ClosedFormResults, Found, Relate, one_width
from hsiclasso.embedding import BINS_PER_UNIT, Delta, Embedding, bases

__all__ = ["RelateGaps"]


class RelateGaps:
    """Relates columns with missing values, or under a delta kernel, to a target with a factor.

    A few whole numbers are counted by level; other columns are centred on the samples on which
    they are observed, in compiled code; the rest is left to explicit rows.

    Parameters
    ----------
    relate : Relate
        The target, the measure and the samples.
    """

    def __init__(self, relate: Relate) -> None:
        self.relate = relate
        self.levels = RelateLevels(relate)
        rows, self.signs = relate.whole
        self.rows = np.ascontiguousarray(np.concatenate([rows, relate.samples.removed]).T)
        self.weights = np.square(relate.samples.root)

    def __call__(self, block: FloatArray, embedding: Embedding) -> Found:
        """Relate the columns of a (k, n) block, which is overwritten."""
        features = self.relate.features
        known = features.observed(block)
        counted = isinstance(embedding.kernel, Delta)
        if known is None and not counted:
            return self.relate.block(block, embedding)
        known = np.ones(block.shape, dtype=bool) if known is None else known
        observed = known.sum(axis=1)
        incomplete = observed < features.n_samples
        left = np.flatnonzero((observed >= features.least_observed) & (incomplete | counted))
        found = Found.nothing(len(block), features.n_samples)
        left = self._by_level(block, known, left, embedding, found)
        self._closed_form(block, left, embedding, found)
        others = np.setdiff1d(np.arange(len(block)), np.flatnonzero(found.varies))
        found.put(others, self.relate.block(block[others], embedding))
        found.observed[:] = observed
        return found

    def _by_level(
        self, block: FloatArray, known: BoolArray, places: IntArray, embedding: Embedding,
        found: Found,
    ) -> IntArray:  # fmt: skip
        """Relate columns of a few whole numbers; return the others."""
        simple = self.relate.samples.covariates is None
        if not (simple and places.size and self.levels.serves(embedding)):
            return places
        few, part = self.levels.by_level(block[places], known[places], embedding)
        found.put(places[few], part)
        return np.asarray(places[~few])

    def _closed_form(
        self, block: FloatArray, places: IntArray, embedding: Embedding, found: Found
    ) -> None:
        """Relate the columns that eigenfunctions serve."""
        from hsiclasso.dependence._stored_loops import relate_gaps

        relate, width = self.relate, one_width(embedding.kernel)
        if embedding.method != "auto" or width is None or not places.size:
            return
        measure, made, whole = relate.measure, bases(), relate.samples.total
        share = measure.shrinkage(whole).usual_share(relate.tol, whole)
        results, total = ClosedFormResults.nothing(places.size), np.zeros(places.size)
        relate_gaps(
            block[places], self.weights, self.rows, self.signs, width, float(BINS_PER_UNIT),
            made.residual, share, made.scale, made.decay, made.up, made.back,
            measure.epsilon, measure.normalised,
            results.counts, results.relevance, results.left, results.trace, results.norm, total,
        )  # fmt: skip
        results.relevance[:] *= [measure.restoration(t / whole) for t in total]
        results.put(places, found, relate.tol, measure.epsilon * total)
