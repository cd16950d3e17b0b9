"""Inner products of the features' matrices, from factors that are made when needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.features import Features, Matrix, Scaled
from hsiclasso.dependence.running import Threads
from hsiclasso.dependence.sparse_factors import SparseFactor, make_matrices, sparse_energies
from hsiclasso.kernels import Factor, Measure
from hsiclasso.kernels.markov import LaplaceMatrix

__all__ = ["FactorProducts", "ScaledColumns"]

#: Least size of the cache of factors in bytes. Up to what the budget allows, it is an eighth of the
#: size of the table in double precision. Kept factors reduce it, but not below its least size.
_CACHE_BYTES = 32 * 2**20
#: With many short columns, the least size is this number of bytes per column, at most doubled.
_CACHE_PER_COLUMN = 6400
#: Rows of a long factor of an interaction. All interactions are asked for again and again.
_ROWS_OF_PRODUCT = 128
#: Least size of the scaled columns that are kept, in bytes. Up to what the budget allows, it is an
#: eighth of the size of the table.
_COLUMN_BYTES = 32 * 2**20
#: Bytes that a scaled column takes beside its values, as an object: more than those of few samples.
_COLUMN_OBJECT = 1024
#: Number of entries of the table that are read at once.
_READ_ENTRIES = 1 << 20
#: Fewest parts of a block for which threads are started.
_MIN_PARTS = 8
#: Number of shares into which the samples are divided, for threads, when there are few columns.
_SHARES = 4
#: Number of doubles of stacked factors that are multiplied at once.
_STACK = 1 << 18
#: Fewest samples that are multiplied at once.
_LEAST_RUN = 256


AnyMatrix = Matrix | SparseFactor


class ScaledColumns:
    """Reads and scales features, and keeps those that were asked for last."""

    def __init__(self, features: Features, budget: Budget | None = None) -> None:
        self.features = features
        self.budget = budget or Budget()
        self._known: OrderedDict[int, Scaled] = OrderedDict()
        most = self.budget.columns
        wanted = features.source.n_bytes // 8
        self._free_bytes = int(np.clip(wanted, min(_COLUMN_BYTES, most), most))
        self._lock = threading.Lock()

    def __call__(self, wanted: IntArray) -> list[Scaled]:
        """Return scaled features; read those that are not in memory."""
        numbers = wanted.tolist()
        with self._lock:
            made = {k: self._known[k] for k in numbers if k in self._known}
            for k in made:
                self._known.move_to_end(k)
        new = [k for k in dict.fromkeys(numbers) if k not in made]
        if new:
            # features that are read together stay in memory together
            step = max(1, _READ_ENTRIES // self.features.n_samples)
            for part in (new[start : start + step] for start in range(0, len(new), step)):
                made |= dict(zip(part, self.features.scaled(np.array(part)), strict=True))
            with self._lock:
                for k in new:
                    self._keep(k, made[k])
        return [made[k] for k in numbers]

    def _keep(self, feature: int, scaled: Scaled) -> None:
        """Keep a feature, and drop those that were not asked for longest until it fits."""
        if feature in self._known:
            return
        self._known[feature] = scaled
        self._free_bytes -= scaled.z.nbytes + _COLUMN_OBJECT
        while self._free_bytes < 0:
            _, oldest = self._known.popitem(last=False)
            self._free_bytes += oldest.z.nbytes + _COLUMN_OBJECT


class FactorProducts:
    """Inner products of features of any kind.

    Parameters
    ----------
    columns : ScaledColumns
        The features, which are read when needed.
    measure : Measure
        Dependence measure.
    n_threads : int
        Number of threads for large blocks.
    sparse : bool, default=True
        Whether columns that are mostly zero get a `SparseFactor`.
    """

    def __init__(
        self, columns: ScaledColumns, measure: Measure, n_threads: int, *, sparse: bool = True
    ) -> None:
        features = columns.features
        self._make = make_matrices if sparse else Features.matrices
        self._columns = columns
        self._measure = measure
        self._n_threads = n_threads
        self._cache: OrderedDict[int, AnyMatrix] = OrderedDict()
        self._kept: dict[int, AnyMatrix] = {}
        least, most = _CACHE_BYTES, columns.budget.factors
        least = int(np.clip(_CACHE_PER_COLUMN * features.n_features, least, 2 * least))
        least = min(least, most)
        self._least_bytes = least
        wanted = features.source.n_stored
        wanted += _ROWS_OF_PRODUCT * 8 * features.n_samples * len(features.interactions)
        self._free_bytes = int(np.clip(wanted, least, most)) - least
        self._cached_bytes = 0
        self._norm2: dict[int, float] = {}
        #: Largest bound on the relative error of a Gram matrix so far.
        self.error = 0.0
        # a stack of factors should be small; few have more than 24 rows
        n, n_read = features.n_samples, _READ_ENTRIES // (4 * features.n_samples)
        length = features.source.n_stored // max(1, features.source.n_features) if sparse else n
        self._step = max(1, min(_STACK // (24 * max(1, length)), max(n_read, _STACK // (24 * n))))
        self._many = _MIN_PARTS * self._step
        self._lock = threading.Lock()

    def matrices(self, wanted: IntArray, *, keep: bool = False) -> list[AnyMatrix]:
        """Return the matrices of some features; make those that are not in memory.

        With `keep` they stay in memory. Otherwise the cache may drop them.
        """
        numbers = wanted.tolist()
        with self._lock:
            made = {
                k: self._recall(k, keep) for k in numbers if k in self._kept or k in self._cache
            }
        missing = [k for k in dict.fromkeys(numbers) if k not in made]
        if missing:
            scaled = self._columns(np.array(missing))
            fresh = self._make(self._columns.features, scaled, self._measure)
            made |= dict(zip(missing, fresh, strict=True))
            with self._lock:
                for k in missing:
                    self._remember(k, made[k], keep)
        return [made[k] for k in numbers]

    def norms2(self, wanted: IntArray) -> FloatArray:
        """Return the squared Frobenius norms of the matrices of some features."""
        numbers = wanted.tolist()
        unknown = np.array([k for k in numbers if k not in self._norm2], dtype=np.int64)
        parts = self._parts(unknown)
        for _ in self._threads(unknown).map(self.matrices, parts):
            pass  # making a matrix stores its norm
        return np.array([self._norm2[k] for k in numbers])

    def complete(self, rows: IntArray, cols: IntArray, out: FloatArray) -> None:
        """Write inner products of features `rows` and `cols` where `out` is NaN.

        The factors of `cols` are kept.
        """
        for alike, missing in _patterns(np.isnan(out)):
            fresh = self.inner_products(rows[alike], cols[missing], keep=True)
            out[np.ix_(alike, missing)] = fresh

    def inner_products(self, rows: IntArray, cols: IntArray, *, keep: bool = False) -> FloatArray:
        """Return the inner products of features `rows` and `cols`; `keep` the factors of `cols`."""
        right, threads = self.matrices(cols, keep=keep), self._threads(rows)
        # threads share out the features if there are many, and the samples otherwise
        spare = Threads(1 if threads.n_threads > 1 else self._n_threads)

        def multiply(part: IntArray) -> FloatArray:
            return inner_products(self.matrices(part), right, spare)

        return np.concatenate(list(threads.map(multiply, self._parts(rows))))

    def _parts(self, rows: IntArray) -> list[IntArray]:
        """Cut features into parts with small stacked factors; no features give one empty part."""
        return np.split(rows, range(self._step, rows.size, self._step))

    def _threads(self, rows: IntArray) -> Threads:
        """Return the threads for some features; one if starting threads would take longer."""
        return Threads(self._n_threads if rows.size >= self._many else 1)

    def _recall(self, number: int, keep: bool) -> AnyMatrix:
        """Return a matrix that is in memory; with `keep`, move it out of the cache."""
        if number in self._kept:
            return self._kept[number]
        if keep:
            matrix = self._cache.pop(number)
            self._cached_bytes -= matrix.nbytes
            self._keep(number, matrix)
            return matrix
        self._cache.move_to_end(number)
        return self._cache[number]

    def _remember(self, number: int, matrix: AnyMatrix, keep: bool) -> None:
        """Store a new matrix and its norm."""
        self._norm2[number] = matrix.norm**2
        # dividing a Gram matrix by its norm doubles the bound on its error
        self.error = max(self.error, matrix.error / (2 if self._measure.normalised else 1))
        if keep:
            self._keep(number, matrix)
        elif number not in self._cache:
            self._cache[number] = matrix
            self._cached_bytes += matrix.nbytes
            self._forget()

    def _keep(self, number: int, matrix: AnyMatrix) -> None:
        """Keep a matrix in memory; the cache becomes smaller."""
        self._kept[number] = matrix
        self._free_bytes -= matrix.nbytes
        self._forget()

    def _forget(self) -> None:
        """Drop the least recently used matrices until the cache is small enough."""
        limit = self._least_bytes + max(0, self._free_bytes)
        while self._cached_bytes > limit and self._cache:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= oldest.nbytes


def _patterns(unknown: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield groups of rows in which the same columns are unknown, with these columns."""
    if (unknown == unknown[:1]).all():
        yield np.arange(len(unknown)), np.flatnonzero(unknown[0])
        return
    patterns, which = np.unique(unknown, axis=0, return_inverse=True)
    for i, missing in enumerate(patterns):
        if missing.any():
            yield np.flatnonzero(which.ravel() == i), np.flatnonzero(missing)


