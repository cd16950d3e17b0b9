"""The one pass over the data: relevance of every feature.

The pass is threaded over blocks of columns. A block is read, standardised and related to the
target's factor by compiled code that holds no lock. Nothing of size n x n or d x d exists, and
a feature costs O(n r^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.target import Target
from hsiclasso.dependence.threads import run_threaded
from hsiclasso.embedding import BULK_SHARE, ClosedForm, Embedding, bases

__all__ = ["Progress", "Scan", "scan_relevance"]

#: Called with the name of the stage, the number of units done and the number in all.
Progress = Callable[[str, int, int], None]

#: Entries of the table in one block.
_BLOCK = 1 << 18
#: How often an odd column is expanded again, more tightly each time.
_TRIES = 5
#: Samples whose features are evaluated at once.
_RUN = 1024


@dataclass(frozen=True)
class Scan:
    """What the pass found.

    Attributes
    ----------
    relevance : ndarray of shape (d,)
        <A_k, T> of every feature.
    target_norm2 : float
        Squared Frobenius norm of T.
    varies : ndarray of bool of shape (d,)
        False for constant features, whose relevance is 0.
    error : float
        Largest bound, over the features, on the relative error of A_k in the Frobenius norm.
    """

    relevance: FloatArray
    target_norm2: float
    varies: BoolArray
    error: float


def scan_relevance(
    source: Source,
    target: Target,
    measure: Measure,
    embedding: Embedding,
    *,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> Scan:
    """Compute the relevance of every feature in one pass.

    Parameters
    ----------
    source : Source
        The table.
    target : Target
        Factored target.
    measure : Measure
        Dependence measure.
    embedding : Embedding
        Kernel and tolerance of the features.
    n_threads : int
        Threads of the pass. Call it with BLAS limited to one thread.
    progress : callable, optional
        Told how far the pass is.

    Returns
    -------
    Scan
    """
    n, d = source.n_samples, source.n_features
    width = max(1, min(d, _BLOCK // n))
    relate = _Relate(target, measure, embedding, n)
    relevance, error, varies = np.zeros(d), np.zeros(d), np.zeros(d, dtype=bool)

    def scan_block(start: int) -> int:
        part = slice(start, min(d, start + width))
        relate.block(source.block(part).T, relevance[part], error[part], varies[part])
        return part.stop - start

    def report(done: int) -> None:
        if progress is not None:
            progress("relevance", done, d)

    run_threaded(scan_block, range(0, d, width), n_threads, report)
    return Scan(relevance, target.norm2, varies, float(error.max(initial=0.0)))


class _Relate:
    """Relates blocks of columns to one target."""

    def __init__(self, target: Target, measure: Measure, embedding: Embedding, n: int) -> None:
        self.measure = measure
        self.embedding = embedding
        self.shrinkage = measure.shrinkage(n)
        self.share = self.shrinkage.usual_share(embedding.tol, n)
        self.n = n
        rows = self.rows = target.rows
        self.dense = _cut(np.concatenate([rows.dense, np.ones((1, n))]))
        self.sparse = _cut(rows.sparse)

    def block(
        self, block: FloatArray, relevance: FloatArray, error: FloatArray, varies: BoolArray
    ) -> None:
        """Fill the results for a (k, n) block, which is overwritten."""
        closed, others = self.embedding.prepare(block, self.share)
        varies[closed.columns] = True
        varies[others] = True
        if closed.columns.size:
            found, bound = self.closed_form(closed)
            relevance[closed.columns], error[closed.columns] = found, bound
            # An odd column, nearly constant say, asks for more than the usual accuracy.
            others = np.append(others, closed.columns[bound > self.embedding.tol])
        for j in others:
            relevance[j], error[j] = self.adaptive(block[j])

    def closed_form(self, closed: ClosedForm) -> tuple[FloatArray, FloatArray]:
        """Relevance and relative error bound of columns in closed form."""
        from hsiclasso.dependence._loops import relate_closed_form

        made, choice = bases(), closed.choice
        relevance, mass = np.empty(closed.columns.size), np.empty(closed.columns.size)
        relate_closed_form(
            closed.values, choice.basis, choice.counts, closed.table,
            made.scale, made.decay, made.up, made.back,
            self.dense, self.rows.tail, self.sparse, self.rows.offset,
            self.shrinkage.ridge, self.measure.normalised, relevance, mass,
        )  # fmt: skip
        bulk_trace = self.n * (1 - BULK_SHARE) - closed.left - mass
        return relevance, self.error(closed.left, bulk_trace, choice.bulk)

    def adaptive(self, column: FloatArray) -> tuple[float, float]:
        """Relevance and relative error bound of one prepared column, by explicit rows."""
        from hsiclasso.dependence._loops import relevance_from_moments

        share, tol = self.share, self.embedding.tol
        for _ in range(_TRIES):
            rows, left = self.embedding.rows(column, share)
            gram = rows @ rows.T if self.measure.needs_gram else np.empty((0, 0))
            relevance, mass = relevance_from_moments(
                gram, self.cross(rows), self.n, self.shrinkage.ridge, self.measure.normalised
            )
            trace = np.sum(rows * rows) - mass
            error = float(self.error(left, trace, np.array(len(rows))))
            if error <= tol:
                break
            share *= 0.5 * tol / error
        return relevance, error

    def cross(self, features: FloatArray) -> FloatArray:
        """Explicit features (r, n) times the target's rows and ones, as the compiled loop does."""
        rows = self.rows
        sums = features.sum(axis=1, keepdims=True)
        sparse = features[:, rows.tail] @ rows.sparse.T + sums * rows.offset
        return np.concatenate([sparse, features @ rows.dense.T, sums], axis=1)

    def error(self, left: float, trace: FloatArray | np.float64, rank: IntArray) -> FloatArray:
        """Bound the relative error of a matrix from what was left out, its trace and rank."""
        norm = self.shrinkage.least_norm(np.maximum(trace, np.finfo(float).tiny), rank)
        return left * self.shrinkage.lipschitz / norm


def _cut(rows: FloatArray) -> FloatArray:
    """Cut rows (r, n) into runs of at most `_RUN` samples: (n_runs, r, run), zero-padded."""
    r, n = rows.shape
    n_runs = -(-n // _RUN)
    run = -(-n // max(n_runs, 1))
    padded = np.zeros((r, n_runs * run))
    padded[:, :n] = rows
    return np.ascontiguousarray(padded.reshape(r, n_runs, run).transpose(1, 0, 2))
