"""Kernel logistic and ridge regression in slow, plain NumPy, straight from their formulas.

Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def standardised(X, other):
    """Columns of both tables less the mean and over the deviation of the first."""
    return (X - X.mean(axis=0)) / X.std(axis=0), (other - X.mean(axis=0)) / X.std(axis=0)


def gaussian(A, B, width):
    """exp(-|a - b|^2 / (2 width^2)) for each row a of A and b of B."""
    return np.array([[np.exp(-np.sum((a - b) ** 2) / (2 * width**2)) for b in B] for a in A])


def median_distance(A):
    """Median of the non-zero distances of all pairs of rows."""
    n = len(A)
    pairs = [np.linalg.norm(A[i] - A[j]) for i in range(n) for j in range(i)]
    return np.median([distance for distance in pairs if distance > 0])


def probabilities(F):
    """Softmax of each row."""
    E = np.exp(F - F.max(axis=1)[:, None])
    return E / E.sum(axis=1)[:, None]


def logistic_objective(K, codes, B, b, alpha):
    """-1/n sum_i log p_{y_i}(x_i) + alpha/2 tr(B'KB)."""
    P = probabilities(K @ B + b)
    return -np.mean([np.log(P[i, c]) for i, c in enumerate(codes)]) + alpha / 2 * np.trace(
        B.T @ K @ B
    )


def logistic_gradient(K, codes, B, b, alpha):
    """Coefficients G (n, C) of the gradient sum_i G_i k(x_i, .) in the kernel's space, and of b."""
    n, n_classes = B.shape
    Y = np.eye(n_classes)[codes]
    residual = (probabilities(K @ B + b) - Y) / n
    return residual + alpha * B, residual.sum(axis=0)


def logistic_hessian(Z, P, penalty):
    """Dense Hessian (Cr, Cr) in the weights of features Z (r, n), for probabilities P (C, n)."""
    n_classes, n = P.shape
    r = len(Z)
    H = np.zeros((n_classes * r, n_classes * r))
    for i in range(n):
        block = np.diag(P[:, i]) - np.outer(P[:, i], P[:, i])
        H += np.kron(block, np.outer(Z[:, i], Z[:, i])) / n
    return H + np.kron(np.eye(n_classes), np.diag(penalty))


def logistic_by_minimize(K, codes, alpha, fit_intercept):
    """Values (n, C) of the optimal functions, by a generic optimiser."""
    n, n_classes = len(K), codes.max() + 1

    def split(theta):
        B = theta[: n * n_classes].reshape(n, n_classes)
        return B, theta[n * n_classes :] if fit_intercept else np.zeros(n_classes)

    def both(theta):
        B, b = split(theta)
        G, g = logistic_gradient(K, codes, B, b, alpha)
        gradient = np.append((K @ G).ravel(), g if fit_intercept else [])
        return logistic_objective(K, codes, B, b, alpha), gradient

    size = n * n_classes + (n_classes if fit_intercept else 0)
    found = minimize(
        both, np.zeros(size), jac=True, method="L-BFGS-B",
        options={"maxiter": 100_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10},
    )  # fmt: skip
    B, b = split(found.x)
    return K @ B + b


def ridge(K, y, alpha, fit_intercept):
    """Coefficients and intercept of min |y - K beta - b|^2 / (2n) + alpha/2 beta'K beta."""
    n = len(K)
    if not fit_intercept:
        return np.linalg.solve(K + n * alpha * np.eye(n), y), 0.0
    # stationary in beta: K (K beta + b - y + n alpha beta) = 0; in b: the residuals sum to 0
    bordered = np.zeros((n + 1, n + 1))
    bordered[:n, :n] = K + n * alpha * np.eye(n)
    bordered[:n, n] = bordered[n, :n] = 1.0
    solution = np.linalg.solve(bordered, np.append(y, 0.0))
    return solution[:n], solution[n]
