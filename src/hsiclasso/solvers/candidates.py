r"""Lazy knowledge of the correlations :math:`c_k = b_k - (Ga)_k` along a path.

Entries of G are non-negative and so are the weights. An entry that is not yet known may
therefore be taken as zero, and what results is an upper bound on the correlation:

.. math:: c_k \le b_k - \sum_{j\ \mathrm{known}} G_{kj} a_j \le b_k .

A feature, or group, whose bound stays below the penalty cannot join. Only those that come near
are *refined*, that is, given all entries of their row of G against the features that ever
joined. Most are never refined at all: their relevance b alone excludes them.

Where weights may be negative there is no such bound, and everything is refined.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import QuadraticProblem

__all__ = ["Candidates"]


class Candidates:
    """Rows of G for the features that may join, filled when needed.

    Candidates are numbered by the largest penalty at which their relevance would let their unit
    join, ties by index; only a leading part of them is *pulled*, that is, has a row. Features
    that join are given a *slot*, a column.

    Attributes
    ----------
    order : ndarray of shape (d,)
        Feature of each candidate; the members of a unit are adjacent.
    relevance : ndarray of shape (d,)
        Relevance of each candidate.
    limit : ndarray of shape (d,)
        Penalty above which each candidate is zero, whatever the weights of the others.
    penalty : UnitPenalty
        The penalty on the pulled candidates.
    """

    def __init__(self, problem: QuadraticProblem, penalty: Penalty) -> None:
        self._problem = problem
        self._penalty = penalty
        self.order, self.limit = _by_limit(problem.linear, penalty)
        self.relevance = problem.linear[self.order]
        self.n_pulled = 0
        self.penalty = penalty.take(self.order[:0])
        self.ever: list[int] = []
        self._rows = np.zeros((64, 16))
        self._known = np.zeros(64, dtype=np.int64)
        self._norms = np.full(64, np.nan)

    @property
    def features(self) -> IntArray:
        """Features with a slot."""
        return self.order[np.array(self.ever, dtype=np.int64)]

    def join(self, candidates: list[int]) -> None:
        """Give slots to pulled candidates that never joined, and all entries to their rows.

        G is symmetric: they are also the next entries of the features that joined before.
        """
        first = len(self.ever)
        self.ever += candidates
        total = len(self.ever)
        while total > self._rows.shape[1]:
            self._rows = np.pad(self._rows, ((0, 0), (0, self._rows.shape[1])))
        joining = np.array(candidates, dtype=np.int64)
        self.refine(joining)
        before = np.array(self.ever[:first], dtype=np.int64)
        behind = np.flatnonzero(self._known[before] == first)
        self._rows[before[behind], first:total] = self._rows[np.ix_(joining, behind)].T
        self._known[before[behind]] = total

    def row(self, slot: int) -> FloatArray:
        """Return the entries of G of a feature that joined against all that ever joined."""
        self.refine(np.array([self.ever[slot]]))
        return self._rows[self.ever[slot], : len(self.ever)]

    def bounds(self, weights: FloatArray) -> FloatArray:
        """Upper bounds on the correlations of the pulled candidates.

        `weights` are those of the features that ever joined.
        """
        return self.relevance[: self.n_pulled] - self.products(weights)

    def products(self, weights: FloatArray) -> FloatArray:
        """Known part of the rows of G times weights, for the pulled candidates."""
        return self._rows[: self.n_pulled, : len(self.ever)] @ weights

    @property
    def refined(self) -> BoolArray:
        """Which pulled candidates have all their entries."""
        return np.asarray(self._known[: self.n_pulled] == len(self.ever))

    @property
    def touched(self) -> BoolArray:
        """Which pulled candidates have some entries."""
        return np.asarray(self._known[: self.n_pulled] > 0)

    @property
    def pulled(self) -> IntArray:
        """Features that were pulled."""
        return self.order[: self.n_pulled]

    def norms(self, candidates: IntArray) -> FloatArray:
        """Frobenius norms of the matrices of some pulled candidates."""
        new = candidates[np.isnan(self._norms[candidates])]
        self._norms[new] = np.sqrt(self._problem.diagonal(self.order[new]))
        return self._norms[candidates]

    def pull(self, stop: int) -> None:
        """Give rows to the first `stop` candidates and to what completes the last unit."""
        while stop < len(self.order) and self._same_unit(stop):
            stop += 1
        if stop > len(self._rows):
            grow = max(stop, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, grow), (0, 0)))
            self._known = np.pad(self._known, (0, grow))
            self._norms = np.pad(self._norms, (0, grow), constant_values=np.nan)
        if stop > self.n_pulled:
            self.n_pulled = stop
            self.penalty = self._penalty.take(self.pulled)

    def _same_unit(self, candidate: int) -> bool:
        groups = self._penalty.groups
        before, here = self.order[max(candidate - 1, 0)], self.order[candidate]
        return candidate > 0 and bool(groups[before] == groups[here])

    def pull_down_to(self, alpha: float) -> None:
        """Give rows to all candidates that might join at a penalty above `alpha`."""
        self.pull(int(np.searchsorted(-self.limit, -alpha, side="right")))

    def refine(self, candidates: IntArray) -> None:
        """Compute the missing entries of some pulled candidates."""
        total = len(self.ever)
        behind = candidates[self._known[candidates] < total]
        if not behind.size:
            return
        # those that know more are asked for it again: one block instead of one for each number
        first = int(self._known[behind].min())
        missing = self.order[self.ever[first:]]
        self._rows[behind, first:total] = self._problem.block(self.order[behind], missing)
        self._known[behind] = total

    def gram(self, slots: list[int]) -> FloatArray:
        """Return G among features that ever joined."""
        joined = np.array([self.ever[slot] for slot in slots], dtype=np.int64)
        self.refine(joined)
        return self._rows[joined][:, slots]


def _by_limit(relevance: FloatArray, penalty: Penalty) -> tuple[IntArray, FloatArray]:
    """Order by the penalty at which a unit might join; what agrees to eleven digits, by index.

    Equal columns may differ in the last digits when they are computed in different blocks.
    """
    by_group = np.argsort(penalty.groups, kind="stable")
    units = penalty.take(by_group)
    limit = np.empty(relevance.size)
    limit[by_group] = units.critical(relevance[by_group])[units.unit_of]
    top = limit[np.isfinite(limit)].max(initial=0.0)
    digits = np.round(limit / top, 11) if top > 0 else limit
    keys = (np.arange(limit.size), penalty.groups, -digits)
    order = np.lexsort(keys) if penalty.grouped else np.argsort(-digits, kind="stable")
    return order, np.maximum.accumulate(limit[order][::-1])[::-1]
