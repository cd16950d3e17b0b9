"""Entries of G on demand against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.dependence import DependenceProblem, factors, make_measure, packed
from hsiclasso.dependence.factors import FactorProducts
from hsiclasso.dependence.packed import PackedProducts
from hsiclasso.embedding import Delta, Gaussian, Laplace
from tests import oracles
from tests.columns import KINDS, make
from tests.dependence.compare import (
    assert_redundancy,
    dense_features,
    find,
    make_features,
    make_samples,
)


def build(X, y, measure="hsic", *, n_threads=1, **options):
    features = make_features(X, **options)
    scan = find(features, y, measure)
    return DependenceProblem(features, scan, make_measure(measure), n_threads=n_threads)


@pytest.fixture(scope="module")
def table():
    X = np.column_stack([make(kind, 60, i) for i, kind in enumerate(sorted(KINDS))])
    return X, make("normal", 60, 77)


@pytest.mark.parametrize("measure", ["hsic", "nhsic", "nocco"])
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_entries(table, measure, tol, products):
    X, y = table
    problem = build(X, y, measure, tol=tol)
    scaled = [np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in X.T]
    A = np.array([oracles.measure_matrix(oracles.gaussian_gram(x), measure) for x in scaled])
    expected = np.einsum("kij,lij->kl", A, A)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    everything = np.arange(X.shape[1])
    found = problem.block(everything, everything)
    assert (np.abs(found - expected) <= 4 * tol * scale).all()
    np.testing.assert_allclose(problem.diagonal(everything), np.diag(found), rtol=1e-12)
    T = oracles.measure_matrix(oracles.gaussian_gram(y), measure)
    np.testing.assert_allclose(problem.target_norm2, np.sum(T * T), rtol=2 * tol)


def test_blocks_are_parts_of_one_matrix(table, products):
    problem = build(*table)
    whole = problem.block(np.arange(12), np.arange(12))
    rows, cols = np.array([5, 2]), np.array([0, 11, 5])
    np.testing.assert_allclose(problem.block(rows, cols), whole[np.ix_(rows, cols)], rtol=1e-12)
    np.testing.assert_allclose(problem.block(cols, rows), whole[np.ix_(cols, rows)], rtol=1e-12)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_entries_are_computed_once(table, measure, products, monkeypatch):
    problem = build(*table, measure)
    rows, cols = np.array([3, 1, 7]), np.array([2, 5])
    first = problem.block(rows, cols)
    kind = PackedProducts if products == "packed" else FactorProducts
    asked = []

    def complete(_self, _rows, _cols, out):
        asked.append(np.isnan(out))
        out[np.isnan(out)] = -1.0

    monkeypatch.setattr(kind, "complete", complete)
    np.testing.assert_array_equal(problem.block(rows[::-1], cols), first[::-1])
    assert not asked
    again = problem.block(np.array([7, 4, 3]), np.array([5, 0, 2]))
    expected = [[first[2, 1], -1, first[2, 0]], [-1, -1, -1], [first[0, 1], -1, first[0, 0]]]
    np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal(asked, [np.equal(expected, -1)])


def test_only_what_is_missing_is_computed(table, products):
    """Entries that are there stay, right or wrong."""
    problem = build(*table)
    rows, cols = np.arange(8), np.arange(5, 11)
    whole = problem.inner_products(rows, cols)
    out = np.where(np.random.default_rng(0).random(whole.shape) < 0.5, -1.0, np.nan)
    known = out == -1
    problem._products.complete(rows, cols, out)
    assert (out[known] == -1).all()
    np.testing.assert_allclose(out[~known], whole[~known], rtol=1e-12)


def test_threads_change_nothing(table, products, monkeypatch):
    monkeypatch.setattr(packed, "_STEP", 1)
    monkeypatch.setattr(packed, "_MANY", 1)
    X, y = table
    one = build(X, y).block(np.arange(3), np.arange(12))
    two = build(X, y, n_threads=2).block(np.arange(3), np.arange(12))
    np.testing.assert_array_equal(two, one)


def test_a_full_cache_changes_nothing(table, monkeypatch):
    monkeypatch.setattr(packed, "_MOST_SAMPLES", 0)
    whole = build(*table).block(np.arange(12), np.arange(12))
    monkeypatch.setattr(factors, "_CACHE_BYTES", (1, 1))
    monkeypatch.setattr(factors, "_STACK", 1)
    np.testing.assert_allclose(build(*table).block(np.arange(12), np.arange(12)), whole, rtol=1e-12)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_constant_columns_have_zero_entries(measure, rng, products):
    X = rng.standard_normal((30, 3))
    X[:, 1] = 1.0
    problem = build(X, rng.standard_normal(30), measure)
    block = problem.block(np.arange(3), np.arange(3))
    np.testing.assert_allclose(problem.diagonal(np.arange(3)), np.diag(block), rtol=1e-12)
    assert (block[1] == 0).all()
    assert (block[:, 1] == 0).all()
    assert block[0, 2] > 0


@pytest.mark.parametrize("measure", ["hsic", "nhsic", "nocco"])
@pytest.mark.parametrize("missing", [False, True])
def test_kernels_may_differ(measure, missing, rng):
    """Factors and matrices that are known by products, in one block."""
    X, samples = rng.standard_normal((40, 7)), make_samples(rng, 40, "real weights", "covariates")
    X = np.where(rng.random(X.shape) < 0.2, np.nan, X) if missing else X
    kernels = (Gaussian(), Laplace(), Delta())
    problem = build(X, rng.standard_normal(40), measure, kernel=kernels, samples=samples)
    A = dense_features(X.T, kernels, measure, samples)
    rows, cols = np.array([6, 1, 2, 4]), np.array([0, 1, 5])
    whole = problem.block(np.arange(7), np.arange(7))
    assert_redundancy(whole, A, 1e-6)
    np.testing.assert_allclose(problem.block(rows, cols), whole[np.ix_(rows, cols)], rtol=1e-9)
    np.testing.assert_allclose(problem.diagonal(np.arange(7)), np.diag(whole), rtol=1e-9)
    one = problem.block(rows[:1], cols[1:2])
    np.testing.assert_allclose(one, whole[6:, 1:2], rtol=1e-9)


def test_factors_are_made_once(rng):
    products = FactorProducts(make_features(rng.standard_normal((30, 4))), make_measure("hsic"), 1)
    first, second, again = products.matrices(np.array([2, 1, 2]))
    assert first is again is not second
    assert products.matrices(np.array([2]), keep=True)[0] is first
    assert products.matrices(np.array([2]))[0] is first


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf])
def test_bad_epsilon(epsilon):
    with pytest.raises(InvalidInputError, match="epsilon="):
        make_measure("nocco", epsilon)


def test_unknown_measure():
    with pytest.raises(InvalidInputError, match="measure='mi' is unknown"):
        make_measure("mi")
