r"""Lazy knowledge of the correlations :math:`c_k = b_k - (Ga)_k` along a path.

Entries of G are non-negative and so are the weights. An entry that is not yet known may
therefore be taken as zero, which gives an upper bound on the correlation:

.. math:: c_k \le b_k - \sum_{j\ \mathrm{known}} G_{kj} a_j \le b_k .

A feature, or group, whose bound stays below the penalty cannot join. Only those that come near
it are *refined*: all entries of their row of G against the features that joined are computed.
Most are never refined, because their relevance b alone excludes them.

A request for entries has a fixed cost. When a feature joins, the columns of features that will
probably join soon may therefore be asked for too: these have a slot, but no weight yet.

Where weights may be negative there is no such bound, and everything is refined.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.solvers.penalty import Penalty, UnitPenalty
from hsiclasso.solvers.problem import QuadraticProblem

__all__ = ["Candidates"]

#: Entries of G that a second request must save to be worth its fixed cost.
_SPLIT = 2048


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
    n_pulled, n_slots : int
        Number of rows and of columns.
    n_used : int
        Number of leading columns that may have a weight; the others have none yet.
    slot_of : ndarray of shape (d,)
        Slot of each candidate, -1 for one that never joined.
    """

    def __init__(self, problem: QuadraticProblem, penalty: Penalty) -> None:
        self._problem = problem
        self._penalty = penalty
        self.order, self.limit = _by_limit(problem.linear, penalty)
        self._rising = -self.limit
        self.relevance = problem.linear[self.order]
        self.n_pulled = 0
        self.n_slots = 0
        self.n_used = 0
        self.slot_of = np.full(self.order.size, -1)
        self._joined = np.zeros(16, dtype=np.int64)
        self._rows = np.zeros((64, 16))
        self._known = np.zeros(64, dtype=np.int64)
        self._diagonal = np.full(64, np.nan)
        self._units: UnitPenalty | None = None

    @property
    def penalty(self) -> UnitPenalty:
        """The penalty on the pulled candidates."""
        if self._units is None:
            self._units = self._penalty.take(self.pulled)
        return self._units

    @property
    def joined(self) -> IntArray:
        """Candidate of each slot."""
        return self._joined[: self.n_slots]

    @property
    def features(self) -> IntArray:
        """Feature of each slot."""
        return self.order[self.joined]

    @property
    def pulled(self) -> IntArray:
        """Features that were pulled."""
        return self.order[: self.n_pulled]

    @property
    def refined(self) -> BoolArray:
        """Which pulled candidates have all entries of the columns that may have a weight."""
        return np.asarray(self._known[: self.n_pulled] >= self.n_used)

    @property
    def complete(self) -> BoolArray:
        """Which pulled candidates have all their entries."""
        return np.asarray(self._known[: self.n_pulled] == self.n_slots)

    @property
    def touched(self) -> BoolArray:
        """Which pulled candidates have some entries."""
        return np.asarray(self._known[: self.n_pulled] > 0)

    def join(
        self, candidates: IntArray, ahead: IntArray | None = None, beside: IntArray | None = None
    ) -> None:
        """Give slots to pulled candidates that never joined, and all entries to their rows.

        Those that join may have a weight at once, those of `ahead` after a call of `use`. The rows
        of `beside` are refined in the same request. Because G is symmetric, the new entries also
        complete the rows of features that already have a slot.
        """
        first = self.n_slots
        self.n_used = first + candidates.size
        if ahead is not None:
            candidates = np.concatenate((candidates, ahead))
        total = first + candidates.size
        before = self.joined
        while total > self._rows.shape[1]:
            self._rows = np.pad(self._rows, ((0, 0), (0, self._rows.shape[1])))
            self._joined = np.pad(self._joined, (0, self._joined.size))
        self._joined[first:total] = candidates
        self.slot_of[candidates] = np.arange(first, total)
        self.n_slots = total
        self.refine(candidates if beside is None else np.concatenate((candidates, beside)))
        behind = np.flatnonzero(self._known[before] == first)
        rows = before[behind]
        self._rows[rows, first:total] = self._rows[candidates[:, None], behind].T
        self._known[rows] = total

    def use(self, slot: int) -> None:
        """Note that a slot may have a weight from now on."""
        self.n_used = max(self.n_used, slot + 1)

    def rows(self, candidates: IntArray) -> FloatArray:
        """Return the known entries of G of some pulled candidates, by slot, zero elsewhere."""
        return self._rows[candidates, : self.n_slots]

    def bounds(self, weights: FloatArray, alpha: float) -> FloatArray:
        """Upper bounds on the correlations of the pulled candidates; `weights` are by slot.

        The ridge part at a penalty `alpha` is included in G.
        """
        bounds = self.relevance[: self.n_pulled] - self.products(weights)
        if self._penalty.ridge:
            bounds[self.joined] -= alpha * self.penalty.ridges[self.joined] * weights
        return bounds

    def products(self, weights: FloatArray) -> FloatArray:
        """Known part of the rows of G times weights by slot, for the pulled candidates."""
        return self._rows[: self.n_pulled, : self.n_slots] @ weights

    def norms(self, candidates: IntArray, alpha: float) -> FloatArray:
        """Square roots of the diagonal of G for some pulled candidates, with the ridge part."""
        new = candidates[np.isnan(self._diagonal[candidates])]
        if new.size:
            self._diagonal[new] = self._problem.diagonal(self.order[new])
        return np.sqrt(self._diagonal[candidates] + alpha * self.penalty.ridges[candidates])

    def pull(self, stop: int) -> None:
        """Give rows to the first `stop` candidates, and to the other members of the last unit."""
        if stop <= self.n_pulled:
            return
        groups = self._penalty.groups
        last = groups[self.order[stop - 1]]
        while stop < len(self.order) and groups[self.order[stop]] == last:
            stop += 1
        if stop > len(self._rows):
            grow = max(stop, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, grow), (0, 0)))
            self._known = np.pad(self._known, (0, grow))
            self._diagonal = np.pad(self._diagonal, (0, grow), constant_values=np.nan)
        self.n_pulled = stop
        self._units = None

    def pull_down_to(self, alpha: float) -> None:
        """Give rows to all candidates that might join at a penalty above `alpha`."""
        self.pull(int(np.searchsorted(self._rising, -alpha, side="right")))

    def refine(self, candidates: IntArray) -> None:
        """Compute the missing entries of some pulled candidates."""
        known = self._known[candidates]
        behind = candidates[known < self.n_slots]
        if behind.size * self.n_slots > _SPLIT:
            behind = behind[np.argsort(self._known[behind], kind="stable")]
        while behind.size:
            cut = self._cut(behind)
            self._ask(behind[:cut])
            behind = behind[cut:]

    def _cut(self, behind: IntArray) -> int:
        """Return how many of these candidates to ask for in one request.

        They are sorted by the number of entries they have. A request asks for the same columns in
        all its rows, also where a row has them already; a second request pays only if this saves
        many entries.
        """
        if behind.size * self.n_slots <= _SPLIT:
            return behind.size
        known = self._known[behind]
        saved = np.arange(behind.size, 0, -1) * (known - known[0])
        best = int(saved.argmax())
        return best if saved[best] > _SPLIT else behind.size

    def _ask(self, candidates: IntArray) -> None:
        first, total = int(self._known[candidates].min()), self.n_slots
        missing = self.order[self._joined[first:total]]
        block = self._problem.block(self.order[candidates], missing)
        self._rows[candidates, first:total] = block
        self._known[candidates] = total

    def gram(self, alpha: float) -> FloatArray:
        """Return G among all features that ever joined, with the ridge part at a penalty."""
        self.refine(self.joined)
        gram = self.rows(self.joined)
        if self._penalty.ridge:
            gram[np.diag_indices_from(gram)] += alpha * self.penalty.ridges[self.joined]
        return gram


