"""Inner products from tables of two columns, against dense matrices and against factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import HSICLasso, make_data2
from hsiclasso.data import as_source
from hsiclasso.dependence import Features, tables
from hsiclasso.dependence._grid_loops import RUN, joint_table
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.dependence.tables import TableProducts, can_be_tabulated
from hsiclasso.kernels import Gaussian, Laplace, Samples, as_measure
from hsiclasso.kernels.grid import weights_of_nodes
from tests import oracles

D = 7


def columns_of(X, weights=None, **options):
    samples = Samples(len(X), weights)
    features = Features(as_source(X), (Gaussian(),), samples, np.arange(X.shape[1]), **options)
    return ScaledColumns(features)


def draw(rng, n):
    """Normal, skewed, far-away, discrete and constant columns."""
    X = rng.standard_normal((n, D))
    X[:, 1] = np.exp(X[:, 0])
    X[:, 2] = np.exp(3 * X[:, 2])  # beyond the grids
    X[:, 3] = np.where(np.arange(n) == 5, 1.0, 0.0)  # a matrix of small norm
    X[:, 4] = np.round(X[:, 4])
    X[:, 5] = 3.0
    return X


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_products_are_those_of_dense_matrices(measure, rng):
    X = draw(rng, 250)
    X[:, 5] = rng.standard_t(3, 250)
    products = TableProducts(columns_of(X), as_measure(measure), 2)
    every = np.arange(D)
    dense = [oracles.centre(oracles.gaussian_gram(x)) for x in X.T]
    if measure == "nhsic":
        dense = [matrix / np.linalg.norm(matrix) for matrix in dense]
    expected = np.array([[np.sum(a * b) for b in dense] for a in dense])
    norms = np.sqrt(np.diag(expected))
    found = products.inner_products(every, every)
    np.testing.assert_allclose(found / np.outer(norms, norms), expected / np.outer(norms, norms),
                               rtol=0, atol=2e-6)  # fmt: skip
    np.testing.assert_allclose(products.norms2(every), np.diag(expected), rtol=4e-6)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_products_are_those_of_factors(measure, seed, weighted):
    rng = np.random.default_rng(seed)
    X, weights = draw(rng, 300), rng.uniform(0.0, 2.0, 300) if weighted else None
    columns, measure = columns_of(X, weights), as_measure(measure)
    by_tables, by_factors = TableProducts(columns, measure, 1), FactorProducts(columns, measure, 1)
    every = np.arange(D)
    norms2 = by_factors.norms2(every)
    np.testing.assert_allclose(by_tables.norms2(every), norms2, rtol=4e-6)
    expected = by_factors.inner_products(every, every)
    scale = np.sqrt(np.outer(norms2, norms2)) + 1e-300
    found = by_tables.inner_products(every, every)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=4e-6)


def test_only_what_is_missing_is_computed(rng):
    products = TableProducts(columns_of(draw(rng, 300)), as_measure("hsic"), 1)
    rows, cols = np.array([0, 2, 4, 6]), np.array([2, 6, 0])
    whole = products.inner_products(rows, cols)
    out = np.where(rng.random(whole.shape) < 0.5, -1.0, np.nan)
    known = ~np.isnan(out)
    products.complete(rows, cols, out)
    assert (out[known] == -1.0).all()
    np.testing.assert_allclose(out[~known], whole[~known], rtol=1e-12)


@pytest.mark.parametrize("n", [1, RUN, 2 * RUN + 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables(n, weighted, rng):
    x, y = rng.uniform(-1.0, 1.0, (2, n))
    shares = rng.random(n) if weighted else np.empty(0)
    firsts, steps = np.array([-1.75, -1.5]), np.array([0.25, 0.2])
    table = np.ones((16, 18))
    joint_table(x, y, shares, firsts, steps, table)
    sides = []
    for values, first, step, size in zip((x, y), firsts, steps, table.shape, strict=True):
        place = (values - first) / step
        cell = np.floor(place).astype(int)
        weights = np.zeros((n, size))
        for q in range(6):
            weights[np.arange(n), cell + q - 2] = weights_of_nodes(place - cell, 6)[:, q]
        sides.append(weights)
    scaled = sides[0] * shares[:, None] if weighted else sides[0]
    np.testing.assert_allclose(table, 1 + scaled.T @ sides[1], rtol=0, atol=1e-12 * n)


def test_many_samples_have_tables(monkeypatch):
    """Whichever way the redundancy is computed, the same features are selected."""
    X, y, _ = make_data2(600, 40, random_state=3)
    expected = HSICLasso(8).fit(X, y)
    monkeypatch.setattr(tables, "_LEAST_SAMPLES", 500)
    made = []
    monkeypatch.setattr(tables, "table_product", counting(made))
    found = HSICLasso(8).fit(X, y)
    assert made
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-7 * found.coef_.max())
    assert found.result_.certificate.duality_gap <= 1e-9


def counting(made):
    product = tables.table_product

    def count(left, right, samples):
        if left[0] is not right[0]:  # not the norm of a column
            made.append(1)
        return product(left, right, samples)

    return count


def test_what_has_no_tables(monkeypatch):
    monkeypatch.setattr(tables, "_LEAST_SAMPLES", 100)
    X = np.random.default_rng(0).standard_normal((200, 3))
    hsic = as_measure("hsic")
    plain = columns_of(X).features
    assert can_be_tabulated(plain, hsic)
    assert not can_be_tabulated(plain, as_measure("nocco"))
    assert not can_be_tabulated(columns_of(X[:50]).features, hsic)
    assert not can_be_tabulated(columns_of(X, gram_error=1e-10).features, hsic)
    assert not can_be_tabulated(columns_of(X, least_observed=20).features, hsic)
    rough = Features(as_source(X), (Laplace(),), Samples(200), np.arange(3))
    assert not can_be_tabulated(rough, hsic)