def inner_products(left: list[AnyMatrix], right: list[AnyMatrix], threads: Threads) -> FloatArray:
    """Return the inner products of matrices of any kinds."""
    out = np.empty((len(left), len(right)))
    for rows, some in _by_kind(left):
        for cols, others in _by_kind(right):
            out[np.ix_(rows, cols)] = _of_one_kind(some, others, threads)
    return out


def _by_kind(matrices: list[AnyMatrix]) -> Iterator[tuple[list[int], list[Any]]]:
    """Yield the matrices of each class, with their places."""
    for kind in {type(matrix): None for matrix in matrices}:
        places = [i for i, matrix in enumerate(matrices) if type(matrix) is kind]
        yield places, [matrices[i] for i in places]


def _of_one_kind(left: list[Any], right: list[Any], threads: Threads) -> FloatArray:
    """Return the inner products of matrices; those of each side are of one class."""
    kinds = type(left[0]), type(right[0])
    if kinds == (Factor, Factor):
        return _energies(left, right, threads)
    if kinds == (SparseFactor, SparseFactor):
        return sparse_energies(left, right)
    if kinds == (LaplaceMatrix, LaplaceMatrix):
        return np.array([[one.inner(other) for other in right] for one in left])
    if kinds[0] is Factor or kinds[1] is LaplaceMatrix:
        return np.array([[other.energy(one.rows) for other in right] for one in left])
    return np.array([[one.energy(other.rows) for other in right] for one in left])


