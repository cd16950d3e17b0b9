r"""The additive problem: several responses, a sum of functions, one norm for each of them.

.. math:: \min_W \tfrac12 \Big\|F - \sum_k Q_k W_k\Big\|_F^2 + \lambda \sum_u v_u \|W_u\|_F

F (n x p) is the target, and the columns of :math:`Q_k` (n x r) span the functions of feature k.
They are orthogonal, and no longer than 1. A unit u is a feature or a group of features. Arrays hold
the transposes, row by row.

*Candidates.* A path is solved on features with a large correlation :math:`c_k = \|Q_k^\top R\|`
with the residual R. Since :math:`\|Q_k\| \le 1`, a correlation changes by no more than the residual
does: :math:`c_k(R) \le c_k(R_0) + \|R - R_0\|`. This bound excludes most candidates at most
penalties. At the end, one pass with the residual as target finds the correlations of all features;
those that break their condition become candidates, and the solution is improved.

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
from typing import Protocol

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.path import Breakpoint, Certificate, SolutionPath, Status
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.solve import Stop

__all__ = ["AdditiveProblem", "AdditiveSolution", "solve_additive"]

#: Penalties of the path: each is this share of the one before, or less, down to the second share,
#: where few features join; all down to this share of the largest.
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
#: Sweeps between two looks at the gap, and most of these.
_SWEEPS, _LOOKS = 5, 2000
#: Looks after which Newton steps help the descent, how many, and how their damping changes.
_PATIENCE, _NEWTON_STEPS, _DAMPING = 2, 6, 4.0
#: Most penalties that are tried between one with too few features and one with too many.
_BISECTIONS = 6
#: Most passes over all features at one penalty.
_MOST_PASSES = 20
#: A condition is broken if a correlation exceeds the penalty by more than this share.
_TOLERANCE = 1e-9
#: Smallest share of 1 that the ridge part of a free feature can be.
_LEAST_RIDGE = 1e-10


class AdditiveProblem(Protocol):
    """The functions of d features on n samples, and a target of p rows."""

    @property
    def target(self) -> FloatArray:
        """Rows of the target, shape (p, n)."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""

    def factors(self, features: IntArray) -> list[FloatArray]:
        """Return the rows (r, n) of some features: orthogonal, and no longer than 1.

        Rows may be asked for more than once: keep them if they are expensive.
        """

    def correlations(self, residual: FloatArray) -> FloatArray:
        """Return the norm of the products of each feature's rows with those of a residual: (d,)."""


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
    spare: tuple[int, float] = (0, 0.0),
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
    spare : (int, float), default=(0, 0.0)
        Number of features that the path should have beyond those asked for, as long as the penalty
        is above a share of the largest one.
    report : callable, optional
        Called with the number of features after every step.
    """
    follower = _Follower(problem, penalty, stop, spare[0])
    points = [follower.begin()]
    alpha, status = points[0].alpha, Status.NOTHING_RELEVANT
    follower.floor = spare[1] * alpha
    asked = max(stop.alpha, alpha_ratio * alpha)
    least = asked or _LEAST_ALPHA * alpha
    if not alpha > asked:
        status = Status.ALPHA if asked > 0 else status
        alpha = max(alpha, asked)
        points = [follower.point(alpha)]
        return follower.solution(points, status, follower.certify(alpha))
    reached, passed, step = None, alpha, _STEP
    while reached is None and alpha > least:
        step = _STEP if points[-1].joined else max(_LARGE_STEP, step * _STEP)
        alpha = max(least, step * alpha)
        follower.solve(alpha, _GAP_BEFORE)
        if alpha < _PASS_STEP * passed:  # features may have become relevant since the last pass
            follower.look_for_candidates(alpha)
            passed = alpha
        reached = follower.reached()
        if reached is not None:
            alpha = follower.settle(alpha, top=points[0].alpha)
            points = [point for point in points if point.alpha > alpha]
        points.append(follower.point(alpha, points[-1:]))
        if report is not None:
            report(points[-1].indices.size)
        if reached is not None or alpha <= least:
            # other features may have to join: only then is it certain that enough did
            certificate = follower.finish(alpha)
            points[-1] = follower.point(alpha, points[-2:-1])
            reached = follower.reached()
    status = reached or (Status.ALPHA if asked >= least else Status.LEAST_ALPHA)
    return follower.solution(points, status, certificate)


@dataclass(frozen=True)
class _Unit:
    """A unit of the working set."""

    features: IntArray
    #: Squared norms of its orthogonal rows, shape (r,).
    energies: FloatArray
    #: Its rows are ``turn.T @`` the rows of its features, one after the other; None if they are
    #: the rows of its only feature.
    turn: FloatArray | None
    #: Squared norms of the rows of each feature.
    lengths: tuple[FloatArray, ...]

    @classmethod
    def of(cls, features: IntArray, factors: list[FloatArray]) -> _Unit:
        lengths = tuple(np.square(rows).sum(axis=1) for rows in factors)
        if len(factors) == 1:
            return cls(features, lengths[0], None, lengths)
        rows = np.concatenate(factors)
        energies, turn = np.linalg.eigh(rows @ rows.T)
        used = energies > 1e-14 * energies.max(initial=0.0)
        return cls(features, energies[used], turn[:, used], lengths)

    def rows(self, factors: list[FloatArray]) -> FloatArray:
        """Return the orthogonal rows (r, n), made of the rows of its features."""
        return factors[0] if self.turn is None else self.turn.T @ np.concatenate(factors)

    def by_feature(self, weights: FloatArray) -> list[FloatArray]:
        """Return the weights of each feature's own rows, the shortest that fit the same."""
        if self.turn is None:
            return [weights]
        ends = np.cumsum([lengths.size for lengths in self.lengths])[:-1]
        return [np.asarray(part) for part in np.split(self.turn @ weights, ends)]


