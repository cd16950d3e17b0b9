"""The paper's formulas in slow, plain NumPy: the reference of every fast path.

Nothing here imports the package. Matrices are dense and n x n; problems are explicit.
"""

from __future__ import annotations

import numpy as np


def standardise(x):
    """Zero mean and unit standard deviation; the mean is taken twice against cancellation."""
    x = x - x.mean()
    x = x - x.mean()
    return x / np.sqrt(np.mean(x * x))


def gaussian_gram(x, width=1.0):
    """K_ij = exp(-(x_i - x_j)^2 / (2 width^2)) of the standardised column (section 2.3)."""
    z = standardise(np.asarray(x, dtype=float))
    return np.exp(-((z[:, None] - z[None, :]) ** 2) / (2 * width**2))


def delta_gram(y):
    """L_ij = 1/n_y if y_i = y_j = y, else 0 (section 2.3)."""
    y = np.asarray(y)
    same = y[:, None] == y[None, :]
    return same / same.sum(axis=1)


def centre(K):
    """Gamma K Gamma with Gamma = I - 11'/n (section 2.1)."""
    n = len(K)
    gamma = np.eye(n) - np.ones((n, n)) / n
    return gamma @ K @ gamma


def centre_by_means(K):
    """K - 1m' - m1' + s11' with m = K1/n and s = 1'K1/n^2 (section 2.4)."""
    n = len(K)
    m = K @ np.ones(n) / n
    s = np.ones(n) @ K @ np.ones(n) / n**2
    return K - m[None, :] - m[:, None] + s


def hsic(K, L):
    """tr(K L) of centred Gram matrices (section 2.2)."""
    return np.trace(K @ L)


def nocco_matrix(K, epsilon):
    """K (K + epsilon n I)^-1 of a centred Gram matrix (section 2.5)."""
    n = len(K)
    return K @ np.linalg.inv(K + epsilon * n * np.eye(n))


def measure_matrix(gram, measure, epsilon=1e-3):
    """The matrix A whose inner products are the measure: HSIC, normalised HSIC or NOCCO."""
    K = centre(gram)
    if measure == "nocco":
        return nocco_matrix(K, epsilon)
    return K / np.linalg.norm(K) if measure == "nhsic" else K


def objective(A, T, weights, alpha):
    """1/2 ||T - sum_k a_k A_k||_F^2 + alpha ||a||_1 (equation of section 2.1)."""
    residual = T - np.tensordot(weights, A, axes=1)
    return 0.5 * np.sum(residual**2) + alpha * np.sum(np.abs(weights))


def expanded_objective(A, T, weights):
    """The smooth part written with HSICs (section 2.2)."""
    gram = np.array([[hsic(a, b) for b in A] for a in A])
    linear = np.array([hsic(a, T) for a in A])
    return 0.5 * hsic(T, T) - weights @ linear + 0.5 * weights @ gram @ weights


def half_vec(M):
    """Upper triangle as a vector whose inner products are those of the symmetric matrices."""
    rows, cols = np.triu_indices(len(M))
    return M[rows, cols] * np.where(rows == cols, 1.0, np.sqrt(2.0))


def explicit_problem(X, y, measure="hsic", *, classes=False, epsilon=1e-3):
    """The lasso with n^2 rows: design (n(n+1)/2, d) and target vector (section 2.4)."""
    columns = []
    for x in np.asarray(X, dtype=float).T:
        if np.ptp(x) == 0:
            columns.append(np.zeros(len(x) * (len(x) + 1) // 2))
        else:
            columns.append(half_vec(measure_matrix(gaussian_gram(x), measure, epsilon)))
    L = delta_gram(y) if classes else gaussian_gram(y)
    return np.array(columns).T, half_vec(measure_matrix(L, measure, epsilon))


def dense_path(design, target, n_features):
    """Textbook non-negative LARS on the explicit problem, one event at a time.

    Returns the active features, their weights and the penalty at the end of the first segment
    with `n_features` of them (its middle if it ends with a drop). Columns that depend linearly
    on active ones are passed over.
    """
    linear = design.T @ target
    scale = alpha = linear.max()
    active, weights, dependent = [], np.zeros(0), set()
    for _ in range(100 * n_features):
        chosen = design[:, active]
        correlation = linear - design.T @ (chosen @ weights)
        direction = np.linalg.solve(chosen.T @ chosen, np.ones(len(active)))
        lead = 1 - design.T @ (chosen @ direction)
        lead[[*active, *dependent]] = 0
        tied = np.flatnonzero((correlation >= alpha - 1e-10 * scale) & (lead > 1e-7))
        if tied.size:
            trial = design[:, [*active, tied[0]]]
            if np.linalg.cond(trial / np.linalg.norm(trial, axis=0)) > 1e6:
                dependent.add(tied[0])
            else:
                active, weights = [*active, tied[0]], np.append(weights, 0.0)
            continue
        rising = np.flatnonzero(lead > 1e-7)
        join = np.min((alpha - correlation[rising]) / lead[rising], initial=np.inf)
        falling = np.flatnonzero(direction < 0)
        ends = -weights[falling] / direction[falling]
        drop = ends.min(initial=np.inf)
        step = min(join, drop, alpha)
        enough = len(active) >= n_features
        if enough and drop <= join:
            step = 0.5 * drop
        weights, alpha = weights + step * direction, alpha - step
        if enough or alpha <= 1e-12 * scale:
            return np.array(active), weights, alpha
        if drop <= join:
            gone = falling[ends.argmin()]
            active, weights = active[:gone] + active[gone + 1 :], np.delete(weights, gone)
            dependent.clear()
    raise AssertionError("the textbook path did not end")


def median_nonzero_distance(x):
    """Smallest distance that at least half of the non-zero pairwise distances do not exceed."""
    x = np.asarray(x)
    i, j = np.triu_indices(len(x), 1)
    distances = np.sort(np.abs(x[i] - x[j]))
    distances = distances[distances > 0]
    return distances[(len(distances) + 1) // 2 - 1]


def lookup_gram(x, n_entries=4096):
    """The paper's table: kernel values at n_entries differences, nearest entry (section 2.4)."""
    z = standardise(x)
    reach = np.ptp(z)
    table = np.exp(-(np.linspace(0, reach, n_entries) ** 2) / 2)
    difference = np.abs(z[:, None] - z[None, :])
    return table[np.rint(difference / reach * (n_entries - 1)).astype(int)]