def _by_limit(relevance: FloatArray, penalty: Penalty) -> tuple[IntArray, FloatArray]:
    """Order candidates by the penalty at which their unit might join, and return both.

    Candidates whose penalties agree to eleven digits are ordered by index, because equal columns
    may differ in the last digits when they are computed in different blocks.
    """
    numbers = np.arange(relevance.size)
    if np.array_equal(penalty.groups, numbers):
        limit = penalty.take(numbers).critical(relevance)
    else:
        by_group = np.argsort(penalty.groups, kind="stable")
        units = penalty.take(by_group)
        limit = np.empty(relevance.size)
        limit[by_group] = units.critical(relevance[by_group])[units.unit_of]
    top = limit[np.isfinite(limit)].max(initial=0.0)
    digits = np.round(limit / top, 11) if top > 0 else limit
    order = np.lexsort((numbers, penalty.groups, -digits)) if penalty.grouped else _falling(digits)
    return order, np.maximum.accumulate(limit[order][::-1])[::-1]


def _falling(values: FloatArray) -> IntArray:
    """Return the order in which values fall, ties by index.

    An unstable sort that puts ties in order afterwards is several times faster than a stable one.

    Examples
    --------
    >>> _falling(np.array([1.0, 3.0, 1.0, 2.0, 3.0])).tolist()
    [1, 4, 3, 0, 2]
    """
    order = np.argsort(-values)
    falling, tied = values[order], np.zeros(order.size, dtype=bool)
    tied[1:] = falling[1:] == falling[:-1]
    tied[:-1] |= tied[1:]
    some = order[tied]
    order[tied] = some[np.lexsort((some, -values[some]))]
    return order
