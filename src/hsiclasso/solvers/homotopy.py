r"""The exact path of the non-negative lasso, by homotopy in the penalty.

With the features of the active set W at positive weight, the optimality conditions give

.. math:: a_W(\lambda) = G_{WW}^{-1}(b_W - \lambda w_W), \qquad
          c_k(\lambda) = b_k - G_{kW} a_W(\lambda) \le \lambda w_k \quad (k \notin W),

both linear in the penalty. The path runs down from the penalty above which all penalised
features are zero; a feature joins when its correlation reaches its share of the penalty, which
is :math:`w_k = 1` unless weights are given, and is dropped when its weight reaches zero. Where
several things happen at one penalty, the direction below it solves a small non-negative
least-squares problem of its own, so that ties, duplicate columns and linearly dependent ones
need no noise and no luck. Candidates are refined lazily: see `hsiclasso.solvers.candidates`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.active import ActiveCholesky
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.certificate import certify
from hsiclasso.solvers.path import Breakpoint, Path, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import Among, QuadraticProblem

__all__ = ["nonnegative_lasso_path"]

#: Penalties closer than this, relative to the largest one, are the same.
_TIE = 1e-13
#: A correlation that gains less on the penalty, per unit of it, runs parallel to it.
_PARALLEL = 1e-10
#: Breakpoints after which a path is given up; one of d features seldom has more than 3 d.
_MAX_STEPS = 200_000
#: Candidates refined at once; doubled as long as the next event is not certain.
_BATCH = 8


def nonnegative_lasso_path(
    problem: QuadraticProblem,
    penalty: Penalty | None = None,
    *,
    max_features: int | None = None,
    alpha_min: float = 0.0,
    report: Callable[[int], None] | None = None,
) -> Path:
    """Follow the solution path from the largest penalty down.

    Parameters
    ----------
    problem : QuadraticProblem
        The quadratic.
    penalty : Penalty, optional
        A (weighted) l1 penalty; that of the plain lasso by default.
    max_features : int, optional
        Stop with this many positive weights, features without penalty counting as such: at the
        smallest penalty of the first segment of the path that has them, or in its middle if the
        segment ends because one is dropped.
    alpha_min : float
        Stop at this penalty. 0 goes to the end of the path, non-negative least squares.
    report : callable, optional
        Told the size of the active set after every step.

    Returns
    -------
    Path

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
    return _Homotopy(problem, penalty, alpha_min).run(max_features, report)


@dataclass(frozen=True)
class _Event:
    """Where the current segment ends, and which features reach zero weight there."""

    alpha: float
    drops: tuple[int, ...]


