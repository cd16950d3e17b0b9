"""The quadratic problem of a table and a target, with entries of G computed on demand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.scan import Scan
from hsiclasso.dependence.threads import run_threaded
from hsiclasso.embedding import Embedding, Factor, factor_columns

__all__ = ["DependenceProblem"]

#: Bytes of factors kept for later: a quarter of what the table takes in double precision, between
#: these limits.
_CACHE_BYTES = (64 * 2**20, 512 * 2**20)
#: Factors of rank 13 that are kept in any case: active features are met again and again.
_CACHE_FACTORS = 32
#: Parts of a block that are worth a pool of threads.
_MIN_PARTS = 8
#: Doubles of stacked factors multiplied at once.
_STACK = 1 << 19


class DependenceProblem:
    """Relevance and redundancy of a table, as a solver sees them.

    Parameters
    ----------
    source : Source
        The table.
    scan : Scan
        Result of the pass over the data.
    measure : Measure
        Dependence measure.
    embedding : Embedding
        Kernel and tolerance of the features.
    n_threads : int
        Threads that large blocks are computed on.
    """

    def __init__(
        self,
        source: Source,
        scan: Scan,
        measure: Measure,
        embedding: Embedding,
        *,
        n_threads: int = 1,
    ) -> None:
        self._source = source
        self._measure = measure
        self._embedding = embedding
        self._n_threads = n_threads
        self._shrinkage = measure.shrinkage(source.n_samples)
        self._cache: OrderedDict[int, Factor] = OrderedDict()
        n, d = source.n_samples, source.n_features
        self._free_bytes = max(_CACHE_FACTORS * 13 * 8 * n, int(np.clip(2 * n * d, *_CACHE_BYTES)))
        self._norm2: dict[int, float] = {}
        self._lock = threading.Lock()
        self.linear = scan.relevance
        self.target_norm2 = scan.target_norm2

    def factors(self, columns: IntArray) -> list[Factor]:
        """Return the factors of some columns, from the cache where they are."""
        wanted = columns.tolist()
        with self._lock:
            made = {k: self._cache[k] for k in wanted if k in self._cache}
            for k in made:
                self._cache.move_to_end(k)
        missing = [k for k in dict.fromkeys(wanted) if k not in made]
        if missing:
            block = self._source.block(np.array(missing)).T
            fresh = factor_columns(block, self._embedding, self._shrinkage)
            for k, factor in zip(missing, fresh, strict=True):
                made[k] = self._measure.finish(factor)
            with self._lock:
                for k in missing:
                    self._remember(k, made[k])
        return [made[k] for k in wanted]

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k], the squared Frobenius norm of A_k."""
        unknown = np.array([k for k in rows.tolist() if k not in self._norm2], dtype=np.int64)
        self._for_parts(lambda part: len(self.factors(unknown[part])), unknown.size)
        return np.array([self._norm2[k] for k in rows.tolist()])

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        r"""Return :math:`G_{kl} = \|F_k F_l^\top\|_F^2` for k in `rows` and l in `cols`."""
        if rows.size < cols.size:
            # the longer side is walked once, the shorter one is likely to stay in the cache
            return np.ascontiguousarray(self.block(cols, rows).T)
        out = np.empty((rows.size, cols.size))

        def fill(part: slice) -> int:
            left = _stack(self.factors(rows[part]))
            for col_part in self._parts(cols.size):
                right = _stack(self.factors(cols[col_part]))
                out[part, col_part] = _energies(*left, *right)
            return 0

        self._for_parts(fill, rows.size)
        return out

    def _for_parts(self, fill: Callable[[slice], int], size: int) -> None:
        parts = self._parts(size)
        # starting threads costs more than a few small products
        run_threaded(fill, parts, self._n_threads if len(parts) >= _MIN_PARTS else 1)

    def _parts(self, size: int) -> list[slice]:
        """Split columns so that a stack of their factors, of rank 16 or so, stays small."""
        step = max(1, _STACK // (16 * self._source.n_samples))
        return [slice(start, min(size, start + step)) for start in range(0, size, step)]

    def _remember(self, column: int, factor: Factor) -> None:
        self._norm2[column] = factor.norm**2
        if column in self._cache:
            return
        self._cache[column] = factor
        self._free_bytes -= factor.rows.nbytes
        while self._free_bytes < 0 and self._cache:
            _, oldest = self._cache.popitem(last=False)
            self._free_bytes += oldest.rows.nbytes


def _stack(factors: list[Factor]) -> tuple[FloatArray, IntArray]:
    """Stack factors row-wise, and tell where each begins."""
    # the factor of a constant column has no rows: a row of zeros stands for it
    rows = [f.rows if len(f.rows) else np.zeros((1, f.rows.shape[1])) for f in factors]
    ranks = np.array([len(part) for part in rows])
    stacked = np.concatenate(rows) if len(rows) > 1 else rows[0]
    return stacked, np.cumsum(ranks) - ranks


def _energies(
    left: FloatArray, left_starts: IntArray, right: FloatArray, right_starts: IntArray
) -> FloatArray:
    """Squared Frobenius norms of the blocks of ``left @ right.T``."""
    product = left @ right.T
    product *= product
    return np.add.reduceat(np.add.reduceat(product, right_starts, axis=1), left_starts, axis=0)
