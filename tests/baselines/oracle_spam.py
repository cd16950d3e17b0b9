"""Smoothers, backfitting and choices of sparse additive models in plain, dense NumPy.

As in Ravikumar et al. (2009). Nothing here imports the package.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse
from sklearn.preprocessing import SplineTransformer

from tests.oracles import backfitting_step


def kernel_smoother(x, bandwidth=None):
    """S = diag(K 1)^-1 K, bandwidth in standard deviations, by default 0.6 n^(-1/5)."""
    h = (0.6 * len(x) ** -0.2 if bandwidth is None else bandwidth) * np.std(x)
    K = np.exp(-((x[:, None] - x[None, :]) ** 2) / (2 * h**2))
    return K / K.sum(axis=1, keepdims=True)


def spline_smoother(x, n_knots=5):
    """Projection on centred cubic splines with knots at quantiles."""
    basis = SplineTransformer(n_knots, degree=3, knots="quantile").fit_transform(x[:, None])
    basis = basis - basis.mean(axis=0)
    return basis @ np.linalg.pinv(basis, rcond=1e-8)


def backfit(smoothers, y, lam, *, n_cycles=5000, tol=1e-14):
    """Cycle over all features until nothing changes; functions of shape (d, n)."""
    target = y - y.mean()
    f = np.zeros((len(smoothers), y.size))
    for _ in range(n_cycles):
        before = f.copy()
        for j, S in enumerate(smoothers):
            f[j] = backfitting_step(S, target - f.sum(axis=0) + f[j], lam)
        if np.abs(f - before).max() <= tol * np.abs(target).max():
            break
    return f


def violation(smoothers, y, f, lam):
    """Largest distance of a function from what the fixed-point equations make of it."""
    target = y - y.mean()
    worst = 0.0
    for j, S in enumerate(smoothers):
        wanted = backfitting_step(S, target - f.sum(axis=0) + f[j], lam)
        worst = max(worst, np.abs(f[j] - wanted).max())
    return worst


def cp(y, f, traces, sigma2):
    """Mallows' Cp with the traces of the smoothers in use."""
    n = y.size
    r = y - y.mean() - f.sum(axis=0)
    return r @ r / n + 2 * sigma2 / n * sum(t for t, g in zip(traces, f, strict=True) if g.any())


def group_lasso(bases, y, lam):
    """Solve the group lasso of orthonormal bases (n, q_j) by a cone program; functions (d, n)."""
    n = y.size
    unit = y.std()  # the solver is most accurate where numbers are about 1
    target, lam = (y - y.mean()) / unit, lam / unit
    Q = np.hstack(bases)
    sizes = [basis.shape[1] for basis in bases]
    q, d = Q.shape[1], len(bases)
    # variables (beta, t): 1/(2n) |target - Q beta|^2 + lam/sqrt(n) sum t, |beta_j| <= t_j
    quadratic = np.zeros((q + d, q + d))
    quadratic[:q, :q] = Q.T @ Q / n
    cost = np.concatenate([-Q.T @ target / n, np.full(d, lam / np.sqrt(n))])
    rows, cones, first = [], [], 0
    for j, size in enumerate(sizes):
        cone = np.zeros((1 + size, q + d))
        cone[0, q + j] = -1
        cone[np.arange(size) + 1, first + np.arange(size)] = -1
        rows.append(cone)
        cones.append(clarabel.SecondOrderConeT(1 + size))
        first += size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    constraints = np.vstack(rows)
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(quadratic)), cost, sparse.csc_matrix(constraints),
        np.zeros(len(constraints)), cones, settings,
    ).solve()  # fmt: skip
    beta = np.split(np.array(solution.x)[:q], np.cumsum(sizes)[:-1])
    return unit * np.array([basis @ b for basis, b in zip(bases, beta, strict=True)])
