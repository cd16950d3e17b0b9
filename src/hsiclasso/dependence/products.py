"""Inner products of the features' matrices by their factors, which are made when needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.features import Features, Matrix, Scaled
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import Factor, Measure
from hsiclasso.kernels.markov import LaplaceMatrix

__all__ = ["FactorProducts", "ScaledColumns"]

#: Bytes of factors that are remembered: an eighth of what the table takes in double precision,
#: between these limits. Those kept for good count too, but leave the others the least.
_CACHE_BYTES = (32 * 2**20, 512 * 2**20)
#: Where columns are many and short, more of them: so many bytes for each, up to twice the least.
_CACHE_PER_COLUMN = 6400
#: Bytes of scaled columns that are remembered.
_COLUMN_BYTES = 1 << 29
#: Parts of a block that are worth a pool of threads.
_MIN_PARTS = 8
#: Shares of the samples that threads take when columns are few.
_SHARES = 4
#: Doubles of stacked factors multiplied at once.
_STACK = 1 << 18
#: Fewest samples multiplied at once.
_LEAST_RUN = 256


class ScaledColumns:
    """Features that were read and scaled: once, as long as there is room to remember them.

    Parameters
    ----------
    features : Features
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self._known: dict[int, Scaled] = {}
        self._free_bytes = _COLUMN_BYTES
        self._lock = threading.Lock()

    def __call__(self, wanted: IntArray) -> list[Scaled]:
        """Return features, read if they were not before."""
        numbers = wanted.tolist()
        with self._lock:
            made = {k: self._known[k] for k in numbers if k in self._known}
        new = [k for k in dict.fromkeys(numbers) if k not in made]
        if new:
            made |= dict(zip(new, self.features.scaled(np.array(new)), strict=True))
            with self._lock:
                for k in new:
                    if self._free_bytes > 0 and k not in self._known:
                        self._known[k] = made[k]
                        self._free_bytes -= made[k].z.nbytes
        return [made[k] for k in numbers]


