"""A selection beside the same problem written out with n x n matrices."""

from __future__ import annotations

import numpy as np

from hsiclasso import Auto, Gaussian, HSICLasso
from tests import oracles

MEASURES = ["hsic", "nhsic", "nocco"]
#: The paper's target: real values as they are.
PLAIN = Auto(transform=None)


def selector_of(measure="hsic", size=3, **options):
    """A selector that is accurate enough to be compared with dense matrices."""
    usual = {"gram_error": 1e-10, "n_jobs": 1, "max_redundancy": 1.0, "target": PLAIN}
    return HSICLasso(size, **{"measure": measure, **usual, **options})


def feature_matrices(columns, kernels=None, measure="hsic", weights=None, functions=None):
    """A_k of features, each (n,) or (q, n), with one kernel for all or one for each."""
    kernels = kernels or Gaussian()
    kernels = kernels if isinstance(kernels, list) else [kernels] * len(columns)
    return np.array(
        [
            oracles.feature_matrix(column, kernel, measure, weights, functions)
            for column, kernel in zip(columns, kernels, strict=True)
        ]
    )


def target_matrix(target, measure="hsic", weights=None, functions=None):
    """T of a target: its values if it is real, or its Gram matrix."""
    gram = target if target.ndim == 2 else oracles.kernel_gram(target, Gaussian(), weights)
    return oracles.projected_measure(gram, measure, weights, functions)


def assert_solves(
    selector, columns, target, kernels=None, *, weights=None, functions=None, subtracted=None,
    features=None, tol=1e-7,
):  # fmt: skip
    """The relevance and the weights are those of the dense problem.

    With b = <A_k, T>, G = <A_k, A_l> and the penalty alpha of the solution, the gradient
    b - G a is alpha where a > 0, and at most alpha elsewhere. `columns` and `target` are as in
    `feature_matrices` and `target_matrix`. The covariates are given by `functions` that are
    projected out, or by a Gram matrix that is `subtracted`. `features` are the columns' numbers.
    """
    A = feature_matrices(columns, kernels, selector.measure, weights, functions)
    T = target_matrix(target, selector.measure, weights, functions)
    if subtracted is not None:
        T = oracles.without(T, target_matrix(subtracted, selector.measure))
    features = np.arange(len(A)) if features is None else np.asarray(features)
    flat = np.reshape(A, (len(A), -1))
    linear, gram = flat @ T.ravel(), flat @ flat.T
    allowed = tol * np.linalg.norm(flat, axis=1) * np.linalg.norm(T) + 1e-10 * linear.max()
    relevance, weights = selector.relevance_[features], selector.coef_[features]
    assert (np.abs(relevance - linear) <= allowed).all(), (relevance, linear)
    others = np.setdiff1d(np.arange(selector.n_features_in_), features)
    assert selector.path_.coefficients()[others].tolist() == [0] * others.size
    alpha, scale = selector.path_.alpha, np.abs(linear).max()
    gradient = linear - gram @ weights
    chosen = weights > 0
    assert chosen.any()
    assert (weights >= 0).all()
    assert (gradient <= alpha + 10 * tol * scale).all(), (gradient, alpha)
    np.testing.assert_allclose(gradient[chosen], alpha, rtol=0, atol=10 * tol * scale)


def assert_same(one, other, rtol=1e-6):
    """Two selections of the same features, with the same weights and relevance."""
    assert one.selected_.tolist() == other.selected_.tolist()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol * other.coef_.max())
    size = np.abs(other.relevance_).max()
    np.testing.assert_allclose(one.relevance_, other.relevance_, rtol=rtol, atol=rtol * size)
    np.testing.assert_allclose(one.path_.alpha, other.path_.alpha, rtol=rtol, atol=rtol * size)


def assert_differs(one, other, share=1e-3):
    """Two selections with different weights."""
    assert np.abs(one.coef_ - other.coef_).max() > share * np.abs(one.coef_).max()
