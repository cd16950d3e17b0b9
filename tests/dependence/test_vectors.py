"""Several columns as one feature against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.dependence import make_measure
from hsiclasso.dependence.factors import FactorProducts
from hsiclasso.embedding import Delta, Gaussian, Laplace, Linear, Polynomial
from tests.columns import KINDS, make
from tests.dependence.compare import (
    COVARIATES,
    MEASURES,
    VECTOR_KERNELS,
    WEIGHTS,
    assert_redundancy,
    assert_relevance,
    dense_features,
    dense_values,
    find,
    make_features,
    make_samples,
    redundancy,
)

N = 36
#: Columns 1, 4 and 5 are one feature, 2 and 3 another; 0 and 6 are features of their own.
JOINT = {1: ("triple", np.array([1, 4, 5])), 2: ("pair", np.array([2, 3]))}
ALONE = [0, 1, 2, 6]


def table(rng, n=N):
    x = rng.standard_normal((n, 7))
    x[:, 2] = rng.integers(0, 3, n)
    x[:, 3] = np.exp(x[:, 3]) * (rng.random(n) < 0.5)
    x[:, 4] = rng.binomial(2, 0.4, n)
    x[:, 5] = rng.integers(0, 2, n)
    return x, x[:, 1] * x[:, 4] + rng.standard_normal(n)


def parts(X):
    return [X[:, JOINT[j][1] if j in JOINT else [j]].T for j in ALONE]


def check(X, stored, y, kernel, measure, samples, tol=1e-6):
    A = dense_features(parts(X), kernel, measure, samples)
    T = dense_values(y, Gaussian(), measure, samples)
    for made in stored:
        features = make_features(made, kernel, samples, tol=tol, joint=JOINT)
        scan = find(features, y, measure)
        assert_relevance(scan.relevance[ALONE], A, T, tol)
        assert_redundancy(redundancy(features, scan, measure, ALONE), A, tol)
        assert scan.relevance[[3, 4, 5]].tolist() == [0, 0, 0]
        assert scan.varies.all()
        assert scan.error <= tol


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_vectors(kernel, measure, weights, covariates, rng):
    samples, (X, y) = make_samples(rng, N, weights, covariates), table(rng)
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples)
    small = np.round(3 * X).astype(np.int8)
    check(small.astype(float), [small], y, kernel, measure, samples)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_a_vector_with_a_missing_entry_is_missing(kernel, measure, weights, rng):
    samples, (X, y) = make_samples(rng, N, weights, "covariates"), table(rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples)
    features = make_features(X, kernel, samples, joint=JOINT)
    observed = find(features, y, measure).observed
    complete = [np.sum(~np.isnan(part).any(axis=0)) for part in parts(X)]
    assert observed[ALONE].tolist() == complete


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian((0.5, "median")), Delta(), Linear(), Polynomial(3)], ids=str
)
def test_a_tight_tolerance(kernel, measure, rng):
    samples, (X, y) = make_samples(rng, N, "real weights", "covariates"), table(rng)
    check(X, [X], y, kernel, measure, samples, tol=1e-10)


@pytest.mark.parametrize(
    ("measure", "kernel"),
    [
        ("hsic", Polynomial(3, 1000.0)),
        ("nhsic", Polynomial(3, 1000.0)),
        ("nocco", Polynomial(4, 100.0)),
    ],
)
def test_polynomials_whose_trace_is_not_that_of_the_weight(measure, kernel, rng):
    X, samples = rng.standard_normal((60, 3)), make_samples(rng, 60)
    features = make_features(X, kernel, samples, joint={0: ("all", np.arange(3))})
    (factor,) = FactorProducts(features, make_measure(measure), 1).matrices(np.array([0]))
    (A,) = dense_features([X.T], kernel, measure, samples)
    # entries are up to 1e9 times as large as what is left of them: so is their rounding
    assert np.linalg.norm(factor.rows.T @ factor.rows - A) <= 1e-5 * np.linalg.norm(A)


@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=4),
    kernel=st.sampled_from(VECTOR_KERNELS), measure=st.sampled_from(MEASURES),
    weights=st.sampled_from(sorted(WEIGHTS)), n=st.integers(8, 50), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_entries_of_every_kind(kinds, kernel, measure, weights, n, seed):
    rng = np.random.default_rng(seed)
    samples, y = make_samples(rng, n, weights), rng.standard_normal(n)
    X = np.column_stack([make(kind, n, seed + i) for i, kind in enumerate(kinds)])
    features = make_features(X, kernel, samples, joint={0: ("all", np.arange(len(kinds)))})
    A = dense_features([X.T], kernel, measure, samples)
    scan = find(features, y, measure)
    assert_relevance(scan.relevance[:1], A, dense_values(y, Gaussian(), measure, samples), 1e-6)
    assert_redundancy(redundancy(features, scan, measure, [0]), A, 1e-6)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_a_vector_of_one_column_twice_is_that_column(kernel, measure, rng):
    x, y = np.round(rng.standard_normal(N), 1), rng.standard_normal(N)
    samples = make_samples(rng, N, "real weights", "covariates")
    twice = make_features(np.column_stack([x, x]), kernel, samples, joint={0: ("x", np.arange(2))})
    once = make_features(x[:, None], kernel, samples)
    found, expected = find(twice, y, measure), find(once, y, measure)
    assert found.relevance[0] == pytest.approx(expected.relevance[0], rel=1e-4)
    G = redundancy(once, expected, measure)
    np.testing.assert_allclose(redundancy(twice, found, measure, [0]), G, rtol=1e-5)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_constant_vectors_are_told(kernel, rng):
    X = rng.standard_normal((20, 4))
    X[:, 1:3] = [2.0, 5.0]
    features = make_features(X, kernel, joint={1: ("pair", np.array([1, 2]))})
    scan = find(features, rng.standard_normal(20))
    assert scan.varies.tolist() == [True, False, True, True]
    assert scan.relevance[1] == 0
    assert not redundancy(features, scan, rows=[0, 1, 3])[1].any()


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Delta()], ids=str)
def test_a_constant_entry_counts_in_the_mean(kernel, rng):
    X, y = np.round(rng.standard_normal((N, 3)), 1), rng.standard_normal(N)
    X[:, 1] = 4.0
    features = make_features(X, kernel, joint={0: ("pair", np.array([0, 1]))})
    A = dense_features([X[:, :2].T], kernel, "hsic", features.samples)
    T = dense_values(y, Gaussian(), "hsic", features.samples)
    assert_relevance(find(features, y).relevance[:1], A, T, 1e-6)


def hardly_observed(rng):
    """A column that is complete, and one that is missing but for four samples."""
    X = rng.standard_normal((40, 3))
    X[:36, 1] = np.nan
    return X


def observed_where_constant(rng):
    """Columns that vary only where the other is missing."""
    X = rng.standard_normal((40, 3))
    X[20:, 0], X[:20, 1], X[20:, 1] = 1.0, np.nan, 2.0
    return X


@pytest.mark.parametrize("make_table", [hardly_observed, observed_where_constant])
def test_vectors_without_enough_observations_have_no_relevance(make_table, rng):
    X = make_table(rng)
    features = make_features(X, joint={0: ("pair", np.array([0, 1]))}, least_observed=5)
    scan = find(features, rng.standard_normal(40))
    assert not redundancy(features, scan, rows=[0]).any()
    assert scan.relevance[0] == 0
    assert not scan.varies[0]


def test_threads_change_nothing(rng):
    X, y = table(rng)
    features = make_features(X, joint=JOINT)
    one, two = find(features, y), find(features, y, n_threads=2)
    np.testing.assert_array_equal(one.relevance, two.relevance)


def test_names_and_columns(rng):
    features = make_features(table(rng)[0], joint=JOINT)
    assert [features.name(j) for j in ALONE] == ["x0", "triple", "pair", "x6"]
    assert features.columns_of(1).tolist() == [1, 4, 5]
    assert features.columns_of(6).tolist() == [6]
    assert sorted(features.absorbed) == [3, 4, 5]


def test_kernels_of_single_columns_among_vectors(rng):
    """Laplace columns beside a Gaussian vector."""
    X, y = rng.standard_normal((N, 5)), rng.standard_normal(N)
    kernels = (Gaussian(), Laplace())  # columns 0, 2 and 4 are Gaussian
    features = make_features(X, kernels, joint={2: ("pair", np.array([2, 4]))})
    vectors = [X[:, :1].T, X[:, 1:2].T, X[:, [2, 4]].T, X[:, 3:4].T]
    A = dense_features(vectors, kernels, "nhsic", features.samples)
    scan = find(features, y, "nhsic")
    T = dense_values(y, Gaussian(), "nhsic", features.samples)
    assert_relevance(scan.relevance[:4], A, T, 1e-6)
    assert_redundancy(redundancy(features, scan, "nhsic", range(4)), A, 1e-6)