class _Homotopy:
    """State of the path.

    Features that ever joined have a *slot*; `weights` and `direction` (the weights' growth per
    unit that the penalty falls) are indexed by slot, and `active` lists slots in the order of
    the Cholesky factor.
    """

    def __init__(self, problem: QuadraticProblem, penalty: Penalty, alpha_min: float) -> None:
        self.problem = problem
        self.alpha_min = alpha_min
        self.candidates = Candidates(problem, penalty)
        weights = penalty.weights[self.candidates.order]
        self.allowed = np.isfinite(weights)
        self.shares = np.where(self.allowed, weights, 1.0)
        self.free = penalty.free
        self.cholesky = ActiveCholesky()
        self.active: list[int] = []
        self.weights = np.zeros(0)
        self.direction = np.zeros(0)
        self.dependent: set[int] = set()
        limit = self.candidates.limit
        self.alpha = float(limit[np.isfinite(limit)].max(initial=0.0))
        self.tie = _TIE * self.alpha
        # the same on the scale of correlations, and of their growth as the penalty falls
        self.tied = _TIE * float(problem.linear.max(initial=0.0))
        used = self.shares[self.shares > 0]
        self.parallel = _PARALLEL * np.maximum(self.shares, used.min(initial=1.0))
        self.batch = _BATCH
        self.breakpoints: list[Breakpoint] = []

    def run(self, max_features: int | None, report: Callable[[int], None] | None) -> Path:
        self._activate_free()
        if self.alpha <= max(self.alpha_min, 0.0):
            self._record(self.active, [])
            return self._finish(self._status_at_start())
        dropped: list[int] = []
        for _ in range(_MAX_STEPS):
            before = set(self.active) if self.breakpoints else set()
            self._resolve_ties()
            self._record([slot for slot in self.active if slot not in before], dropped)
            if report is not None:
                report(len(self.active))
            event = self._next_event()
            enough = max_features is not None and self._count() >= max_features
            if enough and event.alpha < self.alpha - self.tie:
                middle = 0.5 * (self.alpha + event.alpha)
                self._move_to(middle if event.drops else event.alpha)
                return self._finish(Status.N_FEATURES)
            self._move_to(event.alpha)
            if self.alpha == self.alpha_min:
                return self._finish(Status.ALPHA if self.alpha_min > 0 else Status.PATH_END)
            dropped = list(event.drops)
            self._deactivate(dropped)
        return self._finish(Status.STALLED)

    def _activate_free(self) -> None:
        """Start from the features without penalty: least squares among them."""
        if not self.free.size:
            return
        among = Among(self.problem, self.free)
        found = nonnegative_lasso_path(among)
        position = {k: i for i, k in enumerate(self.candidates.order.tolist())}
        joined = [position[int(k)] for k in self.free[found.breakpoints[-1].indices]]
        n_relevant = int(np.isinf(self.candidates.limit).sum())
        self.candidates.pull(n_relevant)
        for candidate in joined:
            self._activate(candidate)
        self.candidates.refine(np.arange(n_relevant))
        self._move_to(self.alpha)

    def _count(self) -> int:
        """Features that are selected: the active ones, and those without penalty."""
        active = self._features(self.active)
        return int(self.free.size + np.setdiff1d(active, self.free).size)

    def _status_at_start(self) -> Status:
        if self.alpha > 0:
            return Status.ALPHA
        return Status.PATH_END if self.active else Status.NOTHING_RELEVANT

    def _resolve_ties(self) -> None:
        """Find the direction below the current penalty, and who moves along it.

        Minimises ``v'Gv/2 - w'v`` over directions v that are free on the active features and
        non-negative on those at zero weight whose correlation equals the penalty: Lawson and
        Hanson's method, with the active features always passive.
        """
        refused: set[int] = set()
        self.direction = self._free_direction()
        while (joiner := self._fastest_tied(refused)) is not None:
            if not self._activate(joiner):
                # its matrix depends linearly on the active ones: weight 0 is optimal
                self.dependent.add(joiner)
                continue
            self._restore_signs(refused)

    def _fastest_tied(self, refused: set[int]) -> int | None:
        """Return the tied candidate whose correlation outruns the penalty most, if any does."""
        self.candidates.pull_down_to(self.alpha - self.tie)
        while True:
            due = self.alpha * self._pulled(self.shares)
            tied = self.candidates.bounds(self.weights) >= due - self.tied
            tied &= self.allowed[: tied.size]
            tied[[self.candidates.ever[slot] for slot in self.active]] = False
            tied[list(refused | self.dependent)] = False
            if not (tied & ~self.candidates.refined).any():
                break
            self.candidates.refine(np.flatnonzero(tied))
        parallel = self._pulled(self.parallel)
        lead = self._pulled(self.shares) - self.candidates.products(self.direction)
        lead = np.where(tied, lead / parallel, -np.inf)
        best = int(np.argmax(lead > lead.max() - 1))  # among equals, the first
        return best if lead[best] > 1 else None

    def _pulled(self, values: FloatArray) -> FloatArray:
        return values[: self.candidates.n_pulled]

    def _restore_signs(self, refused: set[int]) -> None:
        """After an activation, keep directions non-negative where the weight is zero."""
        while True:
            free = self._free_direction()
            at_zero = [slot for slot in self.active if self.weights[slot] == 0.0]
            stuck = [slot for slot in at_zero if free[slot] <= 0.0]
            if not stuck:
                self.direction = free
                return
            old = self.direction
            # how far towards the free direction each of them allows to go
            share = {slot: max(old[slot], 0.0) / (old[slot] - free[slot] or 1.0) for slot in stuck}
            step = min(share.values())
            self.direction = old + step * (free - old)
            leaving = [slot for slot in stuck if share[slot] <= step + _PARALLEL]
            refused.update(self.candidates.ever[slot] for slot in leaving)
            self._deactivate(leaving)

    def _next_event(self) -> _Event:
        """Find the end of the segment, refining candidates until it is certain."""
        # The weights of the new active set, for those of the old one belong to another line: the
        # least error in the penalty at which they meet would grow from segment to segment.
        weights = self._solution(self.alpha)
        falling = [slot for slot in self.active if self.direction[slot] < 0]
        zeros = {slot: self.alpha + weights[slot] / self.direction[slot] for slot in falling}
        end = max([self.alpha_min, *zeros.values()])
        batch = max(_BATCH, self.batch // 4)
        while True:
            joins = self._join_alphas(weights)
            reached = max(end, joins[self.candidates.refined].max(initial=-np.inf))
            doubtful = self._doubtful(joins, reached, batch)
            if not doubtful.size:
                break
            self.candidates.pull(int(doubtful.max()) + 1)
            self.candidates.refine(doubtful)
            self.batch = batch  # the next event will need about as many
            batch *= 2
        drops = tuple(slot for slot, alpha in zeros.items() if alpha >= reached - self.tie)
        at_end = reached <= self.alpha_min + self.tie
        return _Event(self.alpha_min if at_end else reached, drops)

    def _doubtful(self, joins: FloatArray, reached: float, batch: int) -> IntArray:
        """Return the `batch` unrefined candidates that might join first, before `reached`."""
        first = self.candidates.n_pulled
        # of a candidate that was not pulled, the relevance limits the penalty at which it joins
        possible = np.where(self.candidates.refined, -np.inf, joins)
        possible = np.append(possible, self.candidates.limit[first : first + batch])
        open_ = np.flatnonzero(possible > reached - self.tie)
        return open_[np.argsort(-possible[open_], kind="stable")[:batch]]

    def _join_alphas(self, weights: FloatArray) -> FloatArray:
        """Penalty at which each pulled candidate joins; an upper bound if it is not refined."""
        shares = self._pulled(self.shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = np.maximum(self.alpha * shares - self.candidates.bounds(weights), 0.0)
            lead = shares - self.candidates.products(self.direction)
            gains = (lead > self._pulled(self.parallel)) & self.allowed[: lead.size]
            joins = np.where(gains, self.alpha - slack / lead, -np.inf)
        joins[[self.candidates.ever[slot] for slot in self.active]] = -np.inf
        joins[list(self.dependent)] = -np.inf
        return joins

    def _free_direction(self) -> FloatArray:
        direction = np.zeros(len(self.candidates.ever))
        shares = self.shares[[self.candidates.ever[slot] for slot in self.active]]
        direction[self.active] = self.cholesky.solve(shares)
        return direction

    def _activate(self, candidate: int) -> bool:
        if candidate not in self.candidates.ever:
            self.candidates.join([candidate])
            self.weights = np.append(self.weights, 0.0)
            self.direction = np.append(self.direction, 0.0)
        slot = self.candidates.ever.index(candidate)
        row = self.candidates.row(slot)
        if not self.cholesky.append(row[self.active], float(row[slot])):
            return False
        self.active.append(slot)
        return True

    def _deactivate(self, slots: list[int]) -> None:
        if not slots:
            return
        self.weights[slots] = 0.0
        self.direction[slots] = 0.0
        self.active = [slot for slot in self.active if slot not in slots]
        self.cholesky.rebuild(self.candidates.gram(self.active))
        self.dependent.clear()

    def _move_to(self, alpha: float) -> None:
        self.alpha = alpha
        self.weights = np.maximum(self._solution(alpha), 0.0)

    def _solution(self, alpha: float) -> FloatArray:
        """Compute the weights at a penalty afresh, so that errors do not add up."""
        active = [self.candidates.ever[slot] for slot in self.active]
        linear = self.candidates.relevance[active].astype(np.longdouble)
        weights = np.zeros(len(self.candidates.ever))
        weights[self.active] = self.cholesky.solve(linear - alpha * self.shares[active])
        return weights

    def _record(self, joined: list[int], dropped: list[int]) -> None:
        positive = [slot for slot in self.active if self.weights[slot] > 0]
        self.breakpoints.append(
            Breakpoint(
                float(self.alpha),
                self._features(positive),
                self.weights[positive],
                tuple(self._features(joined).tolist()),
                tuple(self._features(dropped).tolist()),
            )
        )

    def _features(self, slots: list[int]) -> IntArray:
        return self.candidates.order[[self.candidates.ever[slot] for slot in slots]]

    def _finish(self, status: Status) -> Path:
        if status in (Status.N_FEATURES, Status.PATH_END) or self.active:
            self._record([], [])
        certificate = certify(self.problem, self.candidates, self.weights, self.alpha)
        n_features = self.candidates.order.size
        return Path(
            tuple(self.breakpoints), status, certificate, n_features, self.candidates.pulled
        )
