"""Relevance and redundancy of every kind of table against dense matrices.

Every kernel, measure, weighting and storage, with and without covariates and missing values.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.embedding import Delta, Gaussian, Laplace, Linear, Polynomial
from tests.columns import KINDS, make
from tests.dependence.compare import (
    COVARIATES,
    KERNELS,
    MEASURES,
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


def whole_numbers(rng, n):
    """Columns of small integers: few levels, many, more than are counted, and of both signs."""
    return np.column_stack(
        [
            np.r_[[0, 1, 2], rng.binomial(2, 0.3, n - 3)],
            np.r_[[0, 1], rng.random(n - 2) < 0.3],
            rng.poisson(0.6, n) * rng.integers(1, 5, n),
            np.r_[[-128, 127], rng.integers(-50, 100, n - 2)],
            rng.integers(-9, -4, n),
        ]
    )


def real_numbers(rng, n):
    """Columns of real numbers, one of them mostly zero."""
    return np.column_stack(
        [
            rng.standard_normal(n),
            np.exp(2 * rng.standard_normal(n)),
            rng.standard_normal(n) * (rng.random(n) < 0.3),
            make("one outlier", n, 3),
        ]
    )


def punched(rng, X, share=0.2):
    """The table with values missing; its first column stays whole."""
    holes = rng.random(X.shape) < share
    holes[:, 0] = False
    return np.where(holes, np.nan, X)


def check(X, stored, y, kernel, measure, samples, tol=1e-6):
    """Compare one table, stored in one or several ways, with dense matrices."""
    A = dense_features(X.T, kernel, measure, samples)
    T = dense_values(y, Gaussian(), measure, samples)
    for table in stored:
        features = make_features(table, kernel, samples, tol=tol)
        scan = find(features, y, measure)
        assert_relevance(scan.relevance, A, T, tol)
        assert_redundancy(redundancy(features, scan, measure), A, tol)
        assert scan.error <= tol
        np.testing.assert_array_equal(scan.observed, np.sum(~np.isnan(X), axis=0))
        np.testing.assert_allclose(scan.target_norm2, np.sum(T * T), rtol=tol)


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_kind_of_table(kernel, measure, weights, covariates, rng):
    samples = make_samples(rng, N, weights, covariates)
    small, X = whole_numbers(rng, N), real_numbers(rng, N)
    y = X[:, 0] + rng.standard_normal(N)
    check(small, [small.astype(np.int8)], y, kernel, measure, samples)
    X = np.hstack([X, small])
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples)
    X = punched(rng, X)
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(), Gaussian((0.5, 2.0)), Laplace(), Delta(), Linear(), Polynomial(3)],
    ids=str,
)
def test_a_tight_tolerance(kernel, measure, rng):
    samples = make_samples(rng, N, "real weights", "covariates")
    X, y = np.hstack([real_numbers(rng, N), whole_numbers(rng, N)]), rng.standard_normal(N)
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples, tol=1e-10)
    small = whole_numbers(rng, N)
    check(small, [small.astype(np.int8)], y, kernel, measure, samples, tol=1e-10)
    X = punched(rng, X)
    check(X, [X, sparse.csc_array(X)], y, kernel, measure, samples, tol=1e-10)


@settings(max_examples=120)
@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=3),
    kernels=st.tuples(st.sampled_from(KERNELS), st.sampled_from(KERNELS)),
    measure=st.sampled_from(MEASURES), weights=st.sampled_from(sorted(WEIGHTS)),
    covariates=st.sampled_from(sorted(COVARIATES)), missing=st.booleans(),
    n=st.integers(12, 60), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_columns_of_every_kind(kinds, kernels, measure, weights, covariates, missing, n, seed):
    """Each column has one of two kernels."""
    rng = np.random.default_rng(seed)
    samples = make_samples(rng, n, weights, covariates)
    X = np.column_stack([make(kind, n, seed + i) for i, kind in enumerate(kinds)])
    X = punched(rng, X) if missing else X
    check(X, [X], rng.standard_normal(n), kernels, measure, samples)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_small_integers_of_other_types(measure, weights, rng):
    samples, y = make_samples(rng, N, weights), rng.standard_normal(N)
    genotypes, flags = rng.integers(0, 3, (N, 4)), rng.random((N, 4)) < 0.5
    for X in (genotypes.astype(np.uint8), 253 + genotypes.astype(np.uint8), flags):
        for table in (X, np.asfortranarray(X), np.hstack([X, X])[:, 1:5:2]):
            check(table.astype(float), [table], y, Gaussian(), measure, samples)


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("median"), Delta(), Linear()], ids=str)
def test_zeros_that_are_stored_are_zeros(kernel, rng):
    X = real_numbers(rng, N)
    stored = sparse.csc_array(X)
    stored.data[::3] = 0.0
    X = stored.toarray()
    full = sparse.csc_array(np.where(X == 0, 1.0, X))  # every entry is stored
    full.data[X.T.ravel() == 0] = 0.0
    check(X, [X, stored, full], rng.standard_normal(N), kernel, "nhsic", make_samples(rng, N))
