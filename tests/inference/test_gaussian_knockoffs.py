"""Gaussian knockoffs: their second moments, and how unlike their originals they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from hsiclasso import InvalidInputError
from hsiclasso.inference import KnockoffModel
from hsiclasso.inference.gaussian_knockoffs import (
    equicorrelated,
    minimum_reconstructability,
    shrunk_correlation,
)
from tests.oracles import knockoff_covariance, reconstructability

METHODS = {"mvr": minimum_reconstructability, "equicorrelated": equicorrelated}


def correlation(d, seed, n_factors=2):
    """A correlation matrix of d columns with common factors."""
    loadings = np.random.default_rng(seed).standard_normal((d, n_factors))
    C = loadings @ loadings.T + 0.5 * np.eye(d)
    return C / np.sqrt(np.outer(np.diag(C), np.diag(C)))


matrices = st.builds(correlation, st.integers(1, 12), st.integers(0, 10**6))


@pytest.mark.parametrize("method", METHODS)
@given(C=matrices, pairs=st.randoms(use_true_random=False))
def test_swapping_a_column_with_its_knockoff_changes_no_covariance(method, C, pairs):
    s = METHODS[method](C)
    G = knockoff_covariance(C, s)
    assert np.linalg.eigvalsh(G).min() > -1e-8
    swapped = np.arange(2 * len(C))
    for j in range(len(C)):
        if pairs.random() < 0.5:
            swapped[[j, j + len(C)]] = swapped[[j + len(C), j]]
    np.testing.assert_allclose(G[np.ix_(swapped, swapped)], G, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
@given(C=matrices)
def test_the_conditional_law_gives_the_joint_covariance(method, C):
    model = KnockoffModel.of(C, method)
    # the knockoff is (I - S C^-1) z plus noise
    A = np.eye(len(C)) - model.coefficients.T
    noise = model.root @ model.root.T
    joint = np.block([[C, C @ A.T], [A @ C, A @ C @ A.T + noise]])
    np.testing.assert_allclose(joint, knockoff_covariance(C, model.s), atol=1e-7)


@given(C=matrices)
def test_mvr_is_optimal(C):
    """No s_j can be moved so that the objective falls: the problem is convex and smooth."""
    s = minimum_reconstructability(C)
    P = np.linalg.inv(2 * C - np.diag(s))
    gradient = np.diag(P @ P) - s**-2.0
    assert np.abs(gradient * s**2).max() < 1e-3


@pytest.mark.parametrize("d", [2, 5, 8])
def test_mvr_reaches_the_optimum_of_a_generic_optimiser(d):
    C = correlation(d, d)
    s = minimum_reconstructability(C)

    def objective(logs):
        tried = np.exp(logs)
        feasible = np.linalg.eigvalsh(2 * C - np.diag(tried)).min() > 1e-9
        return reconstructability(C, tried) if feasible else 1e9

    start = np.log(0.5 * equicorrelated(C))
    found = minimize(objective, start, method="Nelder-Mead", options={"maxiter": 20000,
                     "maxfev": 20000, "xatol": 1e-9, "fatol": 1e-12, "adaptive": True})  # fmt: skip
    assert reconstructability(C, s) <= found.fun * (1 + 1e-6)
    np.testing.assert_allclose(s, np.exp(found.x), atol=1e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_factors", [2, 20])
def test_mvr_is_that_of_knockpy(n_factors):
    mrc = pytest.importorskip("knockpy.mrc")
    C = correlation(40, 0, n_factors)
    theirs = mrc._solve_mvr_ungrouped(C, num_iter=500, converge_tol=1e-12)
    np.testing.assert_allclose(minimum_reconstructability(C), np.diag(theirs), atol=1e-4)


@given(C=matrices)
def test_equicorrelated_s_are_the_largest_possible(C):
    s = equicorrelated(C)
    assert np.ptp(s) == 0
    assert np.linalg.eigvalsh(2 * C - np.diag(s)).min() >= 0
    larger = min(1.0, s[0] * 1.001)
    assert s[0] > 0.999 or np.linalg.eigvalsh(2 * C - larger * np.eye(len(C))).min() < 0


def test_samples_have_the_joint_covariance(rng):
    C = correlation(4, 0)
    Z = rng.multivariate_normal(np.zeros(4), C, size=100_000)
    model = KnockoffModel.of(C)
    other = model.sample(Z, random_state=1)
    found = np.cov(np.hstack([Z, other]).T)
    np.testing.assert_allclose(found, knockoff_covariance(C, model.s), atol=0.02)
    np.testing.assert_array_equal(other, model.sample(Z, random_state=1))
    assert not np.allclose(other, model.sample(Z, random_state=2))


def test_shrinkage_makes_any_correlation_matrix_invertible(rng):
    Z = rng.standard_normal((10, 40))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    C = shrunk_correlation(Z)
    np.testing.assert_allclose(np.diag(C), 1.0)
    assert np.linalg.eigvalsh(C).min() > 0.1
    share = C[0, 1] / (Z[:, 0] @ Z[:, 1] / 10)
    np.testing.assert_allclose(C - np.eye(40), share * (Z.T @ Z / 10 - np.eye(40)), atol=1e-12)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="method='sdp' is unknown: choose 'mvr'"):
        KnockoffModel.of(np.eye(2), "sdp")
    with pytest.raises(InvalidInputError, match=r"shape \(5, 3\), but the knockoffs are of 2"):
        KnockoffModel.of(np.eye(2)).sample(np.zeros((5, 3)))
