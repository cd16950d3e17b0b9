"""Relating columns of small integers to a target: genotypes, counts, yes and no.

The features of such a column depend on its level alone, so that all that is needed of the
samples are sums of the target's rows at each level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.relate import Found, Relate, one_width
from hsiclasso.embedding import Delta, Embedding

__all__ = ["MAX_LEVELS", "RelateLevels"]

#: Columns with more levels are read as numbers.
MAX_LEVELS = 64
#: Columns with up to so many levels are summed at once, by a faster loop if they are three.
_STEPS = (3, 16, MAX_LEVELS)
_LEAST_PER_LEVEL = 32


class RelateLevels:
    """Relates columns of small integers to a target.

    Parameters
    ----------
    relate : Relate
        The target, the measure and the samples.
    """

    def __init__(self, relate: Relate) -> None:
        self.relate = relate
        samples = relate.samples
        rows, self.signs = relate.whole
        # weighed twice: as functions of the samples, and as what multiplies features; the last
        # row counts the samples
        self.rows = np.concatenate([rows, samples.removed, samples.root[None]]) * samples.root
        self.totals = self.rows.sum(axis=1)

    def serves(self, embedding: Embedding) -> bool:
        """Whether sums at levels are all that a kernel needs."""
        kernel = embedding.kernel
        if self.relate.target.product is not None or embedding.method != "auto":
            return False
        return isinstance(kernel, Delta) or one_width(kernel) is not None

    def __call__(
        self, small: np.ndarray[Any, Any], places: IntArray, embedding: Embedding, found: Found
    ) -> IntArray:
        """Relate the columns at some `places` of (n, k); return those with too many levels."""
        if places.size < small.shape[1]:
            small = small[:, places]
        lowest, highest = small.min(axis=0), small.max(axis=0)
        n_levels = highest.astype(np.int64) - lowest + 1
        fewest = 0
        for most in self._steps(embedding):
            some = np.flatnonzero((n_levels > fewest) & (n_levels <= most))
            fewest = most
            if some.size:
                codes = _codes(small, some, lowest)
                values = lowest[some, None].astype(np.float64) + np.arange(most)
                part = self._few(codes, values, most, embedding)
                found.put(places[some], part)
        return np.asarray(places[n_levels > fewest])

    def _steps(self, embedding: Embedding) -> list[int]:
        """Numbers of levels up to which columns are counted.

        With few samples for each level a Gaussian column is related faster as numbers.
        """
        counted = isinstance(embedding.kernel, Delta)
        n = self.relate.samples.n
        return [most for most in _STEPS if counted or most == 3 or n >= _LEAST_PER_LEVEL * most]

    def _few(
        self, codes: np.ndarray[Any, Any], values: FloatArray, n_levels: int, embedding: Embedding
    ) -> Found:
        """Relate columns (n, k) of codes below `n_levels`."""
        from hsiclasso.dependence import _level_loops as loops

        k = codes.shape[1]
        sums = np.zeros((k, n_levels, len(self.rows)))
        if n_levels == 3:
            others = np.zeros((k, 2, len(self.rows)))
            loops.sum_three_levels(codes, self.rows, others)
            sums[:, 1:] = others
            sums[:, 0] = self.totals - others.sum(axis=1)
        else:
            loops.sum_levels(codes, self.rows, n_levels, sums)
        return self.from_sums(sums, values, embedding)

    def by_level(
        self, block: FloatArray, known: BoolArray, embedding: Embedding
    ) -> tuple[BoolArray, Found]:
        """Relate the columns of a (k, n) block that hold few whole numbers where `known`.

        Returns which those are, and what is found for them.
        """
        from hsiclasso.dependence._level_loops import sum_levels

        lowest, few = _whole_numbers(block, known)
        missing = MAX_LEVELS - 1  # a level of its own, which no kernel sees
        codes = np.where(known[few], block[few] - lowest[few, None], missing).astype(np.uint8)
        sums = np.zeros((len(codes), MAX_LEVELS, len(self.rows)))
        sum_levels(np.ascontiguousarray(codes.T), self.rows, MAX_LEVELS, sums)
        sums = sums[:, :missing]
        values = lowest[few, None] + np.arange(missing)
        counts = sums[:, :, -1]
        total = counts.sum(axis=1)
        # centre on the samples that are observed: the constant is all that is removed
        rank, share = self.signs.size, counts / total[:, None]
        sums[:, :, :rank] -= share[:, :, None] * sums[:, :, :rank].sum(axis=1, keepdims=True)
        sums[:, :, rank] = counts / np.sqrt(total)[:, None]
        found = self.from_sums(sums, values, embedding, total)
        observed = total / self.relate.samples.total
        found.relevance[:] *= [self.relate.measure.restoration(q) for q in observed]
        found.observed[:] = known[few].sum(axis=1)
        return few, found

    def from_sums(
        self,
        sums: FloatArray,
        values: FloatArray,
        embedding: Embedding,
        total: FloatArray | None = None,
    ) -> Found:
        """Relate columns given the sums (k, L, rows) at levels that stand for `values` (k, L).

        `total` (k,) is the weight of the samples that are observed; all, if it is left out.
        """
        from hsiclasso.dependence import _level_loops as loops

        samples, measure, kernel = self.relate.samples, self.relate.measure, embedding.kernel
        sums, counts = np.ascontiguousarray(sums[:, :, :-1]), sums[:, :, -1].copy()
        counts[counts < 1e-12 * samples.total] = 0.0  # rounding of a difference
        total = np.full(len(sums), samples.total) if total is None else total
        found = Found.nothing(len(sums), samples.n)
        which = loops.GAUSSIAN
        if isinstance(kernel, Delta):
            which = loops.DELTA if kernel.by_count else loops.INDICATOR
        loops.relate_levels(
            sums, counts, values, self.signs, which, one_width(kernel) or 1.0,
            total / samples.total, measure.epsilon * total, measure.normalised,
            found.relevance, found.varies,
        )  # fmt: skip
        return found


def _whole_numbers(block: FloatArray, known: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Least value of each row of (k, n), and which rows hold few whole numbers where known."""
    lowest = np.where(known, block, np.inf).min(axis=1)
    highest = np.where(known, block, -np.inf).max(axis=1)
    few = highest - lowest < MAX_LEVELS - 1
    few[few] = np.all((np.floor(block[few]) == block[few]) | ~known[few], axis=1)
    return lowest, few


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
