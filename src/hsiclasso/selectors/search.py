"""Where a path ends, and what is done where it ends too early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from hsiclasso._checks import check_count
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.penalties import ResolvedPenalty
from hsiclasso.solvers import (
    Path,
    Penalty,
    QuadraticProblem,
    Ridged,
    Status,
    Stop,
    choose_solver,
    largest_alpha,
    solve_path,
)

__all__ = ["Criterion", "Goal", "Search", "StopOptions"]

Criterion = Literal["aic", "bic"]

_DEFAULT_FEATURES = 10
#: Most features among which an information criterion chooses.
_CRITERION_FEATURES = 50
#: Penalties, as shares of the largest, among which it chooses where there is no exact path.
_CRITERION_GRID = np.geomspace(1.0, 1e-3, 50)
#: Ridge parts that are tried to make up a number of features, relative to the target's norm.
_FILLING_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Goal:
    """Where the path of one table is to end.

    Attributes
    ----------
    n_features, n_groups : int or None
    alpha, alpha_ratio : float or None
    criterion : {"aic", "bic"} or None
    """

    n_features: int | None
    n_groups: int | None
    alpha: float | None
    alpha_ratio: float | None
    criterion: Criterion | None


@dataclass(frozen=True)
class StopOptions:
    """What a user may say about where to stop; whichever comes first as the penalty falls.

    Attributes
    ----------
    n_features : int or None
        Features to select; ten, or all if there are fewer, if nothing else is said.
    n_groups : int or None
        Groups to select.
    alpha, alpha_ratio : float or None
        Penalty, absolute or as a share of the largest.
    criterion : {"aic", "bic"} or None
        Information criterion that chooses along the path.
    """

    n_features: int | None = None
    n_groups: int | None = None
    alpha: float | None = None
    alpha_ratio: float | None = None
    criterion: Criterion | None = None

    def __post_init__(self) -> None:
        check_count("n_features_to_select", self.n_features, least=1)
        check_count("n_groups_to_select", self.n_groups, least=1)
        if self.alpha is not None and not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise InvalidInputError(
                f"alpha={self.alpha!r}, but the penalty must be a finite number >= 0: pass None "
                "to stop at a number of features instead."
            )
        if self.alpha_ratio is not None and not 0 <= self.alpha_ratio <= 1:
            raise InvalidInputError(
                f"alpha_ratio={self.alpha_ratio!r}, but a share of the largest penalty lies "
                "between 0 and 1: 0.1, say."
            )
        if self.alpha is not None and self.alpha_ratio is not None:
            raise InvalidInputError(
                f"alpha={self.alpha!r} and alpha_ratio={self.alpha_ratio!r} both set the penalty: "
                "give one of them."
            )
        if self.criterion not in (None, *get_args(Criterion)):
            raise InvalidInputError(
                f"criterion={self.criterion!r} is unknown: choose None or one of "
                f"{get_args(Criterion)}."
            )
        if self.criterion is not None and (self.alpha, self.alpha_ratio) != (None, None):
            raise InvalidInputError(
                f"criterion={self.criterion!r} chooses the penalty: leave out alpha and "
                "alpha_ratio."
            )

    def resolve(self, n_features: int, resolved: ResolvedPenalty) -> Goal:
        """Check against the table, and fill in the default."""
        penalty, labels = resolved.penalty, resolved.labels
        available = int(np.isfinite(penalty.weights).sum())
        wanted = self.n_features
        if wanted is not None and wanted > n_features:
            raise InvalidInputError(
                f"n_features_to_select={wanted} is greater than n_features={n_features}: "
                f"ask for at most {n_features}."
            )
        if wanted is not None and wanted > available:
            raise InvalidInputError(
                f"n_features_to_select={wanted}, but {n_features - available} of {n_features} "
                f"features are excluded: ask for at most {available}."
            )
        if wanted is not None and wanted < resolved.kept.size:
            raise InvalidInputError(
                f"n_features_to_select={wanted}, but {resolved.kept.size} features are to be kept: "
                f"ask for at least {resolved.kept.size}."
            )
        if self.n_groups is not None:
            _check_groups(self.n_groups, labels)
        others = (self.n_groups, self.alpha, self.alpha_ratio, self.criterion)
        if wanted is None and others == (None,) * 4:
            wanted = min(max(_DEFAULT_FEATURES, resolved.kept.size), available)
        if penalty.signed and self.alpha == 0 and wanted is None:
            raise InvalidInputError(
                "alpha=0 with positive=False has no unique answer: give an alpha > 0."
            )
        return Goal(wanted, self.n_groups, self.alpha, self.alpha_ratio, self.criterion)


def _check_groups(wanted: int, labels: Any) -> None:
    if labels is None:
        raise InvalidInputError(
            f"n_groups_to_select={wanted} needs groups: give groups, or n_features_to_select."
        )
    n_groups = np.unique(labels).size
    if wanted > n_groups:
        raise InvalidInputError(
            f"n_groups_to_select={wanted}, but there are {n_groups} groups: ask for at most "
            f"{n_groups}."
        )


@dataclass(frozen=True)
class Search:
    """Solves a problem until a goal is reached.

    Attributes
    ----------
    problem : QuadraticProblem
        The quadratic, with its ridge part.
    penalty : Penalty
    solver : str
    n_samples : float
        For the information criteria.
    ridge : float
        Ridge part of the problem.
    report : callable or None
        Told the number of features after every step.
    """

    problem: QuadraticProblem
    penalty: Penalty
    solver: str
    n_samples: float
    ridge: float = 0.0
    report: Callable[[int], None] | None = None

    def solver_name(self, goal: Goal) -> str:
        """Solver that serves the goal."""
        return choose_solver(self.solver, self.penalty, by_groups=goal.n_groups is not None)

    def path(self, goal: Goal) -> Path:
        """Follow the path to the goal."""
        if goal.criterion is not None:
            return self._solve(Stop(alpha=self._best_alpha(goal)))
        alpha = goal.alpha or 0.0
        if goal.alpha_ratio is not None:
            alpha = goal.alpha_ratio * largest_alpha(self.problem, self.penalty)
        return self._solve(Stop(goal.n_features, goal.n_groups, alpha))

    def fill(self, path: Path, selected: IntArray, goal: Goal) -> IntArray:
        """Features that make up the number asked for where the path ends before it.

        An elastic net goes on: its ridge part shares weight among similar features, and so lets
        in those that the path had no use for. They come in the order in which it does.
        """
        lacking = (goal.n_features or 0) - selected.size
        filling = path.status is Status.PATH_END and goal.criterion is None
        if lacking <= 0 or not filling or self.penalty.signed:
            return selected[:0]
        found = selected[:0]
        for share in _FILLING_RIDGES:
            ridged = Ridged(self.problem, share * self.problem.target_norm2)
            more = solve_path(
                ridged, self.penalty, Stop(max_features=goal.n_features), solver=self.solver
            )
            entered = more.entered[np.isin(more.entered, more.breakpoints[-1].indices)]
            found = entered[~np.isin(entered, selected)]
            if found.size >= lacking:
                break
        return found[:lacking]

    def _solve(self, stop: Stop, alphas: FloatArray | None = None) -> Path:
        return solve_path(
            self.problem, self.penalty, stop, solver=self.solver, alphas=alphas, report=self.report
        )

    def _best_alpha(self, goal: Goal) -> float:
        """Penalty along the path at which the criterion is least."""
        most = goal.n_features or min(_CRITERION_FEATURES, self.penalty.n_features)
        if self.solver_name(goal) == "homotopy":
            path = self._solve(Stop(max_features=most))
        else:
            alphas = largest_alpha(self.problem, self.penalty) * _CRITERION_GRID
            path = self._solve(Stop(most, goal.n_groups, float(alphas[-1])), alphas)
        values = information_criterion(
            path, self.problem, self.penalty, self.n_samples, goal.criterion or "bic", self.ridge
        )
        return float(path.alphas[int(np.argmin(values))])


def information_criterion(
    path: Path,
    problem: QuadraticProblem,
    penalty: Penalty,
    n_samples: float,
    criterion: Criterion,
    ridge: float = 0.0,
) -> FloatArray:
    r"""Information criterion at every breakpoint of a path.

    .. math:: n \log\frac{\|T - \sum_k a_k A_k\|^2}{\|T\|^2} + c_n\,|\{k : a_k \ne 0\}|

    with :math:`c_n = 2` (AIC) or :math:`\log n` (BIC): the matrices hold n independent samples,
    not n^2. At an optimum :math:`a^\top(b - Ga) = \lambda\Omega(a)`, so that the residual needs
    no entry of G.
    """
    order = np.argsort(penalty.groups, kind="stable")
    everything = penalty.take(order)
    price = np.log(n_samples) if criterion == "bic" else 2.0
    values = []
    for step, point in enumerate(path.breakpoints):
        weights = path.coefficients(step)
        cost = point.alpha * everything.value(weights[order])
        fit = float(problem.linear[point.indices] @ point.weights)
        residual2 = problem.target_norm2 - fit - cost - ridge * float(weights @ weights)
        share = max(residual2 / problem.target_norm2, np.finfo(float).eps)
        values.append(n_samples * np.log(share) + price * point.indices.size)
    return np.array(values)
