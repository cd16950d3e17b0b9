"""Hilbert-Schmidt feature selection: HSIC of linear combinations, with few columns in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hsiclasso._checks import as_generator, check_positive, check_random_state, check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.job import ANY_TARGET, Choice, Job, Traits
from hsiclasso.baselines.joint import check_samples, target_matrix
from hsiclasso.baselines.projection import ProjectedHSIC, Solution, maximise
from hsiclasso.dependence import Threads
from hsiclasso.errors import InvalidInputError

__all__ = ["HSFS"]

_MOST_SAMPLES = 5000
#: Most pairs of samples times components: a value with its gradient then takes about 0.1 s.
_MOST_PAIRS = 2.5e8
#: Most entries of W.
_MOST_WEIGHTS = 100_000
#: Components by default.
_COMPONENTS = 3
#: The first penalty, relative to the one at which the start would lose all columns at once.
_FIRST = 0.1
#: Penalties rise by this factor.
_STEP = 2.0
#: How often the first penalty may be lowered to have as many features as wanted.
_LOWERED = 10
#: How often the interval of penalties with the number of features wanted is halved.
_HALVINGS = 8
#: Violations up to this multiple of the tolerance are no reason for a warning.
_TOO_FAR = 10


@dataclass(kw_only=True, eq=False, repr=False)
class HSFS(Baseline):
    r"""Hilbert-Schmidt feature selection.

    Looks for linear combinations :math:`z = Wx` of the standardised columns on which the target
    depends, and penalises each column by its largest weight:

    .. math:: \min_{W \in \mathbb{R}^{q \times d}} -\mathrm{HSIC}(WX, y)
              + \lambda \sum_j \max_i |W_{ij}|, \qquad
              \mathrm{HSIC} = \frac{1}{(n-1)^2}\operatorname{tr}(K\Gamma L\Gamma)

    with :math:`K_{il} = e^{-\|z_i - z_l\|^2 / (2\sigma^2)}` and the Gram matrix L of the target.
    The problem is not convex: the best of several restarts is kept, and W = 0 is always a local
    minimum.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. With `alpha`, the most
        features to select; by default any number.
    n_components : int, "auto" or "full", default="auto"
        Rows q of W. ``"full"`` is one for each feature, the problem as it was proposed, whose
        cost grows with the square of their number. ``"auto"`` is 3, or as many as features are
        selected if that is less.
    alpha : float, default=None
        Penalty :math:`\lambda > 0`. By default it is chosen such that as few features as
        possible have weights, but not fewer than are to be selected.
    width : float, default=1.0
        :math:`\sigma`. It is only a unit: with twice the width, W is twice as large at half the
        penalty, and the same features are selected.
    n_restarts : int, default=5
        Number of random starts.
    max_iter : int, default=200
        Most iterations of L-BFGS for one start at one penalty.
    tol : float, default=1e-6
        Violation of the conditions of a stationary point, relative to the penalty, at which
        iterations end.
    %(target)s
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness of the starts.
    n_jobs : int, default=-1
        Number of threads, which share the restarts; -1 for all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute weight of each column, :math:`\max_i |W_{ij}|`; columns without weight
        are ranked by :math:`\sum_i |\partial \mathrm{HSIC} / \partial W_{ij}|`.
    components_ : ndarray of shape (q, n_features)
        W, for standardised columns. The kernel does not know the sign of a row; the largest
        entry of each is positive.
    alpha_ : float
        Penalty of the solution.
    objective_ : float
        Value of the problem at the solution; at W = 0 it is 0.
    objectives_ : ndarray of shape (n_restarts,)
        Values that the restarts reached.
    stationarity_ : float
        Violation of the conditions of a stationary point, relative to the penalty.
    n_iter_ : int
        Iterations of L-BFGS in all.
    %(fitted)s

    Notes
    -----
    :math:`W_{ij} = t_j u_{ij}` with :math:`t_j \ge 0`, :math:`|u_{ij}| \le 1` and the penalty
    :math:`\lambda\sum_j t_j` is the same problem without its corners, which L-BFGS-B solves. A
    column with :math:`t_j = 0` may be held there by an unfit :math:`u_j`: those with
    :math:`\sum_i |\partial \mathrm{HSIC} / \partial W_{ij}| > \lambda` are released until there
    are none. From a random W most penalties lead straight to 0. Therefore every restart begins at
    a small penalty and raises it.

    A column is penalised by its largest weight alone: further components that repeat the first
    one cost nothing and widen the projection. In practice solutions often have rank 1, and the
    number of components matters little. Relations that are even in a feature, such as
    :math:`y = x^2`, are easily missed if there are monotone ones.

    References
    ----------
    Masaeli, Fung and Dy (2010). From transformation-based dimensionality reduction to feature
    selection. International Conference on Machine Learning.

    Examples
    --------
    >>> from hsiclasso.baselines import HSFS
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = np.tanh(X[:, 7] - X[:, 3])
    >>> sorted(HSFS(2, random_state=0).fit(X, y).selected_.tolist())
    [3, 7]
    """

    n_components: int | Literal["auto", "full"] = "auto"
    alpha: float | None = None
    width: float = 1.0
    n_restarts: int = 5
    max_iter: int = 200
    tol: float = 1e-6
    random_state: Any = None
    n_jobs: int | None = -1

    traits = Traits(
        "HSFS", "non-linear", "non-convex", "none", "low", ANY_TARGET, "n^2 q + n d q per step"
    )

    def _check(self) -> None:
        if not isinstance(self.n_components, str):
            check_whole("n_components", self.n_components)
        elif self.n_components not in ("auto", "full"):
            raise InvalidInputError(
                f"n_components={self.n_components!r} is unknown: pass a number, 'auto' or 'full'."
            )
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        check_positive("width", self.width)
        check_positive("tol", self.tol)
        check_whole("n_restarts", self.n_restarts)
        check_whole("max_iter", self.max_iter)
        check_random_state(self.random_state)

    def _choose(self, job: Job) -> Choice:
        check_samples(job, _MOST_SAMPLES)
        features = np.flatnonzero(job.varies)
        q = self._n_components(job, features.size)
        coupling = target_matrix(job.target.data, job.source.n_samples)
        columns = np.ascontiguousarray(job.standardised().T[features])
        hsic = ProjectedHSIC(columns, coupling, float(self.width))
        rng = as_generator(self.random_state)
        # two projected samples are expected to be one width apart
        scale = self.width / np.sqrt(2 * q * max(1, features.size))
        starts = [scale * rng.standard_normal((q, features.size)) for _ in range(self.n_restarts)]
        search = _Search(hsic, self.max_iter, self.tol, job)
        if not features.size:
            found = [Solution(start, start, self.alpha or 0.0, 0.0, 0) for start in starts]
        elif self.alpha is None:
            found = search.to_count(starts, min(job.n_wanted, features.size))
        else:
            found = search.to_penalty(starts, float(self.alpha))
        best = _best(found)
        self.objectives_ = np.array([solution.objective for solution in found])
        self.n_iter_ = max(1, search.n_iter)
        self._keep(best, features, job.source.n_features)
        return self._choice(best, features, job)

    def _n_components(self, job: Job, n_varying: int) -> int:
        """Return the number of components, if the problem is not too large."""
        n, d = job.source.n_samples, job.source.n_features
        named: dict[Any, int] = {"auto": min(_COMPONENTS, job.n_wanted), "full": d}
        q = int(named.get(self.n_components, self.n_components))
        if q > d:
            raise InvalidInputError(
                f"n_components={q} is greater than n_features={d}: take at most {d}, or 'full'."
            )
        most = int(min(_MOST_PAIRS / n**2, _MOST_WEIGHTS / d))
        if q > most:
            rule = f"HSFS with n_samples={n}, n_features={d} and {q} components would take too long"
            if most:
                raise InvalidInputError(f"{rule}: pass n_components={most} or less.")
            raise InvalidInputError(f"{rule}: use HSICLasso or GreedyHSIC, or leave columns out.")
        return max(1, min(q, n_varying))

    def _keep(self, best: Solution, features: IntArray, d: int) -> None:
        """Set the fitted attributes."""
        weights = np.zeros((len(best.weights), d))
        weights[:, features] = best.weights
        # each row gets the sign with which its largest entry is positive
        places = np.abs(weights).argmax(axis=1, keepdims=True)
        largest = np.take_along_axis(weights, places, axis=1)
        self.components_ = np.where(largest < 0, -weights, weights)
        self.alpha_ = best.alpha
        self.objective_ = best.objective
        self.stationarity_ = best.stationarity if features.size else 0.0

    def _choice(self, best: Solution, features: IntArray, job: Job) -> Choice:
        scores, ties = np.zeros(job.source.n_features), np.zeros(job.source.n_features)
        scores[features] = best.sizes
        ties[features] = np.abs(best.gradient).sum(axis=0)
        unsolved = ""
        if self.stationarity_ > _TOO_FAR * self.tol:
            unsolved = (
                f"L-BFGS did not converge within max_iter={self.max_iter} iterations: the "
                f"conditions of a stationary point are violated by {self.stationarity_:.1e} of the "
                "penalty. Raise max_iter or tol."
            )
        message = (
            f"{best.n_active} features have weight at penalty {best.alpha:.4g}, the best of "
            f"{self.n_restarts} restarts."
        )
        fill = self.alpha is None
        return Choice(scores, ties, message, fill=fill, unsolved=unsolved)


@dataclass
class _Search:
    """Follows stationary points from several starts."""

    hsic: ProjectedHSIC
    max_iter: int
    tol: float
    job: Job
    n_iter: int = 0
    n_solved: int = 0

    def to_penalty(self, starts: Sequence[FloatArray], alpha: float) -> list[Solution]:
        """Follow each start up to a penalty."""
        return self._each(starts, lambda start: self._rise(start, alpha), len(starts))

    def to_count(self, starts: Sequence[FloatArray], n_wanted: int) -> list[Solution]:
        """Follow the starts to a large penalty at which the best has as many columns as wanted."""
        alpha = min(self._first_penalty(start) for start in starts)
        low = self._all_at(starts, alpha)
        for _ in range(_LOWERED):
            if _best(low).n_active >= n_wanted:
                break
            alpha /= _STEP
            # nothing leads away from W = 0
            pairs = zip(_weights(low), starts, strict=True)
            low = self._all_at([found if found.any() else start for found, start in pairs], alpha)
        if _best(low).n_active < n_wanted:
            return low
        while _best(high := self._all_at(_weights(low), alpha * _STEP)).n_active >= n_wanted:
            low, alpha = high, alpha * _STEP
        high_alpha = alpha * _STEP
        for _ in range(_HALVINGS):
            if _best(low).n_active == n_wanted:
                break
            middle = float(np.sqrt(alpha * high_alpha))
            found = self._all_at(_weights(low), middle)
            if _best(found).n_active >= n_wanted:
                low, alpha = found, middle
            else:
                high_alpha = middle
        return low

    def _all_at(self, starts: Sequence[FloatArray], alpha: float) -> list[Solution]:
        return self._each(starts, lambda start: self._maximise(start, alpha))

    def _maximise(self, start: FloatArray, alpha: float) -> Solution:
        return maximise(self.hsic, start, alpha, max_iter=self.max_iter, tol=self.tol)

    def _each(
        self, starts: Sequence[FloatArray], solve: Callable[[FloatArray], Solution], total: int = 0
    ) -> list[Solution]:
        """Solve from each start on threads; `total` is the number of solutions in all, if known."""
        solutions = []
        for solution in Threads(self.job.n_threads).map(solve, starts):
            solutions.append(solution)
            self.n_iter += solution.n_iter
            self.n_solved += 1
            self.job.report("restarts", self.n_solved, total)
        return solutions

    def _first_penalty(self, start: FloatArray) -> float:
        """Return a penalty so small that most columns keep their weights."""
        _, gradient = self.hsic(start)
        return max(_FIRST * float(np.abs(gradient).sum(axis=0).max()), np.finfo(float).tiny)

    def _rise(self, weights: FloatArray, alpha: float) -> Solution:
        """Follow a start from a small penalty to a given one."""
        first = min(alpha, self._first_penalty(weights))
        n_steps = int(np.ceil(np.log(alpha / first) / np.log(_STEP)))
        solution = self._maximise(weights, first)
        n_iter = solution.n_iter
        for penalty in np.geomspace(first, alpha, n_steps + 1)[1:]:
            solution = self._maximise(solution.weights, float(penalty))
            n_iter += solution.n_iter
        return replace(solution, n_iter=n_iter)


def _best(solutions: Sequence[Solution]) -> Solution:
    return min(solutions, key=lambda solution: solution.objective)


def _weights(solutions: Sequence[Solution]) -> list[FloatArray]:
    return [solution.weights for solution in solutions]
