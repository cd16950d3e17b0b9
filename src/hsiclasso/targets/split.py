r"""Rows of a target, turned so that most of them vanish on all but a few samples.

Far values of a heavy-tailed target are similar to nothing else: each adds a row to the factor
that is constant on almost all samples. A factor's rows may be turned by any orthogonal matrix
without changing :math:`T = F^\top F`; this turns them so that as many as possible are constant
outside a small set of samples, the tail, and a product with such a row need only look there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.factor import Factor

__all__ = ["SplitRows", "dense_rows", "split_rows"]

#: Sizes of the tail that are tried, as divisors of the number of samples.
_SHARES = (8, 16, 32, 64, 128, 256)
#: Number of samples that are turned at once.
_RUN = 4096
#: Cost of evaluating the features of a sample, in products with a row.
_EVALUATION_ROWS = 8


@dataclass(frozen=True)
class SplitRows:
    """Rows F of a target: ``F.T @ F`` is T."""

    #: Rows that vary everywhere, shape (p, n).
    dense: FloatArray
    #: Samples on which the other rows vary, shape (t,).
    tail: IntArray
    #: Values of the other rows on the tail, minus `offset`, shape (q, t).
    sparse: FloatArray
    #: Values of the other rows elsewhere, shape (q,).
    offset: FloatArray

    def trace(self) -> float:
        """Return the trace of T."""
        elsewhere = self.dense.shape[1] - self.tail.size
        return float(
            np.square(self.dense).sum()
            + np.square(self.sparse + self.offset[:, None]).sum()
            + elsewhere * np.square(self.offset).sum()
        )

    def unsplit(self) -> FloatArray:
        """Return all rows in full: an array of shape (p + q, n)."""
        others = np.tile(self.offset[:, None], (1, self.dense.shape[1]))
        others[:, self.tail] += self.sparse
        return np.concatenate([self.dense, others])

    def gram(self) -> FloatArray:
        """Return the inner products (p + q, p + q) of all rows, whose sums are 0."""
        offset, n = self.offset, self.dense.shape[1]
        # of a split row f, f - offset is zero outside the tail and sums to -n offset
        cross = self.dense[:, self.tail] @ self.sparse.T
        others = self.sparse @ self.sparse.T - n * np.outer(offset, offset)
        return np.block([[self.dense @ self.dense.T, cross], [cross.T, others]])

    def combined(self, weights: FloatArray) -> FloatArray:
        """Return combinations of all rows (m, n), with weights of shape (m, p + q)."""
        dense, others = np.split(weights, [len(self.dense)], axis=1)
        rows = dense @ self.dense + (others @ self.offset)[:, None]
        rows[:, self.tail] += others @ self.sparse
        return np.asarray(rows)


def dense_rows(rows: FloatArray) -> SplitRows:
    """Return rows without splitting any of them."""
    return SplitRows(rows, np.zeros(0, dtype=np.int64), np.zeros((0, 0)), np.zeros(0))


def split_rows(factor: Factor, tol: float, at_once: int) -> SplitRows:
    """Split the rows of a target where that makes products with them cheaper.

    Parameters
    ----------
    factor : Factor
        Factor of the target.
    tol : float
        How much T may change, relative to its Frobenius norm.
    at_once : int
        Number of rows that are multiplied at once: fewer take as long.

    Returns
    -------
    SplitRows
    """
    rows = factor.rows
    rank, n = rows.shape
    allowed = tol * factor.norm
    if rank == 0:
        return dense_rows(rows)
    # A sample that is similar to few others has high leverage: there, rows are not small.
    leverage = np.einsum("r,ri,ri->i", 1 / factor.eigenvalues, rows, rows)
    by_leverage = np.argsort(-leverage, kind="stable")
    tails = [by_leverage[: n // share] for share in _SHARES if n >= share]
    plans = [_turn(factor, tail, allowed) for tail in tails]
    costs = []
    for tail, (dense, _) in zip(tails, plans, strict=True):
        on_tail = _rounded(rank - dense, at_once) + _EVALUATION_ROWS
        costs.append(_rounded(dense + 1, at_once) + on_tail * tail.size / n)  # 1 for the constant
    if not costs or min(costs) >= _rounded(rank + 1, at_once):
        return dense_rows(rows)
    chosen = int(np.argmin(costs))
    return _split(rows, plans[chosen][1], tails[chosen], allowed)


def _rounded(number: int, step: int) -> int:
    return -(-number // step) * step


def _turn(factor: Factor, tail: IntArray, allowed: float) -> tuple[int, FloatArray]:
    """Return how many rows will remain dense, and a rotation after which the first vary least.

    The variation that counts is that outside the tail.
    """
    n = factor.rows.shape[1]
    on_tail = factor.rows[:, tail]
    mean = -on_tail.sum(axis=1) / (n - tail.size)  # the rows sum to zero
    moments = np.diag(factor.eigenvalues) - on_tail @ on_tail.T
    spread, vectors = np.linalg.eigh(moments - (n - tail.size) * np.outer(mean, mean))
    energy = np.square(vectors.T) @ factor.eigenvalues
    return len(spread) - _droppable(np.maximum(spread, 0), energy, allowed), vectors


def _droppable(spread: FloatArray, energy: FloatArray, allowed: float) -> int:
    """Count the leading rows whose variation outside the tail may be dropped.

    Row f = g + h loses h with squared norm `spread`: ``ff' - gg' = fh' + hf' - hh'``.
    """
    change = 2 * np.sqrt(spread * energy) + spread
    return int(np.searchsorted(np.sqrt(np.cumsum(np.square(change))), allowed, side="right"))


def _split(rows: FloatArray, vectors: FloatArray, tail: IntArray, allowed: float) -> SplitRows:
    on_tail, n = vectors.T @ rows[:, tail], rows.shape[1]
    energy, mean = np.zeros(len(rows)), vectors.T @ rows.sum(axis=1) - on_tail.sum(axis=1)
    mean /= n - tail.size
    outside = np.ones(n, dtype=bool)
    outside[tail] = False
    # measured on the rows themselves: the plan is subject to cancellation
    spread = np.zeros(len(rows))
    for start in range(0, n, _RUN):
        run = slice(start, start + _RUN)
        turned = vectors.T @ rows[:, run]
        energy += np.einsum("ri,ri->r", turned, turned)
        turned -= mean[:, None]
        turned *= outside[run]
        spread += np.einsum("ri,ri->r", turned, turned)
    n_sparse = _droppable(spread, energy, allowed)
    dense, offset = vectors[:, n_sparse:].T @ rows, mean[:n_sparse]
    sparse = np.ascontiguousarray(on_tail[:n_sparse] - offset[:, None])
    return SplitRows(dense, tail, sparse, offset)
