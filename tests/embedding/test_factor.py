"""Factors against dense Gram matrices, for every kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.embedding import Delta, Embedding, Gaussian, Shrinkage, factor_columns
from tests import oracles
from tests.columns import KINDS, columns, make


def dense(column, shrinkage, width=1.0):
    scaled = np.ldexp(column, -np.frexp(np.abs(column).max())[1])
    K = oracles.centre(oracles.gaussian_gram(scaled, width))
    return oracles.nocco_matrix(K, shrinkage.ridge / len(K)) if shrinkage.ridge else K


@given(
    columns, st.sampled_from([1e-6, 1e-10]), st.sampled_from(["auto", "cholesky"]), st.booleans()
)
def test_error_is_below_the_tolerance(column, tol, method, shrunk):
    shrinkage = Shrinkage(1e-3 * column.size if shrunk else 0.0)
    (factor,) = factor_columns(column[None].copy(), Embedding(tol=tol, method=method), shrinkage)
    exact = dense(column, shrinkage)
    error = np.linalg.norm(factor.rows.T @ factor.rows - exact) / np.linalg.norm(exact)
    assert factor.error <= tol
    # the dense matrix itself is only known to rounding
    assert error <= factor.error + 1e-12 * (1 / shrinkage.ridge if shrunk else 1)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_table_reaches_the_default_tolerance(kind):
    column = make(kind, 80, 5)
    (factor,) = factor_columns(column[None].copy(), Embedding(method="table"))
    exact = dense(column, Shrinkage())
    assert np.linalg.norm(factor.rows.T @ factor.rows - exact) <= 1e-6 * np.linalg.norm(exact)


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
    (factor,) = factor_columns(column[None].copy(), Embedding(Gaussian(width), tol=1e-10))
    np.testing.assert_allclose(
        factor.rows.T @ factor.rows, dense(column, Shrinkage(), width), atol=1e-9
    )


def test_median_width_is_that_of_the_column(rng):
    column = rng.exponential(size=50)
    (factor,) = factor_columns(column[None].copy(), Embedding(Gaussian("median"), tol=1e-10))
    width = oracles.median_nonzero_distance(oracles.standardise(column))
    np.testing.assert_allclose(
        factor.rows.T @ factor.rows, dense(column, Shrinkage(), width), atol=1e-9
    )


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