def _energies(left: list[Factor], right: list[Factor], threads: Threads) -> FloatArray:
    """Return the squared Frobenius norms of ``F_k F_l'`` for k in `left` and l in `right`.

    The products are summed over runs of samples, because stacked factors of a run fit in the cache.
    """
    (left_rows, left_starts), (right_rows, right_starts) = _stack(left), _stack(right)
    n = left_rows[0].shape[1]
    height = sum(map(len, left_rows)) + sum(map(len, right_rows))
    run = max(_LEAST_RUN, _STACK // height)
    # the shares, and therefore the rounding errors, do not depend on the number of threads
    share = run * -(-n // (run * _SHARES))

    def multiply(start: int) -> FloatArray:
        stop = min(n, start + share)
        product: FloatArray | float = 0.0
        for first in range(start, stop, run):
            samples = slice(first, min(first + run, stop))
            stacked = np.concatenate([rows[:, samples] for rows in left_rows])
            others = np.concatenate([rows[:, samples] for rows in right_rows])
            product = product + stacked @ others.T
        return np.asarray(product)

    energies = np.square(sum(threads.map(multiply, range(0, n, share))))
    return np.add.reduceat(np.add.reduceat(energies, right_starts, axis=1), left_starts, axis=0)


def _stack(factors: list[Factor]) -> tuple[list[FloatArray], IntArray]:
    """Return the rows of factors, and the first row of each factor in the stack."""
    # reduceat cannot sum over no rows: a row of zeros replaces the factor of a constant column
    rows = [f.rows if len(f.rows) else np.zeros((1, f.rows.shape[1])) for f in factors]
    ranks = np.array([len(part) for part in rows])
    return rows, np.cumsum(ranks) - ranks