def _inverse(gram: FloatArray, diagonal: FloatArray, rows: FloatArray | None) -> FloatArray:
    """Return the inverse of a positive definite matrix: inner products of rows, plus a diagonal.

    If there are more rows than samples, `rows` are given, and a smaller matrix is inverted.
    """
    if rows is None:
        return np.asarray(np.linalg.inv(gram + np.diag(diagonal)))
    scaled = rows / diagonal[:, None]
    inner = np.linalg.solve(np.eye(rows.shape[1]) + rows.T @ scaled, scaled.T)
    return np.diag(1 / diagonal) - scaled @ inner


class _Follower:
    """Holds the working set of a path: units, inner products of their rows, weights, residual."""

    def __init__(self, problem: AdditiveProblem, penalty: Penalty, stop: Stop, spare: int) -> None:
        self.problem, self.stop, self.spare = problem, stop, spare
        #: Penalty of the current solution, and that above which spare features are wanted.
        self.alpha, self.floor = np.inf, 0.0
        self.target = problem.target
        self.half_norm2 = 0.5 * float(np.vdot(self.target, self.target)) or 1.0
        self.groups = penalty.groups
        allowed = np.isfinite(penalty.weights)
        n_units = penalty.group_weights.size
        #: Factor v of each unit's penalty; infinite for units without features.
        self.factor = np.full(n_units, np.inf)
        self.factor[np.unique(self.groups[allowed])] = 0.0
        np.maximum.at(self.factor, self.groups[allowed], penalty.weights[allowed])
        self.factor += penalty.group_weights
        self.allowed = allowed
        # a sum of m matrices, each at most 1, is at most m
        sizes = np.bincount(self.groups[allowed], minlength=n_units)
        self.length = np.sqrt(np.maximum(sizes, 1))
        self.free = np.flatnonzero(self.factor == 0)
        self.units: list[_Unit] = []
        self.numbers = np.zeros(0, dtype=np.int64)
        self.starts = np.zeros(1, dtype=np.int64)
        p = len(self.target)
        self.gram, self.curvature = np.zeros((0, 0)), np.zeros(0)
        self.cross, self.weights = np.zeros((0, p)), np.zeros((0, p))
        self.residual = self.target
        #: Correlation of each unit when it was looked at last, and how far the residual had moved.
        self.seen, self.seen_at = np.zeros(n_units), np.zeros(n_units)
        self.moved = 0.0
        self.candidates = np.zeros(n_units, dtype=bool)
        #: Damping of Newton steps.
        self.damping = 1e-3
        #: Units whose rows were asked for.
        self.known: dict[int, _Unit] = {}

    def begin(self) -> Breakpoint:
        """Fit the features without penalty, and find the largest penalty of the others."""
        if self.free.size:
            self._enter(self.free)
            self._descend(0.0, _GAP)
        self._look_at_all()
        ratio = self._ratios(self.seen)
        alpha = float(ratio.max(initial=0.0))
        wanted = self.stop.max_features or self.stop.max_groups or 0
        self._add_candidates(ratio, _CANDIDATES_EACH * wanted + _CANDIDATES_MORE)
        return self.point(alpha)

    def solve(self, alpha: float, gap: float) -> None:
        """Solve among the candidates."""
        self.alpha = alpha
        self._prune()
        while True:
            self._descend(alpha, gap)
            bound = self._ratios(self.seen + self.length * (self.moved - self.seen_at))
            suspect = self.candidates & (bound > alpha * (1 + _TOLERANCE))
            self._look_at(np.flatnonzero(suspect))
            broken = np.flatnonzero(suspect & (self._ratios(self.seen) > alpha * (1 + _TOLERANCE)))
            if not broken.size:
                return
            excess = self._ratios(self.seen)[broken]
            self._enter(broken[np.argsort(-excess, kind="stable")][:_ENTER])

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
        c, norms = self._correlation(), np.sqrt(self._sums(np.square(self.weights)))
        # of the working set the rows themselves are known, and the pass has an error
        inside = np.repeat(self.factor[self.numbers] > 0, self.ranks)
        self.seen[self.numbers] = np.sqrt(self._sums(np.square(c * inside[:, None])))
        cuts = alpha * self.factor[self.numbers]
        pull = np.repeat(
            np.divide(cuts, norms, out=np.zeros(cuts.size), where=norms > 0), self.ranks
        )
        apart = np.sqrt(self._sums(np.square(c - pull[:, None] * self.weights)))
        stationary = float(apart[(norms > 0) | (cuts == 0)].max(initial=0.0))
        others = np.isfinite(self.factor) & (self.factor > 0)
        others[self.numbers[norms > 0]] = False
        beyond = self.seen[others] - alpha * self.factor[others]
        top = float(np.linalg.norm(self.target)) or 1.0
        violation = max(stationary, float(beyond.max(initial=0.0)), 0.0) / top
        highest = float(self._ratios(self.seen).max(initial=0.0))
        scale = alpha / highest if highest > alpha else 1.0
        return Certificate(violation, self._gap(alpha, c, scale), int(self.candidates.sum()))

    def n_beyond(self) -> int:
        """Return how many features or groups are not zero beyond those asked for.

        Negative numbers say how many are lacking.
        """
        used = self.used
        n_features = sum(self.units[i].features.size for i in used)
        n_groups = int(np.count_nonzero(self.factor[self.numbers[used]] > 0))
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
        n_features = sum(self.units[i].features.size for i in self.used)
        enough = self._n_wanted is not None and n_features >= self._n_wanted
        return Status.N_FEATURES if enough else Status.N_GROUPS

    @property
    def ranks(self) -> IntArray:
        """Number of rows of each unit of the working set."""
        return np.diff(self.starts)

    @property
    def used(self) -> IntArray:
        """Units of the working set that are not zero."""
        return np.flatnonzero(self._sums(np.square(self.weights)) > 0)

    def point(self, alpha: float, before: list[Breakpoint] | None = None) -> Breakpoint:
        """Return the current solution as a point of the path."""
        features: list[int] = []
        sizes = []
        for unit, part in self._parts():
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
            for unit, part in self._parts()
            for k, weights in zip(unit.features, unit.by_feature(part), strict=True)
        }
        if certificate.duality_gap > _LARGEST_GAP:
            status = Status.STALLED
        candidates = np.flatnonzero(self.candidates[self.groups] & self.allowed)
        path = SolutionPath(
            tuple(points), status, certificate, self.groups.size, candidates, exact=False
        )
        order = sorted(made)
        return AdditiveSolution(
            path, np.array(order, dtype=np.int64), tuple(made[k] for k in order)
        )

    def _parts(self) -> list[tuple[_Unit, FloatArray]]:
        """Return the units that are not zero, with their weights."""
        return [
            (self.units[i], self.weights[self.starts[i] : self.starts[i + 1]]) for i in self.used
        ]

    def _sums(self, values: FloatArray) -> FloatArray:
        """Sum values (M, p) over the rows of each unit of the working set."""
        if not self.numbers.size:
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values.sum(axis=1), self.starts[:-1]))

    def _ratios(self, correlations: FloatArray) -> FloatArray:
        """Penalty at which each unit would join; 0 if it may not, or has no penalty."""
        penalised = np.isfinite(self.factor) & (self.factor > 0)
        ratios = np.zeros(correlations.size)
        np.divide(correlations, self.factor, out=ratios, where=penalised)
        return ratios

    def _correlation(self) -> FloatArray:
        """Minus the gradient of the smooth part, ridge of free units included, shape (M, p)."""
        rest = self.curvature - np.diag(self.gram)
        return np.asarray(self.cross - self.gram @ self.weights - rest[:, None] * self.weights)

    def _descend(self, alpha: float, gap: float) -> None:
        """Minimise over the working set, and update the residual."""
        if not self.numbers.size:
            return
        from hsiclasso.solvers._additive_loops import descend_functions

        cuts = alpha * self.factor[self.numbers]
        c = self._correlation()
        for look in range(_LOOKS):
            descend_functions(
                self.gram, self.curvature, cuts, self.starts, self.weights, c, _SWEEPS
            )
            sizes = np.sqrt(self._sums(np.square(c)))
            penalised = cuts > 0
            over = float(np.max(sizes[penalised] / cuts[penalised], initial=1.0))
            if self._gap(alpha, c, 1 / over) <= gap:
                break
            if look >= _PATIENCE:
                self._improve(alpha)
            c = self._correlation()
        before = self.residual
        self.residual = self.target.copy()
        for unit, part in self._parts():
            self.residual -= part.T @ self._rows(unit)
        self.moved += float(np.linalg.norm(self.residual - before))

    def _improve(self, alpha: float) -> None:
        r"""Take damped Newton steps in the units that are not zero: there the objective is smooth.

        Features that are alike make the descent slow. With
        :math:`d_u = \lambda v_u / \|W_u\|`, the Hessian is
        :math:`(G + D) \otimes I_p - \sum_u (d_u / \|W_u\|^2)\, w_u w_u^\top`, where
        :math:`w_u` has the weights of unit u: one inverse serves all responses, and a small
        system couples them. The damping :math:`\mu I` is adapted to what steps achieve.
        """
        used = self.used
        if not used.size:
            return
        sizes, rows = self.ranks[used], self._places(used)
        starts = np.append(0, np.cumsum(sizes)[:-1])
        unit_of = np.repeat(np.arange(used.size), sizes)
        gram = self.gram[np.ix_(rows, rows)]
        ridge = self.curvature[rows] - np.diag(gram)
        smooth = gram + np.diag(ridge)
        cuts, cross = alpha * self.factor[self.numbers[used]], self.cross[rows]
        weights, thin = self.weights[rows], None
        if len(rows) > self.target.shape[1]:  # more functions than samples
            thin = np.concatenate([self._rows(self.units[i]) for i in used])

        def sums(values: FloatArray) -> FloatArray:
            """Sum values (..., M, p) over the rows of each unit."""
            return np.asarray(np.add.reduceat(values.sum(axis=-1), starts, axis=-1))

        def value(w: FloatArray) -> float:
            fitted = 0.5 * np.vdot(w, smooth @ w) - np.vdot(cross, w)
            return float(fitted + cuts @ np.sqrt(sums(np.square(w))))

        now = value(weights)
        for _ in range(_NEWTON_STEPS):
            norms = np.sqrt(sums(np.square(weights)))
            pull = cuts / norms
            price = pull[unit_of]
            inverse = _inverse(gram, ridge + price + self.damping, thin)
            step = inverse @ (cross - smooth @ weights - price[:, None] * weights)
            bent = np.flatnonzero(pull > 0)
            turned = np.array([inverse[:, unit_of == i] @ weights[unit_of == i] for i in bent])
            if bent.size:
                small = np.diag(norms[bent] ** 2 / pull[bent]) - sums(turned * weights)[:, bent].T
                known = sums(step * weights)[bent]
                step = step + np.tensordot(np.linalg.solve(small, known), turned, axes=1)
            then = value(weights + step)
            if then < now:
                weights, now = weights + step, then
                self.damping = max(self.damping / _DAMPING, _LEAST_RIDGE)
            else:
                self.damping = min(self.damping * _DAMPING**2, 1e3)
        self.weights[rows] = weights

    def _objective(self, alpha: float) -> float:
        """Return the objective less half the squared norm of the target."""
        rest = self.curvature - np.diag(self.gram)
        fitted = self.gram @ self.weights + rest[:, None] * self.weights
        norms = np.sqrt(self._sums(np.square(self.weights)))
        smooth = 0.5 * np.vdot(self.weights, fitted) - np.vdot(self.cross, self.weights)
        return float(smooth + alpha * (self.factor[self.numbers] @ norms))

    def _gap(self, alpha: float, c: FloatArray, scale: float) -> float:
        """Return the duality gap relative to half the squared norm of the target.

        `scale` is the largest factor with which the residual is feasible.
        """
        rest = self.curvature - np.diag(self.gram)
        norms = np.sqrt(self._sums(np.square(self.weights)))
        fit = float(np.vdot(self.cross, self.weights))
        towards = 2 * self.half_norm2 - fit
        ridge = float(rest @ np.square(self.weights).sum(axis=1))
        # |R|^2 = |F|^2 - <C, W> - <QR, W>, and c = QR - rest W
        residual2 = max(towards - float(np.vdot(c, self.weights)) - ridge, 0.0)
        # for free units: Q R = c + rest W
        free = rest > 0
        pushed = np.square(c[free] + rest[free, None] * self.weights[free]).sum(axis=1)
        size2 = residual2 + float(np.sum(pushed / rest[free]))
        primal = 0.5 * residual2 + 0.5 * ridge + alpha * float(self.factor[self.numbers] @ norms)
        s = min(scale, max(towards / size2, 0.0)) if size2 > 0 else 0.0
        return max(primal - (s * towards - 0.5 * s * s * size2), 0.0) / self.half_norm2

    def _members(self, unit: int) -> IntArray:
        return np.flatnonzero((self.groups == unit) & self.allowed)

    def _rows(self, unit: _Unit) -> FloatArray:
        """Return the rows of a unit; the problem keeps them, as far as memory allows."""
        return unit.rows(self.problem.factors(unit.features))

    def _make(self, numbers: IntArray) -> list[_Unit]:
        """Return units, made of the rows of their features."""
        members = {u: self._members(u) for u in numbers.tolist() if u not in self.known}
        if members:
            self.problem.factors(np.concatenate(list(members.values())))  # at once is faster
        for u, features in members.items():
            self.known[u] = _Unit.of(features, self.problem.factors(features))
        return [self.known[u] for u in numbers.tolist()]

    def _enter(self, numbers: IntArray) -> None:
        """Add units to the working set."""
        units = self._make(numbers)
        rows = np.concatenate([self._rows(unit) for unit in units])
        beside = np.concatenate(
            [np.zeros((0, len(rows))), *(self._rows(unit) @ rows.T for unit in self.units)]
        )
        self.gram = np.block([[self.gram, beside], [beside.T, rows @ rows.T]])
        energies = np.diag(self.gram)[len(self.curvature) :]
        free = np.repeat(self.factor[numbers] == 0, [unit.energies.size for unit in units])
        ridge = np.where(free, np.maximum(1 - energies, _LEAST_RIDGE), 0.0)
        self.curvature = np.append(self.curvature, energies + ridge)
        self.cross = np.concatenate([self.cross, rows @ self.target.T])
        self.weights = np.concatenate([self.weights, np.zeros((len(rows), len(self.target)))])
        self.units += units
        self.numbers = np.append(self.numbers, numbers)
        self.starts = np.append(0, np.cumsum([unit.energies.size for unit in self.units]))
        self.candidates[numbers] = True

    def _places(self, units: IntArray) -> IntArray:
        """Return the places of the rows of some units of the working set."""
        parts = [np.arange(self.starts[i], self.starts[i + 1]) for i in units]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def _prune(self) -> None:
        """Let units that are zero leave the working set, if there are many; they may return."""
        used = self.used
        if len(self.units) <= _MOST_IDLE * used.size + _ENTER:
            return
        stay = np.union1d(used, np.flatnonzero(self.factor[self.numbers] == 0))
        rows = self._places(stay)
        gone = np.setdiff1d(self.numbers, self.numbers[stay])
        self.gram = self.gram[np.ix_(rows, rows)]
        self.curvature, self.cross = self.curvature[rows], self.cross[rows]
        self.weights = self.weights[rows]
        self.units = [self.units[i] for i in stay]
        self.numbers = self.numbers[stay]
        self.starts = np.append(0, np.cumsum([unit.energies.size for unit in self.units]))
        # their correlations were not looked at while the descent kept them below the penalty
        self.seen[gone], self.seen_at[gone] = np.inf, self.moved

    def _add_candidates(self, ratio: FloatArray, number: int) -> None:
        """Make the units with the largest ratios candidates."""
        others = np.flatnonzero((ratio > 0) & ~self.candidates)
        self.candidates[others[np.argsort(-ratio[others], kind="stable")[:number]]] = True

    def _look_at(self, numbers: IntArray) -> None:
        """Find the correlations of some units with the residual."""
        outside = numbers[~np.isin(numbers, self.numbers)]
        for u, unit in zip(outside.tolist(), self._make(outside), strict=True):
            self.seen[u] = np.linalg.norm(self._rows(unit) @ self.residual.T)
        self.seen_at[outside] = self.moved
        inside = np.isin(self.numbers, numbers)
        # the descent holds the conditions of the working set
        self.seen[self.numbers[inside]] = 0.0
        self.seen_at[self.numbers[inside]] = self.moved

    def _look_at_all(self) -> None:
        """Find the correlations of all units with the residual, by one pass."""
        squares = np.square(self.problem.correlations(self.residual))
        squares[~self.allowed] = 0.0
        sums = np.bincount(self.groups, weights=squares, minlength=self.factor.size)
        self.seen, self.seen_at = np.sqrt(sums), np.full(self.factor.size, self.moved)
