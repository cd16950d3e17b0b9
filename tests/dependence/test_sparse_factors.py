"""Factors of columns that are mostly zero, against the dense factors of the same columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import HSICLasso
from hsiclasso.dependence import sparse_factors
from hsiclasso.dependence.products import FactorProducts, ScaledColumns, inner_products
from hsiclasso.dependence.running import Threads
from hsiclasso.dependence.sparse_factors import SparseFactor, make_matrices
from hsiclasso.kernels import (
    HSIC,
    NHSIC,
    NOCCO,
    Cauchy,
    Delta,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Samples,
)
from tests.dependence.cases import dense_matrices, make_features

N = 60


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sparse_factors, "_LEAST_SAMPLES", 20)


def counts(seed=0, n=N):
    """Columns that are mostly zero: counts, measured values and flags; one column of numbers."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 8))
    for j in range(5):
        where = rng.choice(n, 3 + 2 * j, replace=False)
        X[where, j] = rng.poisson(3, where.size) + 1.0 if j % 2 else rng.normal(2, 1, where.size)
    X[7, 5] = 1.0
    X[:, 6] = rng.standard_normal(n)
    X[: n // 5, 7] = -1.0
    return X


def both(X, kernel, measure, **options):
    features = make_features(X, kernel, **options)
    scaled = features.scaled(np.arange(X.shape[1]))
    return make_matrices(features, scaled, measure), features.matrices(scaled, measure)


KERNELS = [
    Gaussian(), Gaussian((0.3, 1.0)), Gaussian("median"), Delta(), Delta(by_count=False), Linear(),
    Polynomial(2), Matern(), Cauchy(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("measure", [HSIC(), NHSIC(), NOCCO(0.01)], ids=["hsic", "nhsic", "nocco"])
def test_the_matrices_are_the_same(kernel, measure):
    X = counts()
    made, dense = both(X, kernel, measure, gram_error=1e-9)
    assert sum(isinstance(one, SparseFactor) for one in made) == 7
    for one, other in zip(made, dense, strict=True):
        expected = other.rows.T @ other.rows
        allowed = 4e-9 * other.norm
        assert one.norm == pytest.approx(other.norm, rel=4e-9)
        np.testing.assert_allclose(one.rows.T @ one.rows, expected, atol=allowed)
    inner = inner_products(made, made, Threads(1))
    exact = np.array([[np.sum((a.rows @ b.rows.T) ** 2) for b in dense] for a in dense])
    sizes = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert (np.abs(inner - exact) <= 1e-8 * sizes).all()


def test_all_classes_of_matrices_multiply():
    X = counts()
    sparse_ones, dense = both(X, None, HSIC(), gram_error=1e-9)
    _, laplace = both(X, Laplace(), HSIC())
    mixed = [sparse_ones[0], dense[1], laplace[2], sparse_ones[3], laplace[6]]
    A = [dense_matrices(make_features(X, kernel), "hsic") for kernel in (None, Laplace())]
    exact = np.stack([A[0][0], A[0][1], A[1][2], A[0][3], A[1][6]]).reshape(5, -1)
    inner = inner_products(mixed, mixed, Threads(1))
    np.testing.assert_allclose(inner, exact @ exact.T, rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(25, 80))
@settings(max_examples=15, deadline=None)
def test_products_are_those_of_the_gram_matrices(seed, n):
    X = counts(seed, n)
    features = make_features(X)
    products = FactorProducts(ScaledColumns(features), HSIC(), 1)
    every = np.arange(X.shape[1])
    A = dense_matrices(features, "hsic").reshape(len(every), -1)
    sizes = np.linalg.norm(A, axis=1)
    found = products.inner_products(every, every)
    assert (np.abs(found - A @ A.T) <= 4e-6 * np.outer(sizes, sizes)).all()
    np.testing.assert_allclose(products.norms2(every), sizes**2, rtol=4e-6)


def test_energies_of_rows():
    X, rng = counts(), np.random.default_rng(1)
    made, _ = both(X, None, HSIC())
    rows = rng.standard_normal((3, N))  # not centred
    for one in made:
        if isinstance(one, SparseFactor):
            expected = np.square(rows @ one.rows.T).sum()
            assert one.energy(rows) == pytest.approx(expected, rel=1e-10)
            assert one.nbytes < one.rows.nbytes


@pytest.mark.parametrize(
    "samples",
    [Samples(N, np.linspace(0.5, 2, N)), Samples(N, None, np.linspace(-1, 1, N)[None])],
    ids=["weights", "covariates"],
)
def test_weights_and_covariates_need_dense_factors(samples):
    made, _ = both(counts(), None, HSIC(), samples=samples)
    assert not any(isinstance(one, SparseFactor) for one in made)


@pytest.mark.parametrize("n", [300, 20_500])
def test_storage_does_not_matter(n):
    """Selections of compressed and of dense tables agree, also where dense ones have tables."""
    rng = np.random.default_rng(3)
    X = rng.poisson(0.06, (n, 30)) * rng.uniform(0.5, 2, 30)
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    dense, compressed = HSICLasso(5).fit(X, y), HSICLasso(5).fit(sparse.csc_array(X), y)
    np.testing.assert_array_equal(dense.selected_, compressed.selected_)
    np.testing.assert_allclose(
        *(one.result_.to_frame()["weight"] for one in (dense, compressed)), rtol=1e-4
    )
