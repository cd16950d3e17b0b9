"""Relating features to one target: a block of columns, or one feature by explicit rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.target import DENSE, Target
from hsiclasso.embedding import (
    BULK_SHARE,
    LEAST_STEP,
    NOTHING,
    TRIES,
    ClosedForm,
    Embedding,
    Features,
    Gaussian,
    Kernel,
    Laplace,
    Samples,
    Shrinkage,
    bases,
    laplace_matrix,
    vector_rows,
)
from hsiclasso.errors import InvalidInputError

__all__ = [
    "ClosedFormResults",
    "Found",
    "Relate",
    "error_bound",
    "nothing_left",
    "one_width",
]

#: Makes features for a share of the trace that they may leave out; returns what they do.
Expand = Callable[[float], tuple[FloatArray, float]]

#: Columns whose error is at most so many times too large get a longer expansion.
_NEAR = 100.0
#: Samples whose features are evaluated at once.
_RUN = 1024
_NO_GRAM = np.empty((0, 0))


@dataclass(frozen=True)
class Found:
    """What is found for some features, to be filled in.

    Attributes
    ----------
    relevance : ndarray of shape (k,)
    error : ndarray of shape (k,)
        Bound on the relative error of A_k.
    varies : ndarray of bool of shape (k,)
    observed : ndarray of int of shape (k,)
        Samples on which a feature is not missing.
    """

    relevance: FloatArray
    error: FloatArray
    varies: BoolArray
    observed: IntArray

    @classmethod
    def nothing(cls, size: int, n_samples: int) -> Found:
        """Return results to be filled in."""
        zeros = np.zeros(size)
        return cls(zeros, zeros.copy(), np.zeros(size, dtype=bool), np.full(size, n_samples))

    def part(self, part: slice) -> Found:
        """Return the results of a run of features, as views."""
        return Found(self.relevance[part], self.error[part], self.varies[part], self.observed[part])

    def put(self, places: IntArray, other: Found) -> None:
        """Fill in the results of some features."""
        self.relevance[places] = other.relevance
        self.error[places] = other.error
        self.varies[places] = other.varies
        self.observed[places] = other.observed


class Relate:
    """Relates features to a target.

    Parameters
    ----------
    features : Features
    target : Target
    measure : Measure
    """

    def __init__(self, features: Features, target: Target, measure: Measure) -> None:
        self.features = features
        self.target = target
        self.measure = measure
        self.samples = features.samples
        self.tol = features.tol
        rows = target.rows
        self._check_laplace()
        self.root = np.empty(0) if self.samples.weights is None else self.samples.root
        self.dense = _cut(np.concatenate([rows.dense, self.samples.removed]))
        self.sparse = _cut(rows.sparse)

    def _check_laplace(self) -> None:
        """Raise if Laplace kernels would need factors of full rank that are too large."""
        n = self.samples.n
        full = [
            e
            for e in self.features.embeddings
            if isinstance(e.kernel, Laplace) and not self.by_recursion(e)
        ]
        if full and n > DENSE:
            raise InvalidInputError(
                "Laplace kernels of features need a matrix of all pairs of samples with NOCCO or "
                f"with affinities, and there are {n} samples: use HSICLasso and a target with "
                f"values, another kernel, or at most {DENSE} samples."
            )

    def block(self, block: FloatArray, embedding: Embedding) -> Found:
        """Relate the columns of a (k, n) block, which is overwritten."""
        found = Found.nothing(len(block), self.samples.n)
        known = self.features.observed(block)
        if known is None:
            self.complete(block, embedding, found)
            return found
        found.observed[:] = known.sum(axis=1)
        whole = np.flatnonzero(known.all(axis=1))
        part = Found.nothing(whole.size, self.samples.n)
        self.complete(block[whole], embedding, part)
        found.put(whole, part)
        enough = found.observed >= self.features.least_observed
        for j in np.flatnonzero(enough & (found.observed < self.samples.n)):
            self.incomplete(block[j : j + 1], known[j], embedding, found.part(slice(j, j + 1)))
        return found

    def vectors(self, feature: int, found: Found) -> None:
        """Relate a feature of several columns; forget what was found for its first."""
        found.put(np.arange(1), Found.nothing(1, self.samples.n))
        vectors, embedding = self.features.vectors(feature), self.features.embedding(feature)
        known = self.features.observed(vectors)
        if known is not None:
            seen: BoolArray = np.all(known, axis=0)
            found.observed[:] = np.count_nonzero(seen)
            if found.observed[0] >= self.features.least_observed:
                self.incomplete(vectors, seen, embedding, found)
            return
        found.varies[:] = np.any(np.ptp(vectors, axis=1) > 0)
        if found.varies[0]:
            weights = self.samples.weights
            found.relevance[:], found.error[:] = self.explicit(
                lambda share: vector_rows(vectors, embedding.kernel, share, weights), self.samples
            )

    def complete(self, block: FloatArray, embedding: Embedding, found: Found) -> None:
        """Relate columns (k, n) without missing values."""
        shrinkage = self.measure.shrinkage(self.samples.total)
        share = shrinkage.usual_share(self.tol, self.samples.total)
        closed, others = embedding.prepare(block, share, self.samples.weights)
        found.varies[closed.columns] = True
        found.varies[others] = True
        if self.by_recursion(embedding):
            for j in others:
                found.relevance[j] = self.laplace(block[j], self.samples, None)
            return
        if closed.columns.size and self.target.product is None:
            others = np.append(others, self._closed_in_blocks(closed, embedding, share, found))
        elif closed.columns.size:
            others = np.append(others, self._closed_by_product(closed, found))
        for j in others:
            found.relevance[j], found.error[j] = self.explicit(
                lambda share, j=j: embedding.rows(block[j], share, self.samples.weights),  # type: ignore[misc]
                self.samples,
            )

    def incomplete(
        self, values: FloatArray, seen: BoolArray, embedding: Embedding, found: Found
    ) -> None:
        """Relate a feature, (q, n), that is observed on some samples only."""
        samples = self.samples.restrict(seen)
        embedding = embedding.on_observed(samples.total / self.samples.total)
        values = values[:, seen]
        found.varies[:] = np.any(np.ptp(values, axis=1) > 0)
        if not found.varies[0]:
            return
        if self.by_recursion(embedding):
            column = values.copy()
            embedding.prepare(column, 0.0, samples.weights)
            found.relevance[:] = self.laplace(column[0], samples, seen)
            return

        def expand(share: float) -> tuple[FloatArray, float]:
            if len(values) > 1:
                return vector_rows(values, embedding.kernel, share, samples.weights)
            return embedding.expand(values[0], share, samples.weights)

        found.relevance[:], found.error[:] = self.explicit(expand, samples, seen)

    def closed_form(
        self, closed: ClosedForm, shrinkage: Shrinkage
    ) -> tuple[FloatArray, FloatArray]:
        """Relevance and relative error bound of columns in closed form."""
        from hsiclasso.dependence._loops import relate_closed_form

        made, choice, rows = bases(), closed.choice, self.target.rows
        relevance, mass = np.empty(closed.columns.size), np.empty(closed.columns.size)
        relate_closed_form(
            closed.values, choice.basis, choice.counts, closed.table,
            made.scale, made.decay, made.up, made.back, self.root,
            self.dense, rows.tail, self.sparse, rows.offset, self.target.signs,
            shrinkage.ridge, self.measure.normalised, relevance, mass,
        )  # fmt: skip
        bulk_trace = self.samples.total * (1 - BULK_SHARE) - closed.left - mass
        return relevance, error_bound(shrinkage, closed.left, bulk_trace, choice.bulk)

    def _closed_in_blocks(
        self, closed: ClosedForm, embedding: Embedding, share: float, found: Found
    ) -> IntArray:
        """Relate columns in closed form; return those that need more accuracy than that has."""
        shrinkage = self.measure.shrinkage(self.samples.total)

        def relate(part: ClosedForm) -> FloatArray:
            relevance, bound = self.closed_form(part, shrinkage)
            found.relevance[part.columns], found.error[part.columns] = relevance, bound
            return bound

        bound = relate(closed)
        odd = bound > self.tol
        near = odd & (bound <= _NEAR * self.tol)
        far = closed.columns[odd & ~near]
        if not near.any():
            return far
        # an odd column, mostly of zeros say, asks for more than the usual accuracy
        share *= 0.5 * self.tol / bound[near].max()
        longer, unserved = embedding.tighten(closed, near, share, self.samples.weights)
        if longer.columns.size:
            unserved = np.append(unserved, longer.columns[relate(longer) > self.tol])
        return np.append(far, unserved)

    def _closed_by_product(self, closed: ClosedForm, found: Found) -> IntArray:
        """Relate columns in closed form one by one; return those that need more accuracy."""
        for j, place in enumerate(closed.columns):
            rows, trace = self.samples.project(closed.features(j))
            found.relevance[place], found.error[place] = self.rows(
                rows, closed.left, trace, self.samples
            )
        return closed.columns[found.error[closed.columns] > self.tol]

    def explicit(
        self, expand: Expand, samples: Samples, seen: BoolArray | None = None
    ) -> tuple[float, float]:
        """Relevance and relative error bound of one feature by explicit rows.

        `expand` makes features on the samples, those `seen`, for a share of the trace that may
        be left out.
        """

        def relate(features: FloatArray, left: float) -> tuple[float, float]:
            rows, trace = samples.project(features)
            return self.rows(rows, left, trace, samples, seen)

        return self.refine(expand, relate, samples.total)

    def refine(
        self,
        expand: Expand,
        relate: Callable[[FloatArray, float], tuple[float, float]],
        total: float,
    ) -> tuple[float, float]:
        """Expand a feature more and more tightly until what is found is accurate enough."""
        share = self.measure.shrinkage(total).usual_share(self.tol, total)
        for _ in range(TRIES):
            features, left = expand(share)
            if not len(features):
                return 0.0, 0.0
            relevance, error = relate(features, left)
            if error <= self.tol:
                break
            share *= max(0.5 * self.tol / error, LEAST_STEP)
        return relevance, error

    def rows(
        self,
        rows: FloatArray,
        left: float,
        trace: float,
        samples: Samples,
        seen: BoolArray | None = None,
    ) -> tuple[float, float]:
        """Relevance and relative error bound of a feature from rows that are projected.

        They leave out a trace of `left`, and had one of `trace` before.
        """
        from hsiclasso.dependence._loops import relevance_from_moments

        shrinkage = self.measure.shrinkage(samples.total)
        gram = rows @ rows.T if self.measure.needs_gram else _NO_GRAM
        kept = np.einsum("ri,ri->", rows, rows)
        if kept <= NOTHING * trace:
            return nothing_left(left, trace)
        restore = 1.0
        if seen is not None:
            restore = self.measure.restoration(samples.total / self.samples.total)
            spread = np.zeros((len(rows), seen.size))
            spread[:, seen] = rows
            rows = spread
        if self.target.product is None:
            relevance, _ = relevance_from_moments(
                gram, self.cross(rows), self.target.signs, shrinkage.ridge, self.measure.normalised
            )
        else:
            relevance = float(np.sum(rows * self.target.product(rows)))
            if self.measure.normalised:
                relevance /= float(np.linalg.norm(gram))
        return restore * relevance, float(error_bound(shrinkage, left, kept, np.array(len(rows))))

    def cross(self, rows: FloatArray) -> FloatArray:
        """Multiply projected rows (r, n) with the target's rows."""
        split = self.target.rows
        return np.concatenate([rows[:, split.tail] @ split.sparse.T, rows @ split.dense.T], axis=1)

    def laplace(self, column: FloatArray, samples: Samples, seen: BoolArray | None) -> float:
        """Relevance of a scaled column with a Laplace kernel, exactly."""
        share = samples.total / self.samples.total
        matrix = laplace_matrix(column, samples, seen, share)
        # only covariates can leave nothing of a column that varies
        if samples.covariates is not None and not matrix.norm > 0:
            return 0.0
        matrix = self.measure.finish(matrix)
        if self.target.laplace:
            return sum(matrix.inner(other) for other in self.target.laplace)
        rows, signs = self.whole
        if seen is None:  # the rows have lost what the matrix removes
            return float(signs @ matrix.energies(rows))
        return float(signs @ np.einsum("ri,ri->r", rows, matrix.product(rows)))

    @cached_property
    def whole(self) -> tuple[FloatArray, FloatArray]:
        """Rows of the target in full, and their signs: those that were split come last."""
        split = self.target.rows
        return split.unsplit(), np.roll(self.target.signs, -split.offset.size)

    def by_recursion(self, embedding: Embedding) -> bool:
        """Whether recursions serve; shrunk matrices and other products need explicit rows."""
        known = self.target.product is None or bool(self.target.laplace)
        return isinstance(embedding.kernel, Laplace) and not self.measure.epsilon and known


