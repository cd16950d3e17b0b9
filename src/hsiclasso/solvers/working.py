"""Solving on a growing working set, for any penalty, along a falling penalty.

The inner solver only ever sees the features of the working set. After each of its runs, upper
bounds on the correlations of all others (`Candidates`) say which units might violate their
optimality condition; those are refined, and the worst offenders enter. Units that the duality
gap proves to be zero at the optimum are not looked at again for this penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.certificate import certify
from hsiclasso.solvers.path import Breakpoint, Certificate, Closed, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import QuadraticProblem
from hsiclasso.solvers.quadratic import SmallProblem, dual_scale

__all__ = ["GAP", "InnerSolver", "WorkingSet"]

#: Minimises a small problem from a start, to a relative duality gap.
InnerSolver = Callable[[SmallProblem, FloatArray, float], FloatArray]

#: Relative duality gap of a solution that counts as solved.
GAP = 1e-10
#: Gap that the inner solver may leave, as a share of `GAP`.
_INNER = 1e-3
#: Smallest excess of a correlation over the penalty that counts, relative to the largest relevance.
_VIOLATION = 1e-13
#: Norm of a feature's part in the fit, relative to the target's, below which it is rounding.
_ROUNDING_SHARE = 1e-12
#: Least number of units that enter at once.
_ENTER = 8
#: Norm assumed for a matrix that was never made: so large that it excludes no feature.
_UNKNOWN = 1e150
_MAX_ROUNDS = 1000


class WorkingSet:
    """Solver of one problem for one penalty after another, each starting from the last.

    Parameters
    ----------
    problem : QuadraticProblem
    penalty : Penalty
    inner : callable
        Inner solver.
    """

    def __init__(self, problem: QuadraticProblem, penalty: Penalty, inner: InnerSolver) -> None:
        self.problem = problem
        self.penalty = penalty
        self.inner = inner
        self.candidates = Candidates(problem, penalty)
        self.weights = np.zeros(0)
        self.certificate = Certificate(0.0, 0.0, 0)
        self._tolerance = _VIOLATION * float(np.abs(problem.linear).max(initial=0.0))
        if penalty.signed:  # there are no bounds: every feature has to be looked at
            self.candidates.pull(penalty.n_features)
        # features without penalty come first in the order, and are in from the start
        self.candidates.pull(int(np.isinf(self.candidates.limit).sum()))
        free = self.candidates.penalty.free & np.isinf(self._pulled(self.candidates.limit))
        self._enter(np.unique(self.candidates.penalty.unit_of[free]))

    def largest_alpha(self) -> float:
        """Return the smallest penalty at which every penalised unit is zero."""
        limit = self.candidates.limit
        top = float(limit[np.isfinite(limit)].max(initial=0.0))
        if not self.candidates.n_slots or top == 0:
            return top
        # with the unpenalised features in place, correlations are below the relevance
        self._solve_small(2 * top)
        self.candidates.pull_down_to(0.0)
        while True:
            critical = self._critical()
            best = int(np.argmax(critical))
            members = self._members(np.array([best]))
            if self.candidates.refined[members].all():
                return float(critical[best])
            self.candidates.refine(members)

    def solve(self, alpha: float) -> None:
        """Find the solution at a penalty, and certify it."""
        self.candidates.pull_down_to(alpha)
        dead = np.zeros(self.candidates.penalty.starts.size, dtype=bool)
        for _ in range(_MAX_ROUNDS):
            if self.candidates.n_slots:
                dead |= self._screen(self._solve_small(alpha))
            entering = self._violating(alpha, dead)
            if not entering.size:
                break
            self._enter(entering)
        self.certificate = certify(self.problem, self.candidates, self.weights, alpha)

    @property
    def solution(self) -> tuple[IntArray, FloatArray]:
        """Features that are not zero, and their weights."""
        used = np.flatnonzero(self.weights)
        return self.candidates.features[used], self.weights[used]

    def close(self, features: Iterable[int]) -> None:
        """Exclude some features from now on."""
        self.candidates.close(features)
        self.weights[~self._open] = 0.0

    def reopen(self, features: Iterable[int]) -> None:
        """Give features that were closed their penalty again."""
        self.candidates.reopen(features)

    @property
    def _open(self) -> BoolArray:
        """Which slots may have a weight: not those of features that were closed."""
        return np.isfinite(self.candidates.penalty.weights[self.candidates.joined])

    def _solve_small(self, alpha: float) -> SmallProblem:
        """Solve on the working set; return the problem that was solved."""
        open_ = np.flatnonzero(self._open)
        features, gram = self.candidates.features[open_], self.candidates.gram(alpha)
        small = SmallProblem(
            np.ascontiguousarray(gram[np.ix_(open_, open_)]),
            self.problem.linear[features],
            self.problem.target_norm2,
            self.penalty.take(features),
            alpha,
        )
        found = self.inner(small, self.weights[open_], _INNER * GAP)
        self.weights[open_] = _without_dust(small, found)
        return small

    def _members(self, units: IntArray) -> IntArray:
        """Candidates of some units, unit after unit."""
        sizes = self.candidates.penalty.sizes[units]
        before = np.cumsum(sizes) - sizes
        firsts = np.repeat(self.candidates.penalty.starts[units] - before, sizes)
        return np.asarray(firsts + np.arange(firsts.size))

    def _critical(self) -> FloatArray:
        """Upper bounds on the penalty at which each penalised pulled unit would join.

        There is no ridge part, because only features without penalty have a weight.
        """
        penalty = self.candidates.penalty
        bounds = self.candidates.bounds(self.weights, 0.0)
        return penalty.critical(np.where(penalty.free, 0.0, bounds))

    def _pulled(self, values: FloatArray) -> FloatArray:
        return values[: self.candidates.n_pulled]

    def _violating(self, alpha: float, dead: BoolArray) -> IntArray:
        """Units outside the working set that break their optimality condition, worst first."""
        if not self.candidates.n_pulled:
            return np.zeros(0, dtype=np.int64)
        penalty = self.candidates.penalty
        closed = dead.copy()
        closed[penalty.unit_of[self.candidates.joined]] = True
        if self.penalty.signed:  # there are no bounds
            self.candidates.refine(self._members(np.flatnonzero(~closed)))
        wanted = batch = max(_ENTER, int(np.count_nonzero(self.weights)))
        while True:
            excess = penalty.excess(self.candidates.bounds(self.weights, alpha), alpha)
            suspect = np.flatnonzero((excess > self._tolerance) & ~closed)
            worst = suspect[np.argsort(-excess[suspect], kind="stable")]
            refined = np.logical_and.reduceat(self.candidates.refined, penalty.starts)[worst]
            if refined[:wanted].all():  # these are certain, and no other can be worse
                return worst[:wanted]
            self.candidates.refine(self._members(worst[~refined][:batch]))
            batch *= 2

    def _screen(self, small: SmallProblem) -> BoolArray:
        """Units that are certainly zero at the optimum for this penalty: the gap-safe sphere.

        The optimal residual lies within sqrt(2 gap) of any feasible dual point.
        """
        penalty = self.candidates.penalty
        certain = np.zeros(penalty.starts.size, dtype=bool)
        touched = np.flatnonzero(self.candidates.touched)
        if small.alpha == 0 or not touched.size or small.penalty.free.any():
            return certain
        bounds = self.candidates.bounds(self.weights, small.alpha)
        # candidates that were not pulled are feasible at any scale up to 1, by their relevance
        scale = min(dual_scale(penalty, bounds, small.alpha), 1.0)
        a = self.weights[self._open]
        c = small.correlation(a)
        towards = small.target_norm2 - float(small.linear @ a)
        residual2 = max(towards - float(c @ a), 0.0)
        primal = 0.5 * residual2 + small.alpha * small.penalty.value(a)
        gap = max(primal - (scale * towards - 0.5 * scale**2 * residual2), 0.0)
        reach = np.full(bounds.size, _UNKNOWN)
        reach[touched] = np.sqrt(2 * gap) * self.candidates.norms(touched, small.alpha)
        if penalty.signed:
            bounds = np.abs(bounds)
        excess = penalty.excess(scale * bounds + reach, small.alpha)
        return np.asarray(excess < -self._tolerance)

    def _enter(self, units: IntArray) -> None:
        members = self._members(units)
        allowed = np.isfinite(self.candidates.penalty.weights[members])
        self.candidates.join(members[allowed])
        grown = self.candidates.n_slots - self.weights.size
        self.weights = np.append(self.weights, np.zeros(grown))


def _without_dust(small: SmallProblem, weights: FloatArray) -> FloatArray:
    """Set weights to zero that contribute only rounding errors, such as those of copies."""
    part = np.abs(weights) * np.sqrt(np.diag(small.gram))
    return np.where(part > _ROUNDING_SHARE * np.sqrt(small.target_norm2), weights, 0.0)


class Recorder:
    """Collects solutions of a working set into a path."""

    def __init__(self, working: WorkingSet) -> None:
        self.working = working
        self.points: list[Breakpoint] = []

    def record(self, alpha: float) -> None:
        """Add the current solution."""
        features, weights = self.working.solution
        before = set(self.points[-1].indices.tolist()) if self.points else set()
        now = set(features.tolist())
        joined = tuple(k for k in features.tolist() if k not in before)
        dropped = tuple(sorted(before - now))
        self.points.append(Breakpoint(float(alpha), features, weights, joined, dropped))

    def path(self, status: Status, closed: tuple[Closed, ...] = ()) -> SolutionPath:
        """Return the path of the collected solutions, and what was left out."""
        working = self.working
        if working.certificate.duality_gap > GAP:
            status = Status.STALLED
        return SolutionPath(
            tuple(self.points),
            status,
            working.certificate,
            working.penalty.n_features,
            working.candidates.pulled,
            exact=False,
            closed=closed,
        )
