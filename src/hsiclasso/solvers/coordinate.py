"""Coordinate descent on a working set, with a Newton finish."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.solvers.quadratic import SmallProblem, finish

__all__ = ["coordinate_descent"]

#: Visits of each unit between two checks of the gap.
_EPOCHS = 10
_MAX_CHECKS = 2000
#: Checks without progress after which descent ends: only rounding errors are left.
_MAX_IDLE = 20


def coordinate_descent(problem: SmallProblem, start: FloatArray, tol: float) -> FloatArray:
    """Minimise by cyclic descent over features and groups.

    Descent finds the support, Newton's method then minimises over it exactly; the two
    alternate until the gap is small.

    Parameters
    ----------
    problem : SmallProblem
    start : ndarray of shape (m,)
        Where to begin.
    tol : float
        Relative duality gap at which to stop.
    """
    from hsiclasso.solvers._loops import descend

    penalty, a = problem.penalty, start.copy()
    cuts = problem.alpha * penalty.weights
    unit_cuts = problem.alpha * penalty.unit_weights
    curvature = _curvature(problem)
    best, lowest = a, np.inf
    reached, idle = np.inf, 0
    for _ in range(_MAX_CHECKS):
        descend(
            problem.gram, curvature, cuts, penalty.starts, unit_cuts, penalty.signed,
            a, problem.correlation(a), _EPOCHS,
        )  # fmt: skip
        a = finish(problem, a)
        gap, value = problem.gap(a), problem.objective(a)
        # the gap may rise for a while, the objective only falls
        idle = 0 if gap < lowest or value < reached else idle + 1
        reached = min(reached, value)
        if gap < lowest:
            best, lowest = a.copy(), gap
        if lowest <= tol or idle >= _MAX_IDLE:
            break
    return best


def _curvature(problem: SmallProblem) -> FloatArray:
    """Diagonal of G for single features, the largest eigenvalue of a group's part of it."""
    penalty = problem.penalty
    curvature = np.diag(problem.gram)[penalty.starts].copy()
    for u in np.flatnonzero(penalty.sizes > 1):
        members = slice(penalty.starts[u], penalty.starts[u] + penalty.sizes[u])
        curvature[u] = np.linalg.eigvalsh(problem.gram[members, members])[-1]
    return curvature
