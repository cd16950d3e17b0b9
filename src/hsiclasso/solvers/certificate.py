"""Optimality of a solution over all features, refined or not."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.solvers.candidates import Candidates
from hsiclasso.solvers.path import Certificate
from hsiclasso.solvers.problem import QuadraticProblem

__all__ = ["certify"]


def certify(
    problem: QuadraticProblem,
    candidates: Candidates,
    active: list[int],
    weights: FloatArray,
    alpha: float,
) -> Certificate:
    r"""Measure the optimality conditions and the duality gap.

    With residual :math:`R = T - \sum_k a_k A_k` and correlations :math:`c_k = \langle A_k,
    R\rangle`, the primal is :math:`\tfrac12\|R\|^2 + \lambda 1^\top a`, and :math:`sR` is dual
    feasible for every :math:`s \le \lambda / \max_k c_k`, with value
    :math:`s\langle T, R\rangle - \tfrac12 s^2\|R\|^2`. At penalty 0 the scaling is impossible
    and the first-order bound :math:`\sum_k a_k(\max_l c_l - c_k)` is taken instead.

    Parameters
    ----------
    problem : QuadraticProblem
    candidates : Candidates
        What is known of G.
    active : list of int
        Slots of the active features.
    weights : ndarray
        Weights by slot.
    alpha : float
        Penalty.
    """
    joined = [candidates.ever[slot] for slot in active]
    a, b = weights[active], candidates.relevance[joined]
    correlation = b - candidates.gram(active) @ a if active else np.zeros(0)
    rest = candidates.relevance[candidates.n_pulled :]
    bounds = np.append(candidates.bounds(weights), rest.max(initial=-np.inf))
    bounds[joined] = correlation
    highest = float(bounds.max())

    scale = float(candidates.relevance[0]) or 1.0
    violation = max(highest - alpha, float(np.abs(correlation - alpha).max(initial=0.0)), 0.0)

    fit = float(b @ a)
    residual2 = problem.target_norm2 - fit - float(correlation @ a)
    if alpha > 0:
        primal = 0.5 * residual2 + alpha * float(a.sum())
        s = min(1.0, alpha / highest) if highest > 0 else 1.0
        dual = s * (problem.target_norm2 - fit) - 0.5 * s * s * residual2
        gap = primal - dual
    else:
        gap = float(a @ (max(highest, 0.0) - correlation))
    half = 0.5 * problem.target_norm2 or 1.0
    return Certificate(violation / scale, max(gap, 0.0) / half, candidates.n_pulled)
