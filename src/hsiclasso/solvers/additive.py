r"""The additive problem: several responses, a sum of functions, one norm for each of them.

.. math:: \min_W \tfrac12 \Big\|F - \sum_k Q_k W_k\Big\|_F^2 + \lambda \sum_u v_u \|W_u\|_F

F (n x p) is the target, and the columns of :math:`Q_k` (n x r) span the functions of feature k.
They are orthogonal, and no longer than 1. A unit u is a feature or a group of features. Arrays hold
the transposes, row by row.

*Candidates.* A path is solved on features with a large correlation :math:`c_k = \|Q_k^\top R\|`
with the residual R. Since :math:`\|Q_k\| \le 1`, a correlation changes by no more than the residual
does: :math:`c_k(R) \le c_k(R_0) + \|R - R_0\|`. This bound excludes most candidates at most
penalties. Whenever the penalty has halved, and at the end, one pass with the residual as target
finds the correlations of all features; those that break their condition become candidates, and the
solution is improved.

*Features without penalty* (:math:`v = 0`) have a smooth function instead: the ridge part
:math:`\tfrac12 \sum_i (1 - e_i)\|W_i\|^2`, with :math:`e_i` the squared norm of column i, makes
:math:`W = Q^\top R`. With :math:`e = s^2 / (s^2 + \epsilon n)` this is kernel ridge regression.

*Certificate.* For any residual R, :math:`\theta = sR` with
:math:`s \le \lambda v_u / c_u` for all units is dual feasible, and
:math:`\langle F, \theta\rangle - \tfrac12\|\theta\|^2
- \tfrac12\sum_{free} \|(I - E)^{-1/2} Q^\top\theta\|^2` bounds the optimum from below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.additive_units import AdditiveProblem, Units
from hsiclasso.solvers.distinct import Distinct, refuse_groups
from hsiclasso.solvers.path import Breakpoint, Certificate, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.solve import Stop

__all__ = ["AdditiveProblem", "AdditiveSolution", "solve_additive"]

#: Each penalty of the path is the first share of the one before. Where few features join it is
#: less, but at least the second share. The path ends at the third share of the largest penalty.
_STEP, _LARGE_STEP, _LEAST_ALPHA = 0.93, 0.75, 1e-2
#: Relative duality gap at the end of the path, and before it.
_GAP, _GAP_BEFORE = 1e-10, 1e-5
#: A solution with a larger gap is not called solved. Rows and the pass agree to the error of the
#: features' matrices only, and the gap contains the difference.
_LARGEST_GAP = 1e-6
#: A pass looks for candidates whenever the penalty has fallen to this share.
_PASS_STEP = 0.5
#: Candidates at first: so many for each feature asked for, and so many more.
_CANDIDATES_EACH, _CANDIDATES_MORE = 4, 64
#: Most units that enter a working set at once, and most units in it for each that is not zero.
_ENTER, _MOST_IDLE = 10, 2
#: Most penalties that are tried between one with too few features and one with too many.
_BISECTIONS = 6
#: Most passes over all features at one penalty.
_MOST_PASSES = 20
#: A condition is broken if a correlation exceeds the penalty by more than this share.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class AdditiveSolution:
    """The solution of an additive problem."""

    #: The weight of a feature is the norm of its part of the fitted target, ``||Q_k W_k||``.
    path: SolutionPath
    #: Features that are not zero, in ascending order.
    features: IntArray
    #: Weights of the rows of each of them, shape (r, p).
    weights: tuple[FloatArray, ...]


def solve_additive(
    problem: AdditiveProblem,
    penalty: Penalty,
    stop: Stop,
    *,
    alpha_ratio: float = 0.0,
    end: float = 0.0,
    spare: tuple[int, float] = (0, 0.0),
    cap: float = 1.0,
    report: Callable[[int], None] | None = None,
) -> AdditiveSolution:
    """Follow the path of the additive problem to the first of some stops, and certify its end.

    Parameters
    ----------
    problem : AdditiveProblem
    penalty : Penalty
        A lasso, with weights by choice, or a group lasso.
    stop : Stop
        Where the path ends. A number of features is reached at a penalty with at least so many,
        and as few more as a short search between the penalties of the path finds.
    alpha_ratio : float, default=0.0
        The path also ends at this share of the largest penalty.
    end : float, default=0.0
        If no penalty is asked for, the path ends here, or at a hundredth of the largest penalty.
    spare : (int, float), default=(0, 0.0)
        Number of features that the path should have beyond those asked for, as long as the penalty
        is above a share of the largest one.
    cap : float, default=1.0
        Largest similarity of two features that may both join, see `hsiclasso.solvers.distinct`.
        1 leaves nothing out. Groups have none.
    report : callable, optional
        Called with the number of features after every step.
    """
    refuse_groups(penalty, cap)
    follower = _Follower(problem, penalty, stop, spare[0], cap)
    points = [follower.begin()]
    alpha, status = points[0].alpha, Status.NOTHING_RELEVANT
    follower.floor = spare[1] * alpha
    asked = max(stop.alpha, alpha_ratio * alpha)
    least = asked or max(min(end, _STEP * alpha), _LEAST_ALPHA * alpha)
    if not alpha > asked:
        status = Status.ALPHA if asked > 0 else status
        alpha = max(alpha, asked)
        points = [follower.point(alpha)]
        return follower.solution(points, status, follower.certify(alpha))
    reached, passed, step, settled = None, alpha, _STEP, False
    while reached is None and alpha > least:
        step = _STEP if points[-1].joined else max(_LARGE_STEP, step * _STEP)
        alpha = max(least, step * alpha)
        follower.solve(alpha, _GAP_BEFORE)
        if alpha < _PASS_STEP * passed:  # features may have become relevant since the last pass
            follower.look_for_candidates(alpha)
            passed = alpha
        reached = follower.reached()
        if reached is not None and not settled:
            alpha, settled = follower.settle(alpha, top=points[0].alpha), True
            points = [point for point in points if point.alpha > alpha]
        points.append(follower.point(alpha, points[-1:]))
        if report is not None:
            report(points[-1].indices.size)
        if reached is not None or alpha <= least:
            # other features may have to join, or leave: only then is it certain that enough did;
            # if not, the path goes on, and the same penalty is not tried again
            certificate = follower.finish(alpha)
            points[-1] = follower.point(alpha, points[-2:-1])
            reached = follower.reached()
    status = reached or (Status.ALPHA if asked >= least else Status.LEAST_ALPHA)
    return follower.solution(points, status, certificate)


class _Follower:
    """Follows the path: looks for candidates, and lets units enter and leave the working set."""

    def __init__(
        self, problem: AdditiveProblem, penalty: Penalty, stop: Stop, spare: int,
        cap: float,
    ) -> None:  # fmt: skip
        self.problem, self.stop, self.spare = problem, stop, spare
        #: Penalty of the current solution, and that above which spare features are wanted.
        self.alpha, self.floor = np.inf, 0.0
        self.units = Units(problem, penalty)
        self.factor = self.units.factor
        self.groups, self.allowed = penalty.groups, np.isfinite(penalty.weights)
        # a sum of m matrices, each at most 1, is at most m
        self.length = np.sqrt(np.maximum(self.units.sizes, 1))
        #: Correlation of each unit when it was looked at last, and how far the residual had moved.
        self.seen, self.seen_at = np.zeros(self.factor.size), np.zeros(self.factor.size)
        self.candidates = np.zeros(self.factor.size, dtype=bool)
        #: Features that joined, and those that are left out because of them.
        self.distinct: Distinct | None = None
        if cap < 1:  # each feature is a unit by itself
            self.distinct = Distinct(self.units.similarity, cap, penalty.free.tolist())

    def begin(self) -> Breakpoint:
        """Fit the features without penalty, and find the largest penalty of the others."""
        free = np.flatnonzero(self.factor == 0)
        if free.size:
            self._enter(free)
            self.units.descend(0.0, _GAP)
        self._look_at_all()
        ratio = self._ratios(self.seen)
        alpha = float(ratio.max(initial=0.0))
        wanted = self.stop.max_features or self.stop.max_groups or 0
        self._add_candidates(ratio, _CANDIDATES_EACH * wanted + _CANDIDATES_MORE)
        return self.point(alpha)

    def solve(self, alpha: float, gap: float) -> None:
        """Solve among the candidates, and close those that are too similar to one that joined."""
        self.alpha = alpha
        self._prune()
        while True:
            self.units.descend(alpha, gap)
            bound = self._ratios(self.seen + self.length * (self.units.moved - self.seen_at))
            suspect = self.candidates & (bound > alpha * (1 + _TOLERANCE))
            self._look_at(np.flatnonzero(suspect))
            broken = np.flatnonzero(suspect & (self._ratios(self.seen) > alpha * (1 + _TOLERANCE)))
            if not broken.size:
                if self._close_similar():
                    continue
                return
            excess = self._ratios(self.seen)[broken]
            self._enter(broken[np.argsort(-excess, kind="stable")][:_ENTER])

    def _close_similar(self) -> bool:
        """Let features that are not zero join, largest part first, or close them.

        Returns whether any was closed. Of two that join between the same two penalties, and are
        too similar, the one with the larger part closes the other.
        """
        if self.distinct is None:
            return False
        point, refused = self.point(self.alpha), []
        for k in point.indices[np.argsort(-point.weights, kind="stable")].tolist():
            if self.distinct.admit(k):
                self.distinct.join(k)
            else:
                refused.append(k)
        if refused:
            self.allowed[refused] = self.candidates[refused] = False
            self.factor[refused] = np.inf
            self.units.leave(np.flatnonzero(~np.isin(self.units.numbers, refused)))
        return bool(refused)

    def look_for_candidates(self, alpha: float) -> None:
        """Find features that should be candidates by a pass, and solve again with them."""
        self._look_at_all()
        self._add_candidates(self._ratios(self.seen), _CANDIDATES_MORE)
        if self._add_broken(alpha):
            self.solve(alpha, _GAP_BEFORE)

    def settle(self, alpha: float, top: float) -> float:
        """Return a penalty with as many features as were asked for, and few more.

        The solution among the candidates has enough of them at `alpha`. Features that are no
        candidates, but should be, are found by passes. The follower is left at the solution of the
        penalty that is returned.
        """
        for _ in range(_MOST_PASSES):
            alpha = self._rise(alpha, top)
            self._look_at_all()
            if not self._add_broken(alpha):
                break
            self.solve(alpha, _GAP_BEFORE)
        return alpha

    def _add_broken(self, alpha: float) -> bool:
        """Make features that break their condition candidates; return whether any did."""
        ratio = self._ratios(self.seen)
        broken = (ratio > alpha * (1 + _TOLERANCE)) & ~self.candidates
        if broken.any():
            self._add_candidates(ratio, _CANDIDATES_MORE + int(np.count_nonzero(broken)))
        return bool(broken.any())

    def _rise(self, alpha: float, top: float) -> float:
        """Search above a penalty for the largest one that still has enough features."""
        above, enough = alpha, True
        while enough and self.n_beyond() > 0 and above < top:
            alpha, above = above, min(top, above / _STEP)
            self.solve(above, _GAP_BEFORE)
            enough = self.reached() is not None
        for _ in range(_BISECTIONS if above > alpha else 0):
            middle = float(np.sqrt(above * alpha))
            self.solve(middle, _GAP_BEFORE)
            if self.reached() is None:
                above = middle
            elif self.n_beyond() <= 0:
                return middle
            else:
                alpha = middle
        if above > alpha:
            self.solve(alpha, _GAP_BEFORE)
        return alpha

    def finish(self, alpha: float) -> Certificate:
        """Solve among all features, and certify the solution."""
        for _ in range(_MOST_PASSES):
            self.solve(alpha, _GAP)
            certificate = self.certify(alpha)
            if not self._add_broken(alpha):
                break
        return certificate

    def certify(self, alpha: float) -> Certificate:
        """Look at all features; measure the optimality conditions and the duality gap."""
        self._look_at_all()
        c, norms = self.units.correlation(), np.sqrt(self.units.sums(np.square(self.units.weights)))
        # of the working set the rows themselves are known, and the pass has an error
        inside = np.repeat(self.factor[self.units.numbers] > 0, self.units.ranks)
        self.seen[self.units.numbers] = np.sqrt(self.units.sums(np.square(c * inside[:, None])))
        cuts = alpha * self.factor[self.units.numbers]
        pull = np.repeat(
            np.divide(cuts, norms, out=np.zeros(cuts.size), where=norms > 0), self.units.ranks
        )
        apart = np.sqrt(self.units.sums(np.square(c - pull[:, None] * self.units.weights)))
        stationary = float(apart[(norms > 0) | (cuts == 0)].max(initial=0.0))
        others = np.isfinite(self.factor) & (self.factor > 0)
        others[self.units.numbers[norms > 0]] = False
        beyond = self.seen[others] - alpha * self.factor[others]
        top = float(np.linalg.norm(self.units.target)) or 1.0
        violation = max(stationary, float(beyond.max(initial=0.0)), 0.0) / top
        highest = float(self._ratios(self.seen).max(initial=0.0))
        scale = alpha / highest if highest > alpha else 1.0
        return Certificate(violation, self.units.gap(alpha, c, scale), int(self.candidates.sum()))

    def n_beyond(self) -> int:
        """Return how many features or groups are not zero beyond those asked for.

        Negative numbers say how many are lacking.
        """
        used = self.units.used
        n_features = sum(unit.features.size for unit, _ in self.units.parts())
        n_groups = int(np.count_nonzero(self.factor[self.units.numbers[used]] > 0))
        asked = ((n_features, self._n_wanted), (n_groups, self.stop.max_groups))
        return max((found - most for found, most in asked if most is not None), default=-1)

    @property
    def _n_wanted(self) -> int | None:
        """Number of features at which the path ends, those to spare included."""
        wanted = self.stop.max_features
        return wanted if wanted is None or self.alpha <= self.floor else wanted + self.spare

    def reached(self) -> Status | None:
        """Return whether as many features or groups are not zero as were asked for."""
        if self.n_beyond() < 0:
            return None
        n_features = sum(unit.features.size for unit, _ in self.units.parts())
        enough = self._n_wanted is not None and n_features >= self._n_wanted
        return Status.N_FEATURES if enough else Status.N_GROUPS

    def point(self, alpha: float, before: list[Breakpoint] | None = None) -> Breakpoint:
        """Return the current solution as a point of the path."""
        features: list[int] = []
        sizes = []
        for unit, part in self.units.parts():
            features += unit.features.tolist()
            for weights, lengths in zip(unit.by_feature(part), unit.lengths, strict=True):
                sizes.append(float(np.sqrt(lengths @ np.square(weights).sum(axis=1))))
        indices = np.array(features, dtype=np.int64)
        earlier = set(before[0].indices.tolist()) if before else set()
        joined = tuple(k for k in features if k not in earlier)
        dropped = tuple(sorted(earlier - set(features)))
        return Breakpoint(float(alpha), indices, np.array(sizes), joined, dropped)

    def solution(
        self, points: list[Breakpoint], status: Status, certificate: Certificate
    ) -> AdditiveSolution:
        """Return the path and the weights at its end."""
        made = {
            int(k): weights
            for unit, part in self.units.parts()
            for k, weights in zip(unit.features, unit.by_feature(part), strict=True)
        }
        if certificate.duality_gap > _LARGEST_GAP:
            status = Status.STALLED
        candidates = np.flatnonzero(self.candidates[self.groups] & self.allowed)
        path = SolutionPath(
            tuple(points), status, certificate, self.groups.size, candidates, exact=False,
            closed=() if self.distinct is None else tuple(self.distinct.closed.values()),
        )  # fmt: skip
        order = sorted(made)
        return AdditiveSolution(
            path, np.array(order, dtype=np.int64), tuple(made[k] for k in order)
        )

    def _ratios(self, correlations: FloatArray) -> FloatArray:
        """Penalty at which each unit would join; 0 if it may not, or has no penalty."""
        penalised = np.isfinite(self.factor) & (self.factor > 0)
        ratios = np.zeros(correlations.size)
        np.divide(correlations, self.factor, out=ratios, where=penalised)
        return ratios

    def _enter(self, numbers: IntArray) -> None:
        """Add units to the working set."""
        self.units.enter(numbers)
        self.candidates[numbers] = True

    def _prune(self) -> None:
        """Let units that are zero leave the working set, if there are many; they may return."""
        used, numbers = self.units.used, self.units.numbers
        if numbers.size <= _MOST_IDLE * used.size + _ENTER:
            return
        gone = self.units.leave(np.union1d(used, np.flatnonzero(self.factor[numbers] == 0)))
        # their correlations were not looked at while the descent kept them below the penalty
        self.seen[gone], self.seen_at[gone] = np.inf, self.units.moved

    def _add_candidates(self, ratio: FloatArray, number: int) -> None:
        """Make the units with the largest ratios candidates."""
        others = np.flatnonzero((ratio > 0) & ~self.candidates)
        self.candidates[others[np.argsort(-ratio[others], kind="stable")[:number]]] = True

    def _look_at(self, numbers: IntArray) -> None:
        """Find the correlations of some units with the residual."""
        outside = numbers[~np.isin(numbers, self.units.numbers)]
        if outside.size:
            features = np.concatenate([self.units.members(u) for u in outside.tolist()])
            found = self.problem.correlations(self.units.residual, features)
            sums = np.bincount(self.groups[features], np.square(found), self.factor.size)
            self.seen[outside] = np.sqrt(sums[outside])
        self.seen_at[outside] = self.units.moved
        inside = np.isin(self.units.numbers, numbers)
        # the descent holds the conditions of the working set
        self.seen[self.units.numbers[inside]] = 0.0
        self.seen_at[self.units.numbers[inside]] = self.units.moved

    def _look_at_all(self) -> None:
        """Find the correlations of all units with the residual, by one pass."""
        squares = np.square(self.problem.correlations(self.units.residual))
        squares[~self.allowed] = 0.0
        sums = np.bincount(self.groups, weights=squares, minlength=self.factor.size)
        self.seen, self.seen_at = np.sqrt(sums), np.full(self.factor.size, self.units.moved)
