"""What a target's matrix serves: energies, inner products, and less of another matrix."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.kernels import HSIC, Gaussian, Laplace, Samples, as_measure
from hsiclasso.kernels.factor import empty_factor, factor_columns
from hsiclasso.kernels.markov import laplace_matrix
from hsiclasso.targets import Similarity, Values
from hsiclasso.targets.matrix import together
from tests import oracles
from tests.targets.compare import SPACES, N, assert_matrix, every_space, matrix_of


def make(kind, measure, samples, rng):
    """One of each way to hold a target."""
    vectors = rng.standard_normal((6, N))
    L = (vectors.T * np.array([1, -1, 1, 1, -1, 1])) @ vectors + 0.2 * np.eye(N)
    heavy = np.exp(1.5 * rng.standard_normal(N))
    data, n_features = {
        "factor": (Values(rng.standard_normal((1, N)), Gaussian()), 0),
        "heavy tail": (Values(heavy[None], Gaussian()), 0),
        "signed": (Similarity(L), 10_000),
        "operator": (Similarity(L), 0),
        "laplace": (Values(rng.standard_normal((2, N)), Laplace(), averaged=True), 0),
    }[kind]
    return data.matrix(measure, samples, error=1e-6, n_features=n_features)


KINDS = ["factor", "heavy tail", "signed", "operator", "laplace"]


def factor_of(column, samples, measure=None, error=1e-6):
    z = column[None].copy()
    Gaussian().scale(z, samples.shares)
    return factor_columns(z, Gaussian(), samples, measure or HSIC(), error)[0]


@every_space
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("kind", KINDS)
def test_less_of_another_matrix(kind, measure, space, rng):
    samples, made = SPACES[space](rng), as_measure(measure)
    target = make(kind, made, samples, rng)
    T = matrix_of(target, samples)
    for known in rng.standard_normal((2, N)):  # once and once more
        factor = made.finish(factor_of(known, samples, made))
        target = target.minus(factor)
        T = oracles.without(T, factor.rows.T @ factor.rows)
        assert_matrix(target, T, samples, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_less_of_nothing(kind, rng):
    target = make(kind, HSIC(), Samples(N), rng)
    assert target.minus(empty_factor(N)).norm2 == target.norm2


def test_less_of_itself_is_nothing(rng):
    y = rng.standard_normal(N)
    target = Values(y[None], Gaussian()).matrix(HSIC(), Samples(N), error=1e-6, n_features=1)
    left = target.minus(factor_of(y, Samples(N), error=1e-10))
    assert 0 <= left.norm2 <= 1e-9 * target.norm2


@every_space
@pytest.mark.parametrize("kind", KINDS)
def test_inner_products_with_laplace_matrices(kind, space, rng):
    samples = SPACES[space](rng)
    target, x = make(kind, HSIC(), samples, rng), rng.standard_normal(N)
    assert target.knows_recursions == (kind != "operator")
    if kind == "operator":
        with pytest.raises(NotImplementedError):
            target.inner(laplace_matrix(x, samples))
        return
    K = np.exp(-np.abs(x[:, None] - x))
    A = oracles.projected(K, samples.weights, samples.covariates)
    expected = np.sum(A * matrix_of(target, samples))
    allowed = 1e-10 * np.linalg.norm(A) * np.sqrt(target.norm2)
    assert np.ravel(target.inner(laplace_matrix(x, samples))) == pytest.approx(
        expected, abs=allowed
    )


def test_several_targets_together(rng):
    samples, columns = Samples(N), rng.standard_normal((3, N))
    factors = [factor_of(columns[0], samples), empty_factor(N), factor_of(columns[1], samples)]
    target, matrix = together(factors), laplace_matrix(columns[2], samples)
    found = target.inner(matrix)
    expected = [np.sum(f.rows * matrix.product(f.rows)) for f in factors]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert target.factored
