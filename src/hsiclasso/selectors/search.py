"""Following a path to its goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from hsiclasso._checks import is_number
from hsiclasso._options import Option
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Problem
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.penalties import ResolvedPenalty
from hsiclasso.solvers import (
    Penalty,
    QuadraticProblem,
    SolutionPath,
    Stop,
    largest_alpha,
    solve_path,
)

__all__ = [
    "AlphaRatio",
    "Criterion",
    "Goal",
    "Search",
    "Solved",
    "by_weight",
    "check_alpha",
    "resolve_goal",
]

Criterion = Literal["aic", "bic"]

_DEFAULT_FEATURES = 10
#: Most features among which an information criterion chooses.
_CRITERION_FEATURES = 50
#: Penalties among which it chooses if there is no exact path, as shares of the largest one.
_CRITERION_GRID = np.geomspace(1.0, 1e-3, 50)


@dataclass(frozen=True)
class Goal:
    """Where the path of one table is to end."""

    n_features: int | None
    n_groups: int | None
    alpha: float | None
    alpha_ratio: float | None
    criterion: Criterion | None


class AlphaRatio(Option):
    """A penalty as a share of the largest one, at which the first feature enters.

    Parameters
    ----------
    ratio : float, default=0.1
        Share between 0 and 1.
    """

    def __init__(self, ratio: float = 0.1) -> None:
        self.ratio = ratio

    def check(self) -> Self:
        """Raise unless the ratio lies between 0 and 1."""
        if not is_number(self.ratio) or not 0 <= self.ratio <= 1:
            raise InvalidInputError(
                f"ratio={self.ratio!r}, but a share of the largest penalty lies between 0 and 1, "
                "such as 0.1."
            )
        return self


def check_alpha(alpha: Any) -> None:
    """Raise unless a value is a penalty, a share of the largest one, a criterion or None."""
    if isinstance(alpha, AlphaRatio):
        alpha.check()
        return
    if alpha is None or (isinstance(alpha, str) and alpha in get_args(Criterion)):
        return
    if not (is_number(alpha) and alpha >= 0):
        raise InvalidInputError(
            f"alpha={alpha!r}, but the penalty must be a finite number >= 0, 'aic', 'bic' or an "
            "object such as AlphaRatio(0.1): pass None to stop at a number of features instead."
        )


def resolve_goal(
    n_features: int | None, alpha: Any, resolved: ResolvedPenalty, n_columns: int
) -> Goal:
    """Check where to stop against the table, and fill in the default.

    Of several stops, the first that the falling penalty reaches ends the path.
    """
    penalty, kept = resolved.penalty, resolved.kept.size
    available = int(np.isfinite(penalty.weights).sum())
    total = penalty.weights.size
    if n_features is not None and n_features > total:
        what = "n_features" if total == n_columns else "the number of features"
        raise InvalidInputError(
            f"n_features_to_select={n_features} is greater than {what}={total}: "
            f"ask for at most {total}."
        )
    if n_features is not None and n_features > available:
        raise InvalidInputError(
            f"n_features_to_select={n_features}, but {total - available} of {total} "
            f"features are excluded: ask for at most {available}."
        )
    if n_features is not None and n_features < kept:
        raise InvalidInputError(
            f"n_features_to_select={n_features}, but {kept} features are to be kept: "
            f"ask for at least {kept}."
        )
    if n_features is None and alpha is None and resolved.n_groups is None:
        n_features = min(max(_DEFAULT_FEATURES, kept), available)
    ratio = alpha.ratio if isinstance(alpha, AlphaRatio) else None
    criterion: Any = alpha if isinstance(alpha, str) else None
    fixed = None if ratio is not None or criterion is not None else alpha
    if penalty.signed and 0 in (fixed, ratio) and n_features is None:
        raise InvalidInputError(
            "alpha=0 with positive=False has no unique answer: give an alpha > 0."
        )
    return Goal(n_features, resolved.n_groups, fixed, ratio, criterion)


@dataclass(frozen=True)
class Solved:
    """The path of a selection, and the features that are selected."""

    #: Solution path, in feature numbers.
    path: SolutionPath
    #: Features, most important first.
    selected: IntArray
    #: Weights of the selected features, zero elsewhere, shape (d,).
    coefficients: FloatArray
    #: Selected features that only make up the number asked for.
    filled: IntArray
    #: Number of features of the path that were dropped because others are more important.
    n_dropped: int = 0
    #: The functions of the features; None unless the measure is an embedding.
    functions: FeatureFunctions | None = None


@dataclass(frozen=True)
class Search:
    """Solves a problem until a goal is reached."""

    problem: Problem
    penalty: Penalty
    #: Name of the solver, never ``"auto"``.
    solver: str
    #: Largest similarity of two features of the path; 1 leaves nothing out.
    cap: float
    #: Number of samples in the information criteria.
    n_samples: float
    #: Called with the number of features after every step.
    report: Callable[[int], None] | None = None
    #: Tells which features a solution may not have: the path is then solved without them.
    refused: Callable[[SolutionPath], IntArray] | None = None

    def path(self, goal: Goal) -> SolutionPath:
        """Follow the path to the goal."""
        path = self._to(goal)
        if self.refused is None or not (refused := self.refused(path)).size:
            return path
        return replace(self, penalty=self.penalty.without(refused)).path(goal)

    def _to(self, goal: Goal) -> SolutionPath:
        if goal.criterion is not None:
            return self._solve(Stop(alpha=self._best_alpha(goal)), report=self.report)
        alpha = goal.alpha or 0.0
        if goal.alpha_ratio is not None:
            alpha = goal.alpha_ratio * largest_alpha(self.problem, self.penalty)
        stop = Stop(goal.n_features, goal.n_groups, alpha)
        return self._solve(stop, report=self.report)

    def _solve(self, stop: Stop, **options: Any) -> SolutionPath:
        """Solve, and again if the path came to need a relevance that was only bounded.

        Of a feature that never became a candidate, an upper bound on the relevance is all that
        the path and its certificate need.
        """
        options |= {"solver": self.solver, "at_once": self.problem.rows_at_once, "cap": self.cap}
        while True:
            path = solve_path(self.problem, self.penalty, stop, **options)
            if not self.problem.sharpen(path.candidates):
                return path

    def _best_alpha(self, goal: Goal) -> float:
        """Penalty along the path at which the criterion is least."""
        most = goal.n_features or min(_CRITERION_FEATURES, self.penalty.n_features)
        if self.solver == "homotopy":
            path = self._solve(Stop(max_features=most), report=self.report)
        else:
            alphas = largest_alpha(self.problem, self.penalty) * _CRITERION_GRID
            stop = Stop(most, goal.n_groups, float(alphas[-1]))
            path = self._solve(stop, alphas=alphas, report=self.report)
        values = information_criterion(
            path, self.problem, self.penalty, self.n_samples, goal.criterion or "bic"
        )
        return float(path.alphas[int(np.argmin(values))])


def by_weight(path: SolutionPath, kept: IntArray, wanted: int | None) -> IntArray:
    """Features that are not zero and those kept, heaviest first.

    Where features tie, no more than wanted, and those that are kept rather than others.
    """
    last = path.breakpoints[-1]
    features = np.union1d(last.indices, kept)
    sizes = np.abs(path.coefficients()[features])
    if wanted is not None and features.size > wanted:
        first = np.lexsort((features, -sizes, ~np.isin(features, kept)))[:wanted]
        features, sizes = features[first], sizes[first]
    return features[np.lexsort((features, -sizes))]


def information_criterion(
    path: SolutionPath,
    problem: QuadraticProblem,
    penalty: Penalty,
    n_samples: float,
    criterion: Criterion,
) -> FloatArray:
    r"""Information criterion at every breakpoint of a path.

    .. math:: n \log\frac{\|T - \sum_k a_k A_k\|^2}{\|T\|^2} + c_n\,|\{k : a_k \ne 0\}|

    with :math:`c_n = 2` (AIC) or :math:`\log n` (BIC): the matrices hold n independent samples,
    not n^2. At an optimum :math:`a^\top(b - Ga) = \lambda\Omega(a)`, ridge part included:
    the residual needs no entry of G.
    """
    order = np.argsort(penalty.groups, kind="stable")
    everything = penalty.take(order)
    price = np.log(n_samples) if criterion == "bic" else 2.0
    values = []
    for step, point in enumerate(path.breakpoints):
        weights = path.coefficients(step)
        cost = point.alpha * everything.value(weights[order])
        fit = float(problem.linear[point.indices] @ point.weights)
        ridge = point.alpha * float(everything.ridges @ np.square(weights[order]))
        residual2 = problem.target_norm2 - fit - cost - ridge
        share = max(residual2 / problem.target_norm2, np.finfo(float).eps)
        values.append(n_samples * np.log(share) + price * point.indices.size)
    return np.array(values)
