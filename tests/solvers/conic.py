"""The problem as a cone program, for an independent solver."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def conic_solution(problem, penalty, alpha):
    """Minimise by clarabel: variables (a, t), ``|a_g| <= t_g``, ``a >= 0`` or ``|a| <= s``."""
    keep = np.flatnonzero(np.isfinite(penalty.weights))
    m = keep.size
    labels, codes = np.unique(penalty.groups[keep], return_inverse=True)
    norms = labels.size if penalty.grouped else 0
    extra = m if penalty.signed else norms
    quadratic = np.zeros((m + extra, m + extra))
    quadratic[:m, :m] = problem.gram[np.ix_(keep, keep)]
    cost = np.concatenate([-problem.linear[keep], np.zeros(extra)])
    weights = alpha * penalty.weights[keep]
    rows = []
    cones = []
    if penalty.signed:
        cost[m:] = weights
        rows += [np.hstack([np.eye(m), -np.eye(m)]), np.hstack([-np.eye(m), -np.eye(m)])]
        cones.append(clarabel.NonnegativeConeT(2 * m))
    else:
        cost[:m] += weights
        rows.append(np.hstack([-np.eye(m), np.zeros((m, extra))]))
        cones.append(clarabel.NonnegativeConeT(m))
        for g in range(norms):
            cost[m + g] = alpha * penalty.group_weights[labels[g]]
            members = np.flatnonzero(codes == g)
            cone = np.zeros((1 + members.size, m + extra))
            cone[0, m + g] = -1
            cone[np.arange(members.size) + 1, members] = -1
            rows.append(cone)
            cones.append(clarabel.SecondOrderConeT(1 + members.size))
    constraints = np.vstack(rows)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    # the size of the problem is taken out, so that absolute tolerances mean something
    size = max(float(np.abs(problem.linear).max()), float(np.abs(problem.gram).max()), 1e-300)
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(quadratic) / size),
        cost / size,
        sparse.csc_matrix(constraints),
        np.zeros(len(constraints)),
        cones,
        settings,
    ).solve()
    a = np.zeros(penalty.n_features)
    found = np.array(solution.x)[:m]
    a[keep] = found if penalty.signed else np.maximum(found, 0)
    return a
