"""The problem that pyHSICLasso solves, in dense matrices."""

from __future__ import annotations

import numpy as np

from tests import oracles


def joint_gram(Z):
    """Gaussian kernel of rows of Z, all columns divided by one deviation; width sqrt(q)."""
    Z = np.asarray(Z, dtype=float).reshape(len(Z), -1)
    z = Z / Z.std() / np.sqrt(Z.shape[1])
    return np.exp(-np.square(z[:, None] - z[None]).sum(axis=2) / 2)


def normalised(gram):
    return oracles.measure_matrix(gram, "nhsic")


def feature_matrices(X, discrete=False):
    """A_k of each column; zeros for columns that do not vary."""
    gram = oracles.delta_gram if discrete else oracles.gaussian_gram
    n = len(X)
    return np.array([normalised(gram(x)) if np.ptp(x) else np.zeros((n, n)) for x in X.T])


def check_path(model, A, T, number):
    """Optimality at every bend, and that the path ends where a further feature joins."""
    flat, target = A.reshape(len(A), -1), T.ravel()
    scale = (flat @ target).max()
    for weights, alpha in zip(model.path.T, model.lam, strict=True):
        correlation = flat @ (target - weights @ flat)
        assert (weights >= 0).all()
        np.testing.assert_allclose(correlation[weights > 0], alpha, atol=1e-5 * scale)
        assert correlation.max() <= alpha + 1e-5 * scale
    np.testing.assert_array_equal(model.path[:, -1], model.beta[:, 0])
    assert len(model.A) == number or alpha == 0
    if alpha > 0:
        assert np.sum(correlation >= alpha - 1e-5 * scale) > number


def nearest(A, k, number):
    """The matrices that are most similar to one of them, and the similarities."""
    row = oracles.similarity(A)[k]
    row[k] = -np.inf
    order = np.lexsort((np.arange(len(A)), -row.round(9)))[:number]
    return order.tolist(), row[order]
