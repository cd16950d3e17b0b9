r"""Dual augmented Lagrangian on a working set (Tomioka, Suzuki and Sugiyama, 2011).

With multipliers a, the dual of the problem is augmented and minimised over :math:`v`,

.. math:: \varphi(v) = \tfrac12\|v - T\|^2 + \tfrac1{2\eta}\big\|
          \mathrm{prox}_{\eta\lambda\Omega}(a + \eta A^\top v)\big\|^2,

by Newton's method. The proximal point then becomes the new a, and :math:`\eta` grows. The
minimiser has the form :math:`v = T - Aq`: everything happens in the space of features, and only G
is needed. The Newton system is as large as the set of features that are not zero.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.solvers.penalty import UnitPenalty
from hsiclasso.solvers.quadratic import SmallProblem, finish

__all__ = ["dual_augmented_lagrangian"]

#: First eta times the penalty, and the largest eta times the mean diagonal of G: beyond it
#: Newton systems lose accuracy.
_FIRST_ETA = 0.01
_LARGEST_ETA = 1e9
_MAX_OUTER = 100
_MAX_NEWTON = 60
_MAX_HALVINGS = 40


def dual_augmented_lagrangian(problem: SmallProblem, start: FloatArray, tol: float) -> FloatArray:
    """Minimise by the dual augmented Lagrangian method.

    The parameters are those of `hsiclasso.solvers.coordinate.coordinate_descent`.
    """
    if not start.size:
        return start
    size = float(np.diag(problem.gram).mean()) or 1.0
    eta = _FIRST_ETA / problem.alpha if problem.alpha > 0 else 1.0 / size
    eta = max(eta, _FIRST_ETA / size)
    a = best = finish(problem, start)
    lowest = problem.gap(best)
    if lowest <= tol:  # the support did not change
        return best
    for _ in range(_MAX_OUTER):
        a, converged = _proximal_point(problem, a, eta)
        # the support is found long before the last digits of the weights
        for candidate in (a, finish(problem, a)):
            gap = problem.gap(candidate)
            if gap < lowest:
                best, lowest = candidate, gap
        if lowest <= tol:
            break
        if converged:
            eta = min(2 * eta, _LARGEST_ETA / size)
    return best


def _proximal_point(problem: SmallProblem, a: FloatArray, eta: float) -> tuple[FloatArray, bool]:
    """Minimise the augmented dual; returns the proximal point and whether that converged."""
    gram, penalty = problem.gram, problem.penalty
    amount = eta * problem.alpha
    q = a.copy()

    def evaluate(q: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        product = gram @ q
        z = a + eta * (problem.linear - product)
        u = penalty.prox(z, amount)
        return 0.5 * float(q @ product) + 0.5 / eta * float(u @ u), z, u

    value, z, u = evaluate(q)
    for _ in range(_MAX_NEWTON):
        r = u - q
        pushed = gram @ r
        slope2 = float(r @ pushed)
        # Tomioka's criterion: the gradient is small compared with the step of the multipliers
        moved = u - a
        if slope2 <= 1e-4 * float(moved @ moved) / eta or slope2 <= 1e-30 * problem.target_norm2:
            return u, True
        p = _newton_direction(problem, penalty, z, amount, eta, r)
        slope = -float(pushed @ p)
        if slope >= 0:
            p, slope = r, -slope2
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            trial = q + length * p
            new, z_new, u_new = evaluate(trial)
            if new <= value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            return u, False
        q, value, z, u = trial, new, z_new, u_new
    return u, False


def _newton_direction(
    problem: SmallProblem, penalty: UnitPenalty, z: FloatArray, amount: float, eta: float,
    r: FloatArray,
) -> FloatArray:  # fmt: skip
    """Solve ``(I + eta J G) p = r`` with J the Jacobian of the proximal map at z."""
    jacobian = _prox_jacobian(penalty, z, amount)
    live = np.flatnonzero((np.abs(jacobian).sum(axis=1) > 0) | (r != 0))
    block = np.ix_(live, live)
    system = np.eye(live.size) + eta * jacobian[block] @ problem.gram[block]
    p = np.zeros_like(r)
    p[live] = np.linalg.solve(system, r[live])
    return p


def _prox_jacobian(penalty: UnitPenalty, z: FloatArray, amount: float) -> FloatArray:
    y = penalty.threshold(z, amount)
    live = y != 0
    if not penalty.unit_weights.any():
        return np.diag(live.astype(float))
    unit_of = penalty.unit_of
    norms = penalty.norms(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(norms > 0, amount * penalty.unit_weights / norms, 1.0)
    kept = live & (shrink < 1)[unit_of]
    y = np.where(kept, y, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        twist = np.where(norms > 0, shrink / norms**2, 0.0)
    same = unit_of[:, None] == unit_of
    twisted = same * np.outer(y, y) * twist[unit_of][:, None]
    return np.asarray(np.diag(kept * (1 - shrink[unit_of])) + twisted)
