"""Optimality of a solution over all features, refined or not."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.path import Certificate
from hsiclasso.solvers.problem import QuadraticProblem
from hsiclasso.solvers.quadratic import dual_scale, relative_gap, unbounded_excess

__all__ = ["certify"]


def certify(
    problem: QuadraticProblem, candidates: Candidates, weights: FloatArray, alpha: float
) -> Certificate:
    r"""Measure the optimality conditions and the duality gap.

    With residual :math:`R = T - \sum_k a_k A_k` and correlations :math:`c_k = \langle A_k,
    R\rangle`, the primal is :math:`\tfrac12\|R\|^2 + \lambda \Omega(a)`, and :math:`sR` is dual
    feasible for every s that brings the correlations of all units down to the penalty. For a
    feature that was not refined, an upper bound on the correlation is enough: see
    `hsiclasso.solvers.candidates`. With a ridge part the same holds with the ridge part in G, and
    correlations :math:`c_k - \lambda r_k a_k`.

    Parameters
    ----------
    problem : QuadraticProblem
    candidates : Candidates
        The entries of G that are known.
    weights : ndarray
        Weights by slot.
    alpha : float
        Penalty.
    """
    candidates.pull_down_to(alpha)  # the others are zero, because of their relevance
    penalty, n_pulled = candidates.penalty, candidates.n_pulled
    used = np.flatnonzero(weights)
    candidates.refine(candidates.joined[used])
    bounds = candidates.bounds(weights, alpha)
    a = np.zeros(n_pulled)
    a[candidates.joined[used]] = weights[used]

    scale = float(candidates.relevance.max(initial=0.0)) or 1.0
    unit_of = penalty.unit_of
    norms = penalty.norms(a)[unit_of]
    on = a != 0
    pull = np.zeros(a.size)
    np.divide(a, norms, out=pull, where=norms > 0)
    push = np.where(on, penalty.weights, 0.0) * np.sign(a) + penalty.unit_weights[unit_of] * pull
    stationary = np.abs(bounds - alpha * push)[on].max(initial=0.0)
    # members at zero of a unit that is not, then units at zero
    rest = penalty.threshold(np.where(on, 0.0, bounds), alpha)
    beside = np.abs(rest)[norms > 0].max(initial=0.0)
    excess = penalty.excess(bounds, alpha)[penalty.norms(a) == 0].max(initial=0.0)

    free = penalty.free if alpha > 0 else np.isfinite(penalty.weights)
    open_ = np.flatnonzero(free & (bounds > 0))
    gap = relative_gap(
        problem.target_norm2,
        fit=float(candidates.relevance[:n_pulled] @ a),
        slack=float(bounds @ a),
        cost=alpha * penalty.value(a),
        # candidates that were not pulled are feasible at any scale up to 1, by their relevance
        scale=min(dual_scale(penalty, bounds, alpha), 1.0),
        excess=_open_excess(problem, candidates.order[open_], bounds[open_]),
    )
    violation = float(max(stationary, beside, excess, 0.0))
    return Certificate(violation / scale, gap, n_pulled)


def _open_excess(problem: QuadraticProblem, features: IntArray, c: FloatArray) -> float:
    if not features.size:  # the usual case: ask for no entry of G
        return 0.0
    return unbounded_excess(c, problem.diagonal(features), problem.target_norm2)
