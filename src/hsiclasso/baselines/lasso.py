"""The lasso, of one output or several, with as many features as wanted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path, lars_path

from hsiclasso._checks import check_positive, check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.descent import descend, falling
from hsiclasso.baselines.job import VALUE_TARGET, Choice, Job, Traits

__all__ = ["LassoPath"]

#: Spare steps of the exact path for features that leave; a quarter of those wanted is added.
_SPARE_STEPS = 8
#: Largest violation of the optimality conditions of an exact path, relative to the largest penalty.
_OPTIMAL = 1e-7
#: Smaller coefficients of standardised columns and target are rounding errors.
_NO_COEFFICIENT = 1e-12
#: Smaller penalties, relative to the largest, count as 0 on the exact path.
_ZERO = 1e-6
#: Penalties of a path that is not exact fall by this factor, to this share of the largest.
_STEP = 0.9
_LAST = 1e-4
#: Least number of features that join a working set at once, if as many violate a condition.
_JOINING = 10


@dataclass(frozen=True)
class LinearFit:
    """A solution of the lasso."""

    alpha: float  # penalty
    active: IntArray  # (a,), features with a coefficient
    coef: FloatArray  # (q, a), their coefficients, for each of q outputs
    n_iter: int  # steps or sweeps
    converged: bool = True

    @property
    def n_active(self) -> int:
        """Number of features with a coefficient."""
        return self.active.size


@dataclass(kw_only=True, eq=False, repr=False)
class LassoPath(Baseline):
    r"""Feature selection by the lasso: linear dependence only.

    On standardised columns X and a centred target it solves

    .. math:: \min_B \frac{1}{2n}\|Y - XB\|_F^2 + \alpha \sum_j \|B_j\|_2

    with rows :math:`B_j` of one coefficient for each output; with one output it is the lasso
    proper, :math:`\sum_j |b_j|`, and the penalty of the paper is :math:`\lambda = n\alpha`. The
    penalty falls until there are as many features as wanted: the solution is the one just before
    another feature would enter.

    Two classes become -1 and 1; more classes become an output of zeros and ones each. Several real
    outputs are standardised.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. With `alpha`, the most
        features to select; by default any number.
    alpha : float, default=None
        Penalty > 0 at which to stop, on the scale of scikit-learn.
    %(target)s
        A kernel of the target is refused.
    tol : float, default=1e-8
        Tolerance of coordinate descent: duality gap, relative to the squared norm of the outputs.
        Coordinate descent solves for several outputs, and for one output where ties or rounding
        errors defeat the exact path.
    max_iter : int, default=10000
        Most steps of the exact path, and most sweeps of coordinate descent at one penalty.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute coefficient, or norm of the coefficients for several outputs; features without
        any are ranked by their covariance with the target.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients of the standardised columns.
    alpha_ : float
        Penalty of the solution.
    n_iter_ : int
        Steps of the exact path, or most sweeps at a penalty.
    %(fitted)s

    Notes
    -----
    One output is served by the exact path (LARS) of scikit-learn, and what it returns is checked
    against the optimality conditions of all features. Otherwise coordinate descent follows the
    path in steps on working sets.

    References
    ----------
    R. Tibshirani (1996). Regression shrinkage and selection via the lasso. Journal of the Royal
    Statistical Society B 58, 267-288.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = 3 * X[:, 7] - X[:, 3] + 0.1 * X[:, 5] ** 2
    >>> LassoPath(2).fit(X, y).selected_
    array([7, 3])
    """

    alpha: float | None = None
    tol: float = 1e-8
    max_iter: int = 10_000

    _many_blas_threads = True
    traits = Traits("Lasso", "linear", "convex", "primal", "high", VALUE_TARGET, "n d m")

    def _check(self) -> None:
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)

    def _choose(self, job: Job) -> Choice:
        outputs = _outputs(job)
        table = job.standardised()
        size = float(np.sqrt(np.mean(np.sum(outputs**2, axis=1))))
        problem = _Problem(table, outputs / size, self.tol, self.max_iter)
        fits = self._solve(problem, size, job)
        fit = fits[-1]
        coef = np.zeros((outputs.shape[1], job.source.n_features))
        coef[:, fit.active] = fit.coef * size
        scores = np.linalg.norm(coef, axis=0)
        self.coef_ = coef[0] if outputs.shape[1] == 1 else coef
        self.alpha_ = fit.alpha * size
        self.n_iter_ = max(1, fit.n_iter)
        message = f"{fit.n_active} coefficients are not 0 at penalty {self.alpha_:.4g}."
        unsolved = ""
        if not all(one.converged for one in fits):
            unsolved = (
                f"coordinate descent did not converge within max_iter={self.max_iter} sweeps: "
                "raise max_iter or tol."
            )
        fill = self.alpha is None
        return Choice(scores, problem.relevance, message, fill=fill, unsolved=unsolved)

    def _solve(self, problem: _Problem, size: float, job: Job) -> list[LinearFit]:
        """Solve down to as many features as wanted, or to the penalty; the last solution counts."""
        most = self.n_features_to_select if self.alpha is not None else job.n_wanted
        last = 0.0 if self.alpha is None else self.alpha / size
        largest = float(problem.relevance.max())
        if last >= largest:  # also if nothing varies with the target
            nothing = np.zeros(0, dtype=np.int64)
            return [LinearFit(last, nothing, np.zeros((problem.outputs.shape[1], 0)), 0)]
        if problem.outputs.shape[1] == 1:
            exact = problem.exact(most, last)
            if exact is not None:
                return [exact]

        def solve(alpha: float, start: LinearFit | None) -> LinearFit:
            fit = problem.solve(alpha, start)
            job.report("features in use", fit.n_active, job.n_wanted)
            return fit

        return descend(solve, falling(largest, _STEP, last or largest * _LAST), most=most)


@dataclass(frozen=True)
class _Problem:
    """The lasso of standardised columns (n, d) and centred outputs (n, q)."""

    table: FloatArray
    outputs: FloatArray
    tol: float
    max_iter: int

    @cached_property
    def relevance(self) -> FloatArray:
        """Least penalty that keeps each feature out of an empty model."""
        return self._gradient(self.outputs)

    def _gradient(self, residual: FloatArray) -> FloatArray:
        """Return the norms of the gradient of all features."""
        norms: FloatArray = np.linalg.norm(self.table.T @ residual, axis=1) / len(residual)
        return norms

    def exact(self, most: int | None, last: float) -> LinearFit | None:
        """Follow the exact path of one output; None if ties or rounding errors defeat it."""
        n, d = self.table.shape
        y = self.outputs[:, 0]
        features = min(d, n) if most is None else most
        steps = features + features // 4 + _SPARE_STEPS
        while True:
            steps = min(steps, self.max_iter)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                # its tolerances are absolute: for penalties below 1, and for columns of norm 1
                alphas, _, coefs, n_iter = lars_path(
                    self.table / np.sqrt(n), y * np.sqrt(n), max_iter=steps, alpha_min=last,
                    method="lasso", copy_X=False, return_n_iter=True,
                )  # fmt: skip
            coefs /= n
            coefs[np.abs(coefs) < _NO_COEFFICIENT] = 0.0
            found = _first_of_size(alphas, coefs, most)
            cut_short = n_iter >= steps and alphas[-1] > last + _ZERO
            if found is not None or not cut_short or steps == self.max_iter:
                break
            steps *= 2
        if found is None:
            if alphas[-1] > last + _ZERO:
                return None
            found = float(alphas[-1]), coefs[:, -1], n_iter
        return self._checked(*found)

    def _checked(self, alpha: float, coef: FloatArray, n_iter: int) -> LinearFit | None:
        """Return the solution, or None if it is not optimal."""
        n = len(self.outputs)
        active = np.flatnonzero(coef)
        residual = self.outputs[:, 0] - self.table[:, active] @ coef[active]
        slope = self.table.T @ residual / n
        wrong = np.maximum(np.abs(slope) - alpha, 0.0)
        wrong[active] = np.abs(slope[active] - alpha * np.sign(coef[active]))
        if wrong.max() > _OPTIMAL * self.relevance.max():
            return None
        return LinearFit(alpha, active, coef[None, active], n_iter)

    def solve(self, alpha: float, start: LinearFit | None) -> LinearFit:
        """Solve at a penalty by coordinate descent on a working set that grows as needed."""
        q = self.outputs.shape[1]
        fit = start or LinearFit(alpha, np.zeros(0, dtype=np.int64), np.zeros((q, 0)), 0)
        working, coef, sweeps, converged = fit.active, fit.coef, 0, True
        target: Any = self.outputs if q > 1 else self.outputs[:, 0]
        while True:
            if working.size:
                coef, done, converged = self._descend(working, target, alpha, coef)
                sweeps = max(sweeps, done)
            slopes = self._gradient(self.outputs - self.table[:, working] @ coef.T)
            slopes[working] = 0.0
            new = np.flatnonzero(slopes > alpha * (1 + np.sqrt(self.tol)))
            if not new.size or not converged:
                break
            new = new[np.argsort(-slopes[new], kind="stable")][: max(_JOINING, working.size)]
            working = np.append(working, new)
            coef = np.append(coef, np.zeros((q, new.size)), axis=1)
        used = coef.any(axis=0)
        return LinearFit(alpha, working[used], coef[:, used], sweeps, converged)

    def _descend(
        self, working: IntArray, target: Any, alpha: float, coef: FloatArray
    ) -> tuple[FloatArray, int, bool]:
        """Solve on a working set; tell the number of sweeps, and whether they sufficed."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            _, coefs, _, sweeps = enet_path(
                np.asfortranarray(self.table[:, working]), target, l1_ratio=1.0, alphas=[alpha],
                coef_init=np.asfortranarray(coef) if target.ndim > 1 else coef[0],
                tol=self.tol, max_iter=self.max_iter, return_n_iter=True,
            )  # fmt: skip
        coef = coefs[..., 0] if target.ndim > 1 else coefs.T
        return coef, int(sweeps[0]), not caught


