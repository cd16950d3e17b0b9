"""Minima of quadratic programs by trying everything, and by an independent solver.

Nothing here imports the package.
"""

from __future__ import annotations

from itertools import product

import clarabel
import numpy as np
from scipy import sparse

from tests import oracles
from tests.baselines import oracle_binned


def dependences(X, y, measure="mi", **cut):
    """D between all columns and d of each column with a real target."""
    if measure == "mi":
        states = oracle_binned.states(y, **cut)
        return oracle_binned.redundancy(X, **cut), oracle_binned.relevance(X, states, **cut)
    every = [*np.asarray(X).T, y]
    if measure == "correlation":
        both = np.abs(np.corrcoef(np.array(every)))
    else:
        matrices = [oracles.measure_matrix(oracles.gaussian_gram(x), measure) for x in every]
        both = np.array([[np.sum(A * B) for B in matrices] for A in matrices])
    return both[:-1, :-1], both[:-1, -1]


def simplex_violation(Q, q, theta):
    """Largest violation of z >= 0, and z = 0 where theta > 0, for z = Q theta - q + mu."""
    gradient = Q @ theta - q
    z = gradient - gradient @ theta
    return max(0.0, -z.min(), np.abs(z[theta > 0]).max())


def simplex_by_enumeration(Q, q):
    """The best of the stationary points of all supports."""
    d = len(q)
    best, lowest = None, np.inf
    for pattern in product((False, True), repeat=d):
        S = np.flatnonzero(pattern)
        if not S.size:
            continue
        # [Q 1; 1' 0] [theta; mu] = [q; 1]
        bordered = np.zeros((S.size + 1, S.size + 1))
        bordered[:-1, :-1] = Q[np.ix_(S, S)]
        bordered[-1, :-1] = bordered[:-1, -1] = 1
        theta = np.zeros(d)
        theta[S] = np.linalg.lstsq(bordered, np.append(q[S], 1), rcond=None)[0][:-1]
        feasible = theta.min() >= -1e-12 and abs(theta.sum() - 1) < 1e-9
        value = oracles.quadratic_objective(Q, q, theta)
        if feasible and value < lowest:
            best, lowest = theta, value
    return best


def lasso_by_enumeration(D, d, alpha):
    """The best of the stationary points of all patterns of signs, at half the penalty alpha."""
    best, lowest = np.zeros(len(d)), 0.0
    for pattern in product((-1, 0, 1), repeat=len(d)):
        signs = np.array(pattern)
        S = np.flatnonzero(signs)
        if not S.size:
            continue
        a = np.zeros(len(d))
        a[S] = np.linalg.solve(D[np.ix_(S, S)], d[S] - 0.5 * alpha * signs[S])
        value = oracles.quadratic_objective(D, d, a, alpha / 2)
        if (np.sign(a) == signs).all() and value < lowest:
            best, lowest = a, value
    return best


def simplex_by_clarabel(Q, q):
    """min 1/2 x'Qx - q'x, sum x = 1, x >= 0."""
    d = len(q)
    return _clarabel(
        Q,
        -q,
        np.vstack([np.ones((1, d)), -np.eye(d)]),
        np.append(1.0, np.zeros(d)),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(d)],
    )


def machine_by_clarabel(D, d, alpha):
    """min 1/2 a'Da, |Da - d| <= alpha / 2: the feature vector machine as it was proposed."""
    return _clarabel(
        D,
        np.zeros(len(d)),
        np.vstack([D, -D]),
        np.append(0.5 * alpha + d, 0.5 * alpha - d),
        [clarabel.NonnegativeConeT(2 * len(d))],
    )


def _clarabel(P, cost, constraints, bounds, cones):
    """Minimise x'Px / 2 + cost'x with bounds - constraints x in the cones."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), cost, sparse.csc_matrix(constraints), bounds, cones, settings
    )
    return np.array(solver.solve().x)


def shifted(D):
    """D with a diagonal that is raised by minus its lowest eigenvalue, if that is negative."""
    return D + max(0.0, -np.linalg.eigvalsh(D)[0]) * np.eye(len(D))


def balance(D, d):
    """Mean redundancy over the sum of mean redundancy and mean relevance."""
    return D.mean() / (D.mean() + d.mean())


def nystrom(D, landmarks):
    """[A B]' times the inverse of the positive part of A times [A B]."""
    values, vectors = np.linalg.eigh(D[np.ix_(landmarks, landmarks)])
    inverse = sum(
        np.outer(v, v) / value
        for value, v in zip(values, vectors.T, strict=True)
        if value > 1e-10 * values.max()
    )
    return D[:, landmarks] @ inverse @ D[landmarks]
