r"""A quadratic problem of few features with its penalty, as it is solved on a working set.

.. math:: \min_a \tfrac12 a^\top G a - b^\top a + \lambda\,\Omega(a)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.penalty import UnitPenalty

__all__ = ["SmallProblem", "dual_scale", "finish", "relative_gap", "unbounded_excess"]

#: Newton steps of a finish, beyond one for every feature that it drops.
_FINISH_STEPS = 30
_HALVINGS = 30
#: Curvature below which a direction of the support counts as flat, relatively.
_LEAST_CURVATURE = 1e-14
#: Changes of the objective below this share of the squared norm of the target are rounding.
_ROUNDING = 1e-15


@dataclass(frozen=True)
class SmallProblem:
    """G, b, penalty and its size on m features."""

    #: G, with the ridge part of the penalty at this size, shape (m, m).
    gram: FloatArray
    #: b, shape (m,).
    linear: FloatArray
    #: Squared norm of the target.
    target_norm2: float
    penalty: UnitPenalty
    #: Size of the penalty.
    alpha: float

    def correlation(self, a: FloatArray) -> FloatArray:
        """Correlations with the residual, ``b - G a``."""
        return self.linear - self.gram @ a

    def objective(self, a: FloatArray) -> float:
        """Objective without the constant."""
        quadratic = 0.5 * float(a @ (self.gram @ a)) - float(self.linear @ a)
        return quadratic + self.alpha * self.penalty.value(a)

    def gap(self, a: FloatArray) -> float:
        """Duality gap over these features, relative to half the squared norm of the target."""
        c = self.correlation(a)
        free = self.penalty.free if self.alpha > 0 else np.ones(a.size, dtype=bool)
        return relative_gap(
            self.target_norm2,
            fit=float(self.linear @ a),
            slack=float(c @ a),
            cost=self.alpha * self.penalty.value(a),
            scale=dual_scale(self.penalty, c, self.alpha),
            excess=unbounded_excess(c[free], np.diag(self.gram)[free], self.target_norm2),
        )


def dual_scale(penalty: UnitPenalty, c: FloatArray, alpha: float) -> float:
    """Largest factor by which the residual may be scaled to be feasible for penalised units."""
    if alpha == 0 or not c.size:
        return np.inf
    highest = float(penalty.critical(np.where(penalty.free, 0.0, c)).max())
    return alpha / highest if highest > 0 else np.inf


def unbounded_excess(c: FloatArray, diagonal: FloatArray, target_norm2: float) -> float:
    r"""Bound how much features without penalty can still lower the objective.

    At an optimum the fitted matrix is no longer than the target, and so, with non-negative
    weights and entries of G, no weight exceeds :math:`\|T\| / \sqrt{G_{kk}}`.
    """
    positive = (c > 0) & (diagonal > 0)
    return float(np.sqrt(target_norm2) * np.sum(c[positive] / np.sqrt(diagonal[positive])))


def relative_gap(
    target_norm2: float, *, fit: float, slack: float, cost: float, scale: float, excess: float
) -> float:
    r"""Duality gap relative to half the squared norm of the target.

    With residual :math:`R = T - \sum_k a_k A_k`, the primal is :math:`\tfrac12\|R\|^2` + `cost`
    and :math:`sR` has the dual value :math:`s\langle T, R\rangle - \tfrac12 s^2\|R\|^2`, less
    :math:`s` times `excess` for features that no penalty bounds.

    Parameters
    ----------
    target_norm2 : float
    fit : float
        ``b'a``.
    slack : float
        ``c'a``, correlations with the residual times weights.
    cost : float
        Penalty.
    scale : float
        Largest admissible s.
    excess : float
    """
    residual2 = target_norm2 - fit - slack
    if residual2 <= 0:  # a perfect fit, up to rounding
        residual2 = 0.0
    towards = target_norm2 - fit - excess
    s = min(scale, max(towards / residual2, 0.0)) if residual2 > 0 else min(scale, 1.0)
    gap = 0.5 * residual2 + cost - (s * towards - 0.5 * s * s * residual2)
    return max(gap, 0.0) / (0.5 * target_norm2 or 1.0)


def finish(problem: SmallProblem, a: FloatArray) -> FloatArray:
    """Minimise over the support of `a` by Newton's method; drop features that would change sign.

    On the support the objective is smooth; without groups it is quadratic, and one step per
    dropped feature is exact. Up to rounding, the objective does not grow.
    """
    for _ in range(_FINISH_STEPS + a.size):
        better = _newton_step(problem, a)
        if better is None:
            break
        a = better
    return a


def _newton_step(problem: SmallProblem, a: FloatArray) -> FloatArray | None:
    """Take the longest part of a Newton step that lowers the objective, or none."""
    support = np.flatnonzero(a)
    gradient = _gradient(problem, a, support)
    slope = float(np.linalg.norm(gradient))
    if slope <= _ROUNDING * float(np.linalg.norm(problem.linear[support])):
        return None
    x = a[support]
    step = -np.linalg.lstsq(_hessian(problem, a, support), gradient, rcond=_LEAST_CURVATURE)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        # where each weight would reach zero
        reach = np.where(np.sign(x) * (x + step) <= 0, -x / step, np.inf)
    longest = min(1.0, float(reach.min()))
    before, rounding = problem.objective(a), _ROUNDING * problem.target_norm2
    for halving in range(_HALVINGS):
        trial = a.copy()
        trial[support] = x + longest * 0.5**halving * step
        dropping = halving == 0 and longest < 1
        if dropping:
            trial[support[reach <= longest]] = 0.0
        change = problem.objective(trial) - before
        if change < -rounding or (dropping and change <= rounding):
            return trial
        if change <= rounding:  # the change is lost in rounding: the gradient decides
            fresh = float(np.linalg.norm(_gradient(problem, trial, support)))
            return trial if fresh < 0.5 * slope else None
    return None


def _pull(problem: SmallProblem, a: FloatArray, support: IntArray) -> tuple[FloatArray, FloatArray]:
    """Penalty weight of each feature's unit over the unit's norm, and that norm."""
    unit_of = problem.penalty.unit_of[support]
    norms = problem.penalty.norms(a)[unit_of]
    return problem.alpha * problem.penalty.unit_weights[unit_of] / norms, norms


def _gradient(problem: SmallProblem, a: FloatArray, support: IntArray) -> FloatArray:
    """Gradient of the objective on the support."""
    x = a[support]
    push = problem.alpha * problem.penalty.weights[support] * np.sign(x)
    return np.asarray(push + _pull(problem, a, support)[0] * x - problem.correlation(a)[support])


def _hessian(problem: SmallProblem, a: FloatArray, support: IntArray) -> FloatArray:
    """Hessian of the objective on the support."""
    hessian = problem.gram[np.ix_(support, support)]
    if problem.penalty.unit_weights.any():
        x, (pull, norms) = a[support], _pull(problem, a, support)
        unit_of = problem.penalty.unit_of[support]
        same_unit = unit_of[:, None] == unit_of
        hessian += np.diag(pull) - same_unit * np.outer(x, x) * (pull / norms**2)[:, None]
    return hessian
