r"""The exact path of the non-negative lasso, by homotopy in the penalty.

With the features of the active set W at positive weight, the optimality conditions give

.. math:: a_W(\lambda) = G_{WW}^{-1}(b_W - \lambda w_W), \qquad
          c_k(\lambda) = b_k - G_{kW} a_W(\lambda) \le \lambda w_k \quad (k \notin W),

both linear in the penalty. The path runs down from the penalty above which all penalised
features are zero; a feature joins when its correlation reaches its share of the penalty, which
is :math:`w_k = 1` unless weights are given, and is dropped when its weight reaches zero. Where
several events fall on one penalty, the direction below it solves a small non-negative least-squares
problem. Ties, duplicate columns and linearly dependent ones are therefore treated exactly, without
added noise. Candidates are refined lazily: see
`hsiclasso.solvers.candidates`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers.active import ActiveCholesky
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.certificate import certify
from hsiclasso.solvers.distinct import Distinct, similarity_in
from hsiclasso.solvers.path import Breakpoint, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import Among, QuadraticProblem

__all__ = ["nonnegative_lasso_path"]

#: Penalties closer than this, relative to the largest one, are the same.
_TIE = 1e-13
#: A correlation whose lead on the falling penalty grows by less, per unit of it, is parallel to it.
_PARALLEL = 1e-10
#: Breakpoints after which a path is given up; one of d features seldom has more than 3 d.
_MAX_STEPS = 200_000
#: Candidates refined at once: at least `AT_ONCE` by default, and at most one in `_PART` of those
#: that were pulled, if these are more. The most double until the next event is certain.
AT_ONCE, _PART = 16, 2
#: Refined candidates whose rows are kept complete as features join.
_NEAR = 64
#: Columns asked for ahead of time.
_AHEAD = 3


def nonnegative_lasso_path(
    problem: QuadraticProblem,
    penalty: Penalty | None = None,
    *,
    max_features: int | None = None,
    alpha_min: float = 0.0,
    cap: float = 1.0,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] | None = None,
) -> SolutionPath:
    """Follow the solution path from the largest penalty down.

    Parameters
    ----------
    problem : QuadraticProblem
        The quadratic.
    penalty : Penalty, optional
        A (weighted) l1 penalty; that of the plain lasso by default.
    max_features : int, optional
        Stop with this many positive weights; features without penalty count as such. The path ends
        at the smallest penalty of the first segment that has them, or in its middle if the segment
        ends because one is dropped.
    alpha_min : float
        Stop at this penalty. 0 goes to the end of the path, non-negative least squares.
    cap : float
        Largest similarity of two features that may both join, see `hsiclasso.solvers.distinct`.
        1 leaves nothing out.
    at_once : int
        Rows of G that are asked for together, although fewer would do. The path is the same. More
        rows make fewer requests; fewer rows are better if entries take much longer than a request.
    report : callable, optional
        Called with the size of the active set after every step.

    Returns
    -------
    SolutionPath

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso.solvers import ExplicitProblem
    >>> problem = ExplicitProblem(np.eye(3), np.array([1.0, 3.0, 2.0]), 14.0)
    >>> path = nonnegative_lasso_path(problem, max_features=2)
    >>> path.entered.tolist(), path.alpha, path.coefficients().tolist()
    ([1, 2], 1.0, [0.0, 2.0, 1.0])
    """
    penalty = penalty or Penalty.lasso(problem.linear.size)
    if penalty.kind != "lasso":
        raise InvalidInputError(
            f"The homotopy follows the path of the lasso, not of the {penalty.kind}: call "
            "solve_path."
        )
    return _Homotopy(problem, penalty, alpha_min, cap, at_once).run(max_features, report)


class _Homotopy:
    """State of the path.

    Features that joined, and some that may join soon, have a *slot*. `weights`, `line` and
    `direction` are indexed by slot, and `active` lists slots in the order of the Cholesky factor.
    At a penalty t below `alpha`, on the segment of the path that begins there, the weights are
    ``line + (alpha - t) * direction``.

    `bound` and `growth` have an entry for every candidate: an upper bound on its correlation at
    `alpha`, and its decrease per unit that the penalty falls. A candidate that was not
    pulled has no known entries of G: its relevance is its bound, and its growth is zero. `joins`
    has the penalties at which candidates would join on the last segment that was followed.
    """

    def __init__(
        self, problem: QuadraticProblem, penalty: Penalty, alpha_min: float, cap: float,
        at_once: int,
    ) -> None:  # fmt: skip
        self.problem = problem
        self.alpha_min = alpha_min
        self.at_once = at_once
        self.candidates = candidates = Candidates(problem, penalty)
        weights = penalty.weights[candidates.order]
        #: candidates that are neither excluded nor closed nor active nor dependent on active ones
        self.open = np.isfinite(weights)
        self.shares = np.where(self.open, weights, 1.0)
        self.free = penalty.free
        #: Features that joined, and those that are left out because of them.
        self.distinct: Distinct | None = None
        if cap < 1:
            self.distinct = Distinct(similarity_in(problem), cap, self.free.tolist())
        self.cholesky = ActiveCholesky()
        self.active = np.zeros(0, dtype=np.int64)
        self.dependent: list[int] = []
        self.weights = self.line = self.direction = np.zeros(0)
        self.bound = candidates.relevance.copy()
        self.growth = np.zeros(self.bound.size)
        self.joins = np.zeros(0)
        self.wanted = self.bound.size
        limit = candidates.limit
        self.alpha = float(limit[np.isfinite(limit)].max(initial=0.0))
        self.tie = _TIE * self.alpha
        # the same on the scale of correlations, and of their growth as the penalty falls
        self.tied = _TIE * float(problem.linear.max(initial=0.0))
        used = self.shares[self.shares > 0]
        self.parallel = _PARALLEL * np.maximum(self.shares, used.min(initial=1.0))
        self.breakpoints: list[Breakpoint] = []

    def run(self, max_features: int | None, report: Callable[[int], None] | None) -> SolutionPath:
        """Follow the path until a stop."""
        self.wanted = max_features or self.wanted
        self._activate_free()
        if self.alpha <= max(self.alpha_min, 0.0):
            self._record(self.active, self.active[:0])
            return self._finish(self._status_at_start())
        before = dropped = np.zeros(0, dtype=np.int64)
        self._look_ahead()
        for _ in range(_MAX_STEPS):
            self._resolve_ties()
            self._record(self.active[~self._among(before)], dropped)
            if report is not None:
                report(self.active.size)
            end, dropped = self._next_event()
            enough = max_features is not None and self._count() >= max_features
            if enough and end < self.alpha - self.tie:
                self._move_to(0.5 * (self.alpha + end) if dropped.size else end)
                return self._finish(Status.N_FEATURES)
            self._move_to(end)
            if self.alpha == self.alpha_min:
                return self._finish(Status.ALPHA if self.alpha_min > 0 else Status.PATH_END)
            if dropped.size:
                self._deactivate(dropped)
                self._aim()
            before = self.active
        return self._finish(Status.STALLED)

    def _activate_free(self) -> None:
        """Start from the features without penalty: least squares among them."""
        if not self.free.size:
            return
        found = nonnegative_lasso_path(Among(self.problem, self.free), at_once=self.at_once)
        used = self.free[found.breakpoints[-1].indices]
        n_relevant = int(np.isinf(self.candidates.limit).sum())
        self.candidates.pull(n_relevant)
        first = self.candidates.order[:n_relevant]
        place = {k: i for i, k in enumerate(first.tolist())}
        for k in used.tolist():
            self._activate(place[k])
        self.candidates.refine(np.arange(n_relevant))
        self._aim()
        self._correlate()
        self.weights = np.maximum(self.line, 0.0)

    def _look_ahead(self) -> None:
        """Pull the first candidates before the first feature joins."""
        if not self.candidates.n_slots:
            self.candidates.pull(min(self.at_once, self.bound.size))
            self.joins = self.candidates.limit[: self.candidates.n_pulled]

    def _count(self) -> int:
        """Features that are selected: the active ones, and those without penalty."""
        if not self.free.size:
            return self.active.size
        penalised = self.shares[self.candidates.joined[self.active]] > 0
        return int(self.free.size + np.count_nonzero(penalised))

    def _status_at_start(self) -> Status:
        if self.alpha > 0:
            return Status.ALPHA
        return Status.PATH_END if self.active.size else Status.NOTHING_RELEVANT

    def _resolve_ties(self) -> None:
        """Find the direction below the current penalty, and the features that move along it.

        Minimises ``v'Gv/2 - w'v`` over directions v that are free on the active features and
        non-negative on those at zero weight whose correlation equals the penalty: Lawson and
        Hanson's method, with the active features always passive.
        """
        refused: list[int] = []
        tied = self._tied(refused)
        while tied.size and (joiner := self._fastest(tied)) is not None:
            tied = tied[tied != joiner]
            if not self._admit(joiner):
                continue
            if not self._activate(joiner):
                # its matrix depends linearly on the active ones: weight 0 is optimal
                self.dependent.append(joiner)
                self.open[joiner] = False
            elif self._restore_signs(refused):
                tied = self._tied(refused)  # also those that depended on one that left
        self._refused(tied)  # exact copies would stay tied for ever

    def _fastest(self, tied: IntArray) -> int | None:
        """Return the tied candidate whose correlation outruns the penalty most, if any does."""
        self.candidates.refine(tied)
        lead = self.shares[tied] - self.candidates.rows(tied) @ self.direction
        lead /= self.parallel[tied]
        best = int(np.argmax(lead > lead.max() - 1))  # among equals, the first
        return int(tied[best]) if lead[best] > 1 else None

    def _tied(self, refused: list[int]) -> IntArray:
        """Return the candidates at zero whose correlation equals the penalty, refined."""
        self.candidates.pull_down_to(self.alpha - self.tie)
        while True:
            n = self.candidates.n_pulled
            tied = self.bound[:n] >= self.alpha * self.shares[:n] - self.tied
            tied &= self.open[:n]
            tied[refused] = False
            found = np.flatnonzero(tied)
            rough = found[~self.candidates.refined[found]]
            if not rough.size:
                return found
            self.candidates.refine(rough)
            self.bound[rough] = self._bounds_of(rough, self.weights)

    def _bounds_of(self, candidates: IntArray, weights: FloatArray) -> FloatArray:
        return self.candidates.relevance[candidates] - self.candidates.rows(candidates) @ weights

    def _restore_signs(self, refused: list[int]) -> bool:
        """After an activation, keep directions non-negative where the weight is zero.

        Returns whether features had to leave the active set for it.
        """
        left = False
        while True:
            old = self.direction[self.active]
            at_zero = self.weights[self.active] == 0.0
            self._aim()
            free = self.direction[self.active]
            stuck = np.flatnonzero(at_zero & (free <= 0.0))
            if not stuck.size:
                return left
            # how far towards the free direction each of them lets us go
            way = old[stuck] - free[stuck]
            share = np.maximum(old[stuck], 0.0) / np.where(way == 0.0, 1.0, way)
            step = share.min()
            self.direction[self.active] = old + step * (free - old)
            leaving = self.active[stuck[share <= step + _PARALLEL]]
            refused.extend(self.candidates.joined[leaving].tolist())
            self._deactivate(leaving)
            left = True

    def _admit(self, joiner: int) -> bool:
        """Close a candidate that is too similar to one that joined; return whether it may join."""
        feature = int(self.candidates.order[joiner])
        if self.distinct is None or self.distinct.admit(feature):
            return True
        self.open[joiner] = False
        self.candidates.close([feature])
        return False

    def _refused(self, joiners: IntArray) -> list[int]:
        """Close those of the next joiners that are too similar to one that joined."""
        if self.distinct is None:
            return []
        return [k for k in joiners.tolist() if not self._admit(k)]

    def _refuse_next(self, joins: FloatArray, end: float) -> None:
        """Close the candidates that would be refused next, as long as it is certain who is next.

        Where most features are alike, as with very few samples, looking at all candidates after
        each refusal would take a time that is quadratic in their number.
        """
        candidates = self.candidates
        waiting = np.where(candidates.refined[: joins.size], -np.inf, joins).max(initial=-np.inf)
        ahead = candidates.limit[candidates.n_pulled :][:1].max(initial=-np.inf)
        certain = max(end, self.alpha_min, waiting, ahead) + self.tie
        following = np.flatnonzero(joins > certain)
        for joiner in following[np.argsort(-joins[following], kind="stable")].tolist():
            if self._admit(joiner):
                return
            joins[joiner] = -np.inf

    def _next_event(self) -> tuple[float, IntArray]:
        """Return the penalty at which the segment ends, and the slots that reach zero there.

        Candidates are refined until it is certain. Those that would join first, but are closed, do
        not end the segment.
        """
        self._correlate()
        slots = self.active[self.direction[self.active] < 0]
        zeros = self.alpha + self.line[slots] / self.direction[slots]
        end = max(self.alpha_min, zeros.max(initial=-np.inf))
        candidates = self.candidates
        joins = self._join_alphas(slice(candidates.n_pulled))
        more, batch = self.at_once, max(self.at_once, candidates.n_pulled // _PART)
        while True:
            refined = candidates.refined
            reached = max(end, joins[refined].max(initial=-np.inf))
            doubtful = self._doubtful(np.where(refined, -np.inf, joins), reached, more, batch)
            if not doubtful.size:
                at_end = reached <= self.alpha_min + self.tie
                refused = (
                    [] if at_end else self._refused(np.flatnonzero(joins >= reached - self.tie))
                )
                if not refused:
                    break
                joins[refused] = -np.inf
                self._refuse_next(joins, end)
                more, batch = 2 * more, max(batch, 2 * more)  # those behind may be alike, too
                continue
            candidates.pull(int(doubtful.max()) + 1)
            candidates.refine(doubtful)
            self.bound[doubtful] = self._bounds_of(doubtful, self.line)
            self.growth[doubtful] = candidates.rows(doubtful) @ self.direction
            fresh = self._join_alphas(slice(joins.size, candidates.n_pulled))
            joins = np.concatenate((joins, fresh))
            joins[doubtful] = self._join_alphas(doubtful)
            batch *= 2
        self.joins = joins
        drops = slots[zeros >= reached - self.tie]
        return self.alpha_min if at_end else float(reached), drops

    def _doubtful(self, possible: FloatArray, reached: float, more: int, batch: int) -> IntArray:
        """Return unrefined candidates that might join first, if any might before `reached`."""
        first = self.candidates.n_pulled
        # the relevance of a candidate that was not pulled limits the penalty at which it joins
        possible = np.concatenate((possible, self.candidates.limit[first : first + batch]))
        n_doubtful = int(np.count_nonzero(possible > reached - self.tie))
        if not n_doubtful:
            return np.zeros(0, dtype=np.int64)
        # a few more cost little in the same request, and will soon be in doubt too
        best = _largest(possible, min(max(n_doubtful, more), batch))
        return best[possible[best] > -np.inf]

    def _join_alphas(self, which: slice | IntArray) -> FloatArray:
        """Penalty at which each of these joins; an upper bound if it is not refined."""
        shares = self.shares[which]
        slack = np.maximum(self.alpha * shares - self.bound[which], 0.0)
        lead = shares - self.growth[which]
        gains = (lead > self.parallel[which]) & self.open[which]
        joins = np.full(lead.size, -np.inf)
        np.divide(slack, lead, out=slack, where=gains)
        np.subtract(self.alpha, slack, out=joins, where=gains)
        return joins

    def _activate(self, candidate: int) -> bool:
        candidates = self.candidates
        if candidates.slot_of[candidate] < 0:
            self._give_slots(candidate)
        slot = int(candidates.slot_of[candidate])
        candidates.use(slot)
        row = candidates.rows(candidates.joined[slot : slot + 1])[0]
        if not self.cholesky.append(row[self.active], float(row[slot])):
            return False
        self.active = np.append(self.active, slot)
        self.open[candidate] = False
        if self.distinct is not None:
            self.distinct.join(int(candidates.order[candidate]))
        return True

    def _give_slots(self, joining: int) -> None:
        """Ask for the column of a feature that joins, and for those of the likely next ones.

        The candidates that were closest to joining on the segment above are usually those that join
        next. Only the rows of candidates that are close to joining get the new entries.
        """
        candidates, n = self.candidates, self.joins.size
        waiting = candidates.complete[:n] & (candidates.slot_of[:n] < 0) & self.open[:n]
        near = np.flatnonzero(waiting)
        near = near[near != joining]
        near = near[_largest(self.joins[near], _NEAR)]
        near = near[np.argsort(-self.joins[near], kind="stable")]
        n_ahead = min(_AHEAD, max(self.wanted - self.active.size - 1, 0))
        n_ahead = int(np.count_nonzero(self.joins[near[:n_ahead]] > self.alpha_min))
        likely, beside = near[:n_ahead], near[n_ahead:]
        candidates.join(np.array([joining]), likely, beside)
        grown = np.zeros(1 + likely.size)
        self.weights, self.line, self.direction = (
            np.concatenate((values, grown)) for values in (self.weights, self.line, self.direction)
        )

    def _deactivate(self, slots: IntArray) -> None:
        self.weights[slots] = 0.0
        self.direction[slots] = 0.0
        self.open[self.candidates.joined[slots]] = True
        self.cholesky.remove(np.flatnonzero(self._among(slots)))
        self.active = self.active[~self._among(slots)]
        self.open[self.dependent] = True
        self.dependent.clear()

    def _among(self, slots: IntArray) -> BoolArray:
        """Which of the active slots are among some slots."""
        marked = np.zeros(self.candidates.n_slots, dtype=bool)
        marked[slots] = True
        return marked[self.active]

    def _aim(self) -> None:
        """Find the line that the weights of the active features are on, from this penalty down.

        The weights are computed again instead of continuing the segment above: a small error in the
        penalty at which two segments meet would grow from segment to segment.
        """
        right = np.empty((2, self.active.size), dtype=np.longdouble)
        joined = self.candidates.joined[self.active]
        right[1] = self.shares[joined]
        right[0] = self.candidates.relevance[joined] - self.alpha * right[1]
        self.line, self.direction = np.zeros((2, self.candidates.n_slots))
        self.line[self.active], self.direction[self.active] = self.cholesky.solve(right)

    def _correlate(self) -> None:
        """Bring bounds and their growth up to date with the line."""
        n = self.candidates.n_pulled
        products = self.candidates.products(np.array((self.line, self.direction)).T)
        np.subtract(self.candidates.relevance[:n], products[:, 0], out=self.bound[:n])
        self.growth[:n] = products[:, 1]

    def _move_to(self, alpha: float) -> None:
        n, step = self.candidates.n_pulled, self.alpha - alpha
        self.alpha = alpha
        self.weights = np.maximum(self.line + step * self.direction, 0.0)
        self.bound[:n] -= step * self.growth[:n]

    def _record(self, joined: IntArray, dropped: IntArray) -> None:
        positive = self.active[self.weights[self.active] > 0]
        features = self.candidates.features
        self.breakpoints.append(
            Breakpoint(
                float(self.alpha),
                features[positive],
                self.weights[positive],
                tuple(features[joined].tolist()),
                tuple(features[dropped].tolist()),
            )
        )

    def _finish(self, status: Status) -> SolutionPath:
        self._aim()
        self.weights = np.maximum(self.line, 0.0)
        if status in (Status.N_FEATURES, Status.PATH_END) or self.active.size:
            self._record(self.active[:0], self.active[:0])
        certificate = certify(self.problem, self.candidates, self.weights, self.alpha)
        n_features = self.candidates.order.size
        closed = () if self.distinct is None else tuple(self.distinct.closed.values())
        return SolutionPath(
            tuple(self.breakpoints), status, certificate, n_features, self.candidates.pulled,
            closed=closed,
        )  # fmt: skip


def _largest(values: FloatArray, count: int) -> IntArray:
    """Return the places of the `count` largest values, or of all, in any order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(-values, count)[:count]