def nothing_left(left: float, trace: float) -> tuple[float, float]:
    """Relevance and error of a feature that has nothing left, unless it was left out."""
    return 0.0, np.inf if left > NOTHING * trace else 0.0


def error_bound(
    shrinkage: Shrinkage, left: float, trace: FloatArray | np.float64, rank: IntArray
) -> FloatArray:
    """Bound the relative error of a matrix from what was left out, its trace and rank."""
    norm = shrinkage.least_norm(np.maximum(trace, np.finfo(float).tiny), rank)
    return left * shrinkage.lipschitz / norm


@dataclass(frozen=True)
class ClosedFormResults:
    """What a loop finds for columns that it expands one by one; arrays of shape (k,).

    Attributes
    ----------
    counts : ndarray of int
        Features used, 0 where no expansion serves.
    relevance : ndarray
    left : ndarray
        Trace that is left out.
    trace, norm : ndarray
        Trace and Frobenius norm of the projected Gram matrix, before any shrinkage.
    """

    counts: IntArray
    relevance: FloatArray
    left: FloatArray
    trace: FloatArray
    norm: FloatArray

    @classmethod
    def nothing(cls, size: int) -> ClosedFormResults:
        """Return results to be filled in."""
        return cls(np.zeros(size, dtype=np.int64), *(np.zeros(size) for _ in range(4)))

    def put(
        self, places: IntArray, found: Found, tol: float, ridge: FloatArray | float
    ) -> IntArray:
        """Fill in what is accurate enough; return the places of the other columns."""
        bound = self._bound(ridge)
        served = (self.counts > 0) & (bound <= tol)
        where = places[served]
        found.relevance[where], found.error[where] = self.relevance[served], bound[served]
        found.varies[where] = True
        return np.asarray(places[~served])

    def _bound(self, ridge: FloatArray | float) -> FloatArray:
        tiny = np.finfo(float).tiny
        if not np.any(ridge):
            return self.left / np.maximum(self.norm, tiny)
        mean = np.maximum(self.trace, tiny) / np.maximum(self.counts, 1)
        return np.asarray(self.left * (mean + ridge) / (ridge * mean))  # as `Shrinkage.least_norm`


def one_width(kernel: Kernel) -> float | None:
    """Width of a Gaussian kernel, if it is one and known; None otherwise."""
    known = isinstance(kernel, Gaussian) and isinstance(kernel.width, int | float)
    return float(kernel.width) if known else None  # type: ignore[arg-type, union-attr]


def _cut(rows: FloatArray) -> FloatArray:
    """Cut rows (r, n) into runs of at most `_RUN` samples: (n_runs, r, run), zero-padded."""
    r, n = rows.shape
    n_runs = -(-n // _RUN)
    run = -(-n // max(n_runs, 1))
    padded = np.zeros((r, n_runs * run))
    padded[:, :n] = rows
    return np.ascontiguousarray(padded.reshape(r, n_runs, run).transpose(1, 0, 2))