class FactorProducts:
    """Inner products of features of any kind.

    Parameters
    ----------
    columns : ScaledColumns
        The features, read when needed.
    measure : Measure
        Dependence measure.
    n_threads : int
        Threads that large blocks are computed on.
    """

    def __init__(self, columns: ScaledColumns, measure: Measure, n_threads: int) -> None:
        features = columns.features
        self._columns = columns
        self._measure = measure
        self._n_threads = n_threads
        self._cache: OrderedDict[int, Matrix] = OrderedDict()
        self._kept: dict[int, Matrix] = {}
        least, most = _CACHE_BYTES
        least = int(np.clip(_CACHE_PER_COLUMN * features.n_features, least, 2 * least))
        self._least_bytes = least
        self._free_bytes = int(np.clip(features.source.n_stored, least, most)) - least
        self._cached_bytes = 0
        self._norm2: dict[int, float] = {}
        # a stack of factors, of rank 16 or so, should stay small
        self._step = max(1, _STACK // (16 * features.n_samples))
        self._many = _MIN_PARTS * self._step
        self._lock = threading.Lock()

    def matrices(self, wanted: IntArray, *, keep: bool = False) -> list[Matrix]:
        """Return the matrices of some features, made or remembered.

        With `keep` they are remembered for good, else as long as there is room.
        """
        numbers = wanted.tolist()
        with self._lock:
            made = {
                k: self._recall(k, keep) for k in numbers if k in self._kept or k in self._cache
            }
        missing = [k for k in dict.fromkeys(numbers) if k not in made]
        if missing:
            scaled = self._columns(np.array(missing))
            fresh = self._columns.features.matrices(scaled, self._measure)
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
            pass  # making a matrix notes its norm
        return np.array([self._norm2[k] for k in numbers])

    def complete(self, rows: IntArray, cols: IntArray, out: FloatArray) -> None:
        """Put inner products of features `rows` and `cols` where `out` is NaN.

        The factors of `cols` are kept.
        """
        for alike, missing in _patterns(np.isnan(out)):
            fresh = self.inner_products(rows[alike], cols[missing], keep=True)
            out[np.ix_(alike, missing)] = fresh

    def inner_products(self, rows: IntArray, cols: IntArray, *, keep: bool = False) -> FloatArray:
        """Return the inner products of features `rows` and `cols`, whose factors may be kept."""
        right, threads = self.matrices(cols, keep=keep), self._threads(rows)
        # few columns are shared out among threads by samples, many by columns
        spare = Threads(1 if threads.n_threads > 1 else self._n_threads)

        def multiply(part: IntArray) -> FloatArray:
            return inner_products(self.matrices(part), right, spare)

        return np.concatenate(list(threads.map(multiply, self._parts(rows))))

    def _parts(self, rows: IntArray) -> list[IntArray]:
        """Cut features into parts whose stacked factors are small; none is one empty part."""
        return np.split(rows, range(self._step, rows.size, self._step))

    def _threads(self, rows: IntArray) -> Threads:
        """Return the threads for so many features: a few products are done before they start."""
        return Threads(self._n_threads if rows.size >= self._many else 1)

    def _recall(self, number: int, keep: bool) -> Matrix:
        if number in self._kept:
            return self._kept[number]
        if keep:
            matrix = self._cache.pop(number)
            self._cached_bytes -= matrix.nbytes
            self._keep(number, matrix)
            return matrix
        self._cache.move_to_end(number)
        return self._cache[number]

    def _remember(self, number: int, matrix: Matrix, keep: bool) -> None:
        self._norm2[number] = matrix.norm**2
        if keep:
            self._keep(number, matrix)
        elif number not in self._cache:
            self._cache[number] = matrix
            self._cached_bytes += matrix.nbytes
            self._forget()

    def _keep(self, number: int, matrix: Matrix) -> None:
        """Remember a matrix for good, in room that others could have had."""
        self._kept[number] = matrix
        self._free_bytes -= matrix.nbytes
        self._forget()

    def _forget(self) -> None:
        """Forget the matrices that were asked for longest ago, until the others have room."""
        room = self._least_bytes + max(0, self._free_bytes)
        while self._cached_bytes > room and self._cache:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= oldest.nbytes


def _patterns(unknown: BoolArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows of a block that lack the same columns, with these columns."""
    if (unknown == unknown[:1]).all():
        yield np.arange(len(unknown)), np.flatnonzero(unknown[0])
        return
    patterns, which = np.unique(unknown, axis=0, return_inverse=True)
    for i, missing in enumerate(patterns):
        if missing.any():
            yield np.flatnonzero(which.ravel() == i), np.flatnonzero(missing)


def inner_products(left: list[Matrix], right: list[Matrix], threads: Threads) -> FloatArray:
    """Inner products of matrices, factored or known by their products."""
    rows, cols = (np.array([isinstance(m, Factor) for m in side]) for side in (left, right))
    out = np.zeros((len(left), len(right)))
    above, beside = ([m for m in side if isinstance(m, Factor)] for side in (left, right))
    if above and beside:
        out[np.ix_(rows, cols)] = _energies(above, beside, threads)
    for j, matrix in enumerate(right):
        if isinstance(matrix, LaplaceMatrix):
            out[:, j] = [_with_recursion(other, matrix) for other in left]
    for i, matrix in enumerate(left):
        if isinstance(matrix, LaplaceMatrix):
            out[i, cols] = [matrix.energy(other.rows) for other in beside]
    return out


def _with_recursion(other: Matrix, matrix: LaplaceMatrix) -> float:
    if isinstance(other, LaplaceMatrix):
        return matrix.inner(other)
    return matrix.energy(other.rows)


def _energies(left: list[Factor], right: list[Factor], threads: Threads) -> FloatArray:
    """Squared Frobenius norms of ``F_k F_l'`` for k in `left` and l in `right`.

    The products are summed over runs of samples, so that stacked factors stay in cache.
    """
    (left_rows, left_starts), (right_rows, right_starts) = _stack(left), _stack(right)
    n = left_rows[0].shape[1]
    height = sum(map(len, left_rows)) + sum(map(len, right_rows))
    run = max(_LEAST_RUN, _STACK // height)
    # the shares do not depend on the number of threads, so that sums do not either
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
    """Rows of factors, and where each begins if they are stacked."""
    # the factor of a constant column has no rows: a row of zeros stands for it
    rows = [f.rows if len(f.rows) else np.zeros((1, f.rows.shape[1])) for f in factors]
    ranks = np.array([len(part) for part in rows])
    return rows, np.cumsum(ranks) - ranks
