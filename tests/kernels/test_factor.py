"""Factors against dense matrices, for every kernel and kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.kernels import HSIC, NOCCO, Delta, Gaussian, Linear, Polynomial, Samples
from hsiclasso.kernels.factor import (
    Factor,
    Refinement,
    empty_factor,
    factor_columns,
    factor_rows,
)
from tests import oracles
from tests.columns import KINDS, make
from tests.kernels.cases import draw_weights, every_kernel, kinds, least_error, weightings

MEASURES = [HSIC(), NOCCO()]


def factor_one(column, kernel=None, samples=None, measure=None, error=1e-6):
    kernel, samples = kernel or Gaussian(), samples or Samples(column.size)
    z = column[None].copy()
    kernel.scale(z, samples.shares)
    return factor_columns(z, kernel, samples, measure or HSIC(), error)[0]


def dense(column, kernel, samples, measure):
    """Matrix of a column: that of the samples with a weight, zero elsewhere."""
    seen = samples.shares[0] > 0
    weights = samples.shares[0][seen]
    covariates = None if samples.covariates is None else samples.covariates[:, seen]
    K = oracles.kernel_gram(column[seen], kernel, weights)
    out = np.zeros((column.size, column.size))
    epsilon = measure.regularisation
    out[np.ix_(seen, seen)] = oracles.projected_measure(
        K, measure.name, weights, covariates, epsilon
    )
    # the dense matrix is known to rounding, of the matrix from which most may be removed; values
    # close to each other have few digits beside one that is far away
    size = np.linalg.norm(np.sqrt(np.outer(weights, weights)) * K)
    digits = 1e-9 if np.ptp(column) > 1e4 * np.median(np.abs(column)) > 0 else 1e-11
    return out, digits * size / (epsilon * weights.sum() if epsilon else 1.0)


@pytest.mark.parametrize("error", [1e-6, 1e-10])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@every_kernel
@settings(max_examples=6)
@given(
    kind=kinds, n=st.integers(14, 50), seed=st.integers(0, 10_000), weighting=weightings,
    n_covariates=st.integers(0, 2),
)  # fmt: skip
def test_the_error_is_as_promised(kernel, measure, error, kind, n, seed, weighting, n_covariates):
    """With weights, covariates and samples without weight, which is what missing ones are."""
    rng, column = np.random.default_rng(seed), make(kind, n, seed)
    weights = None if weighting == "none" else draw_weights(rng, n, weighting)
    samples = Samples(n, weights, rng.standard_normal((n_covariates, n)) if n_covariates else None)
    seen = samples.shares[0] > 0
    column[~seen] = column[seen][0]
    if np.ptp(column) == 0:
        return
    exact, rounding = dense(column, kernel, samples, measure)
    if np.linalg.norm(exact) <= 1e3 * rounding:
        return  # the covariates, or two values and a constant, explain all of it
    factor = factor_one(column, kernel, samples, measure, error)
    if not least_error(kernel):
        assert factor.error <= error
    found = factor.rows.T @ factor.rows
    assert np.linalg.norm(found - exact) <= factor.error * np.linalg.norm(exact) + rounding
    # rows are orthogonal, and to all that is removed
    products = factor.rows @ factor.rows.T
    np.testing.assert_allclose(products, np.diag(factor.eigenvalues), atol=rounding)
    np.testing.assert_allclose(factor.rows @ samples.removed.T, 0, atol=np.sqrt(rounding))
    assert not factor.rows[:, ~seen].any()
    assert (np.diff(factor.eigenvalues) <= 1e-14 * factor.norm).all()
    assert factor.norm == pytest.approx(np.linalg.norm(found))


def test_a_block_of_columns_is_factored_together(rng):
    block = np.array([make(kind, 80, 3) for kind in sorted(KINDS)])
    z = block.copy()
    Gaussian().scale(z, np.ones((1, 80)))
    for column, factor in zip(
        block, factor_columns(z, Gaussian(), Samples(80), HSIC(), 1e-8), strict=True
    ):
        alone = factor_one(column, error=1e-8)
        np.testing.assert_allclose(
            factor.rows.T @ factor.rows, alone.rows.T @ alone.rows, atol=1e-7
        )


@pytest.mark.parametrize(
    ("kind", "rank"), [("two-valued", 1), ("genotype", 2), ("nearly constant", 1)]
)
@pytest.mark.parametrize("error", [1e-6, 1e-10])
@pytest.mark.parametrize("expansion", ["auto", "cholesky"])
def test_few_values_give_their_true_rank(kind, rank, error, expansion):
    factor = factor_one(make(kind, 500, 1), Gaussian(expansion=expansion), error=error)
    assert len(factor.rows) == rank


@pytest.mark.parametrize(
    ("kernel", "rank"),
    [(Linear(), 1), (Polynomial(3), 3), (Polynomial(3, 0.0), 1), (Gaussian(), 13)],
    ids=str,
)
def test_ranks_are_small(kernel, rank, rng):
    assert len(factor_one(rng.standard_normal(2000), kernel).rows) <= rank


def test_delta_kernel_is_exact(rng):
    codes = rng.integers(0, 4, 60).astype(float)
    factor = factor_one(codes, Delta())
    assert len(factor.rows) == 3
    exact = oracles.centre(oracles.delta_gram(codes))
    np.testing.assert_allclose(factor.rows.T @ factor.rows, exact, atol=1e-14)


def test_the_papers_lookup_is_what_we_improve_on(rng):
    """4096 tabulated differences err by some 1e-4; a factor is a hundred times closer."""
    column = rng.standard_normal(300)
    exact = oracles.centre(oracles.gaussian_gram(column))
    looked_up = oracles.centre(oracles.lookup_gram(column))
    factor = factor_one(column)
    ours = np.linalg.norm(factor.rows.T @ factor.rows - exact)
    assert 100 * ours < np.linalg.norm(looked_up - exact)


def test_multiples_of_a_factor(rng):
    factor = factor_one(rng.standard_normal(20))
    four = factor.scaled(4.0)
    np.testing.assert_allclose(four.rows, 2 * factor.rows)
    assert four.norm == pytest.approx(4 * factor.norm)
    assert factor.scaled(1.0) is factor
    assert factor.normalised().norm == pytest.approx(1)
    assert factor.nbytes == factor.rows.nbytes
    rows, A = rng.standard_normal((3, 20)), factor.rows.T @ factor.rows
    assert factor.energy(rows) == pytest.approx(np.trace(rows @ A @ rows.T))


def test_a_factor_without_rows():
    nothing = empty_factor(7)
    assert nothing.rows.shape == (0, 7)
    assert (nothing.norm, nothing.error, nothing.energy(np.ones((2, 7)))) == (0, 0, 0)
    assert nothing.normalised().norm == 0
    none = factor_rows(lambda allowed: (np.zeros((0, 7)), 0.0), Samples(7), HSIC(), 1e-6)
    assert isinstance(none, Factor)
    assert len(none.rows) == 0


def test_what_covariates_explain_is_nothing(rng):
    x = rng.integers(0, 2, 30).astype(float)
    factor = factor_one(x, samples=Samples(30, None, x[None]))
    assert len(factor.rows) == 0
    assert factor.error == 0


def test_a_coarse_expansion_that_leaves_nothing_is_refined(rng):
    """Rows that vanish say nothing while something was left out: the bound is infinite."""
    x, asked = rng.standard_normal(30), []

    def expand(allowed):
        asked.append(allowed)
        if len(asked) < 3:
            return np.ones((1, 30)), 1.0
        return np.array([np.ones(30), x]), 0.0

    factor = factor_rows(expand, Samples(30), HSIC(), 1e-6)
    assert len(asked) == 3
    assert asked[1] == asked[0] > asked[2]
    exact = oracles.centre(np.outer(x, x))
    np.testing.assert_allclose(factor.rows.T @ factor.rows, exact, atol=1e-12)


def test_refining_ends():
    """Columns are visited again only while they are not accurate enough, six times at most."""
    visits, refinement = [], Refinement(2, 0.1, 1e-6)
    for columns, shares, _ in refinement.rounds():
        visits.append((columns.tolist(), shares.tolist()))
        refinement.errors[columns] = np.where(columns == 0, 1e-9, 1e-3)
    assert refinement.errors.tolist() == [1e-9, 1e-3]
    assert visits[0] == ([0, 1], [0.1, 0.1])
    assert [columns for columns, _ in visits[1:]] == [[1]] * 5
    assert visits[1][1][0] == pytest.approx(0.1 * 0.5e-3)
