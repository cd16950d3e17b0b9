"""Factors against dense Gram matrices, for every kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.embedding import (
    Delta,
    Embedding,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Samples,
    Shrinkage,
    factor_columns,
)
from tests import oracles
from tests.columns import KINDS, columns, make

KERNELS = [
    Gaussian(), Gaussian("median"), Gaussian((0.5, 2.0)), Laplace(), Delta(),
    Delta(by_count=False), Linear(), Polynomial(3),
]  # fmt: skip


def dense(column, kernel=None, samples=None, epsilon=0.0):
    samples = samples or Samples(column.size)
    K = oracles.kernel_gram(column, kernel or Gaussian(), samples.weights)
    measure = "nocco" if epsilon else "hsic"
    return oracles.projected_measure(K, measure, samples.weights, samples.covariates, epsilon)


def factor_one(column, kernel=None, samples=None, epsilon=0.0, **options):
    embedding = Embedding(kernel or Gaussian(), **options)
    return factor_columns(column[None].copy(), embedding, samples, epsilon)[0]


def distance(factor, exact):
    return np.linalg.norm(factor.rows.T @ factor.rows - exact) / np.linalg.norm(exact)


@given(
    columns, st.sampled_from([1e-6, 1e-10]), st.sampled_from(["auto", "cholesky"]),
    st.sampled_from([0.0, 1e-3]),
)  # fmt: skip
def test_error_is_below_the_tolerance(column, tol, method, epsilon):
    factor = factor_one(column, epsilon=epsilon, tol=tol, method=method)
    assert factor.error <= tol
    # the dense matrix itself is only known to rounding
    rounding = 1e-12 / (epsilon * column.size) if epsilon else 1e-12
    assert distance(factor, dense(column, epsilon=epsilon)) <= factor.error + rounding


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@given(column=columns, seed=st.integers(0, 100), covariates=st.integers(0, 2))
@settings(max_examples=15)
def test_weights_and_covariates(kernel, epsilon, tol, column, seed, covariates):
    rng, n = np.random.default_rng(seed), column.size
    functions = rng.standard_normal((covariates, n)) if covariates else None
    samples = Samples(n, rng.uniform(0.1, 3, n), functions)
    exact = dense(column, kernel, samples, epsilon)
    if not exact.any() or n < 12:  # a polynomial of two values may be constant
        return
    factor = factor_one(column, kernel, samples, epsilon, tol=tol)
    assert factor.error <= tol
    before = np.linalg.norm(oracles.kernel_gram(column, kernel, samples.weights))
    rounding = 1e-12 * before / (epsilon * samples.total if epsilon else np.linalg.norm(exact))
    assert distance(factor, exact) <= factor.error + rounding
    np.testing.assert_allclose(factor.rows @ samples.removed.T, 0, atol=1e-9 * n)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_table_reaches_the_default_tolerance(kind):
    column = make(kind, 80, 5)
    assert distance(factor_one(column, method="table"), dense(column)) <= 1e-6


@given(columns)
def test_rows_are_centred_and_orthogonal(column):
    (factor,) = factor_columns(column[None].copy(), Embedding())
    np.testing.assert_allclose(factor.rows.sum(axis=1), 0, atol=1e-9)
    product = factor.rows @ factor.rows.T
    np.testing.assert_allclose(product, np.diag(factor.eigenvalues), atol=1e-9 * column.size)
    assert (np.diff(factor.eigenvalues) <= 0).all()
    np.testing.assert_allclose(factor.norm, np.linalg.norm(factor.rows.T @ factor.rows))


@pytest.mark.parametrize(
    ("kind", "rank"), [("two-valued", 1), ("genotype", 2), ("nearly constant", 1)]
)
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@pytest.mark.parametrize("method", ["auto", "cholesky"])
def test_few_values_give_their_true_rank(kind, rank, tol, method):
    column = make(kind, 500, 1)
    (factor,) = factor_columns(column[None].copy(), Embedding(tol=tol, method=method))
    assert len(factor.rows) == rank


def test_rank_of_a_normal_column_is_small(rng):
    (factor,) = factor_columns(rng.standard_normal((1, 2000)), Embedding())
    assert len(factor.rows) <= 13


def test_constant_column_has_rank_zero():
    (factor,) = factor_columns(np.full((1, 20), 7.0), Embedding())
    assert factor.rows.shape == (0, 20)
    assert factor.norm == 0
    assert factor.normalised().rows.shape == (0, 20)


def test_delta_kernel_is_exact(rng):
    codes = rng.integers(0, 4, (1, 60)).astype(float)
    (factor,) = factor_columns(codes.copy(), Embedding(Delta()))
    exact = oracles.centre(oracles.delta_gram(codes[0]))
    assert len(factor.rows) == 3
    np.testing.assert_allclose(factor.rows.T @ factor.rows, exact, atol=1e-14)


@pytest.mark.parametrize("width", [0.3, 2.5])
def test_width_scales_the_kernel(width, rng):
    column = rng.standard_normal(50)
    exact = oracles.centre(oracles.gaussian_gram(column, width))
    assert distance(factor_one(column, Gaussian(width), tol=1e-10), exact) <= 1e-10


def test_median_width_is_that_of_the_column(rng):
    column = rng.exponential(size=50)
    width = oracles.median_nonzero_distance(oracles.standardise(column))
    exact = oracles.centre(oracles.gaussian_gram(column, width))
    assert distance(factor_one(column, Gaussian("median"), tol=1e-10), exact) <= 1e-10


def test_normalised_factor_has_norm_one(rng):
    (factor,) = factor_columns(rng.standard_normal((1, 40)), Embedding())
    np.testing.assert_allclose(factor.normalised().norm, 1)


def test_the_papers_lookup_is_what_we_improve_on(rng):
    """4096 tabulated differences err by some 1e-4; a factor is a hundred times closer."""
    column = rng.standard_normal(300)
    exact = oracles.centre(oracles.gaussian_gram(column))
    looked_up = oracles.centre(oracles.lookup_gram(column))
    (factor,) = factor_columns(column[None].copy(), Embedding())
    ours = np.linalg.norm(factor.rows.T @ factor.rows - exact)
    assert 100 * ours < np.linalg.norm(looked_up - exact)


@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 1), (Polynomial(3), 3), (Polynomial(3, 0.0), 1)], ids=str
)
def test_powers_give_their_rank(kernel, rank, rng):
    assert len(factor_one(rng.exponential(size=60), kernel, tol=1e-10).rows) == rank


def test_several_widths_are_the_mean_of_their_kernels(rng):
    column = rng.standard_normal(50)
    factor = factor_one(column, Gaussian((0.5, 1.0, 3.0)), tol=1e-10)
    exact = np.mean([oracles.gaussian_gram(column, w) for w in (0.5, 1.0, 3.0)], axis=0)
    assert distance(factor, oracles.centre(exact)) <= 1e-10


@pytest.mark.parametrize("method", ["auto", "table", "cholesky"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_method_takes_every_kernel(kernel, method, rng):
    column = np.round(rng.standard_normal(50), 1)
    samples = Samples(50, rng.uniform(0.1, 1, 50))
    factor = factor_one(column, kernel, samples, method=method)
    assert distance(factor, dense(column, kernel, samples)) <= 1e-6


def test_spread_and_scaled(rng):
    factor = factor_one(rng.standard_normal(20))
    seen = np.r_[[False], np.ones(20, dtype=bool), [False]]
    wide = factor.spread(seen, 0.9).scaled(4.0)
    assert wide.rows.shape == (len(factor.rows), 22)
    assert wide.observed == 0.9
    np.testing.assert_allclose(wide.rows[:, 1:-1], 2 * factor.rows)
    np.testing.assert_allclose(wide.norm, 4 * factor.norm)
    assert not wide.rows[:, [0, -1]].any()
    assert factor.scaled(1.0) is factor


def test_shrinkage_maps_eigenvalues():
    eigenvalues = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(Shrinkage(1.0)(eigenvalues), [0, 0.5, 0.75])
    np.testing.assert_array_equal(Shrinkage()(eigenvalues), eigenvalues)