def _first_of_size(
    alphas: FloatArray, coefs: FloatArray, most: int | None
) -> tuple[float, FloatArray, int] | None:
    """Find the end of the first segment of a path on which `most` features have coefficients.

    It is the middle of the segment if a feature leaves at its end. Returns the penalty, the
    coefficients and the number of steps, or None if there is none.
    """
    if most is None:
        return None
    for k in range(alphas.size - 1):
        middle = 0.5 * (coefs[:, k] + coefs[:, k + 1])
        if alphas[k + 1] >= alphas[k] or np.count_nonzero(middle) < most:
            continue
        if np.count_nonzero(coefs[:, k + 1]) >= most:
            return float(alphas[k + 1]), coefs[:, k + 1], k + 1
        return float(0.5 * (alphas[k] + alphas[k + 1])), middle, k + 1
    return None


def _outputs(job: Job) -> FloatArray:
    """Return the centred outputs (n, q) that a target stands for."""
    outputs = job.outputs("which is not linear.").values
    columns: list[FloatArray] = []
    for values in outputs:
        if not job.by_class:
            several = len(outputs) > 1
            columns.append(values / values.std() if several and np.ptp(values) else values)
        elif np.unique(values).size == 2:
            columns.append(2 * values - 1)
        else:
            columns += [(values == code).astype(np.float64) for code in np.unique(values)]
    outputs = np.array(columns).T
    outputs = outputs - outputs.mean(axis=0)
    return np.ascontiguousarray(outputs[:, outputs.any(axis=0)])
