"""Entries of G on demand: by factors, or by packed matrices where samples are few."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.dependence import Budget, packed, products
from hsiclasso.dependence.packed import PackedProducts, can_be_packed
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.kernels import HSIC, NHSIC, NOCCO, Delta, Gaussian, Laplace
from tests import oracles
from tests.columns import KINDS, make
from tests.dependence.cases import (
    dense_matrices,
    find,
    make_features,
    make_samples,
    real_numbers,
    redundancy,
)

D = len(KINDS)


@pytest.fixture(params=["packed", "factors"])
def way(request, monkeypatch):
    """Small samples are packed; or nothing is."""
    if request.param == "factors":
        monkeypatch.setattr(packed, "_MOST_SAMPLES", 0)
    return request.param


@pytest.fixture(scope="module")
def table():
    """Columns of every kind: long tails, ties, few levels, huge and tiny numbers."""
    return np.column_stack([make(kind, 50, i) for i, kind in enumerate(sorted(KINDS))])


def build(X, measure="hsic", kernel=None, *, n_threads=1, budget=None, **options):
    y = np.random.default_rng(1).standard_normal(len(X))
    features = make_features(X, kernel, **options)
    return find(features, y, measure, n_threads=n_threads, budget=budget)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("width", [1.0, 0.25, "median"])
def test_columns_of_any_kind(table, measure, width, way):
    """Packed matrices are exact up to rounding, factors to their tolerance."""
    problem = build(table, measure, Gaussian(width))
    A = dense_matrices(problem.features, measure).reshape(D, -1)
    sizes = np.linalg.norm(A, axis=1)
    error = 1e-8 if way == "packed" else 4e-6
    assert (np.abs(redundancy(problem) - A @ A.T) <= error * np.outer(sizes, sizes)).all()
    np.testing.assert_allclose(problem.diagonal(np.arange(D)), sizes**2, rtol=error)


def test_blocks_are_parts_of_one_matrix(table, way):
    problem = build(table)
    rows, cols = np.array([5, 2]), np.array([0, 11, 5])
    part, turned = problem.block(rows, cols), problem.block(cols, rows)
    whole = redundancy(build(table))
    np.testing.assert_allclose(part, whole[np.ix_(rows, cols)], rtol=1e-12)
    np.testing.assert_allclose(turned, whole[np.ix_(cols, rows)], rtol=1e-12)
    np.testing.assert_allclose(redundancy(problem), whole, rtol=1e-12)


def test_entries_are_computed_once(table, way, monkeypatch):
    problem = build(table, "nhsic")
    rows, cols = np.array([3, 1, 7]), np.array([2, 5])
    first = problem.block(rows, cols)
    asked = []

    def complete(_self, _rows, _cols, out):
        asked.append(np.isnan(out))
        out[np.isnan(out)] = -1.0

    monkeypatch.setattr(PackedProducts if way == "packed" else FactorProducts, "complete", complete)
    np.testing.assert_array_equal(problem.block(rows[::-1], cols), first[::-1])
    assert not asked
    again = problem.block(np.array([7, 4, 3]), np.array([5, 0, 2]))
    expected = [[first[2, 1], -1, first[2, 0]], [-1, -1, -1], [first[0, 1], -1, first[0, 0]]]
    np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal(asked, [np.equal(expected, -1)])


@pytest.mark.parametrize("measure", [HSIC(), NHSIC()], ids=str)
def test_only_what_is_missing_is_computed(table, measure, way, rng):
    """Entries that are there stay, right or wrong."""
    columns = ScaledColumns(make_features(table))
    rows, cols = np.arange(8), np.arange(5, 11)
    made = (PackedProducts if way == "packed" else FactorProducts)(columns, measure, 1)
    whole = np.full((8, 6), np.nan)
    made.complete(rows, cols, whole)
    out = np.where(rng.random(whole.shape) < 0.5, -1.0, np.nan)
    known = out == -1
    made.complete(rows, cols, out)
    assert (out[known] == -1).all()
    np.testing.assert_allclose(out[~known], whole[~known], rtol=1e-12)


@pytest.mark.parametrize("n", [50, 600])
def test_threads_change_not_a_bit(n, rng, monkeypatch):
    """Many columns are shared out by columns, few by samples."""
    monkeypatch.setattr(packed, "_STEP", 1)
    monkeypatch.setattr(packed, "_MANY", 1)
    for stack in (1, 1 << 18):
        monkeypatch.setattr(products, "_STACK", stack)
        X = real_numbers(np.random.default_rng(0), n, 20)
        one, two = (build(X, n_threads=k).block(np.arange(20), np.arange(3)) for k in (1, 2))
        np.testing.assert_array_equal(two, one)


def test_a_full_cache_changes_nothing(table, monkeypatch):
    monkeypatch.setattr(packed, "_MOST_SAMPLES", 0)
    whole = redundancy(build(table))
    problem = build(table, budget=Budget(factors=1))
    problem.diagonal(np.arange(D))
    assert not problem._products._cache
    np.testing.assert_allclose(redundancy(problem), whole, rtol=1e-12)


def test_columns_of_few_samples_count_as_objects(rng, monkeypatch):
    """Three numbers are 24 bytes, and the objects that hold them many times that."""
    monkeypatch.setattr(products, "_COLUMN_BYTES", 10 * (24 + products._COLUMN_OBJECT))
    columns = ScaledColumns(make_features(rng.standard_normal((3, 40))))
    made = columns(np.arange(40))
    assert len(made) == 40
    assert list(columns._known) == [*range(30, 40)]
    assert columns(np.array([35]))[0] is made[35]


def test_blocks_of_few_samples_are_not_wide(rng):
    """What is counted for each column takes more memory than three samples."""
    work = find(make_features(rng.standard_normal((3, 30_000))), rng.standard_normal(3))._pass
    assert max(part.stop - part.start for part in work.blocks()) <= 4096 == work.width


def test_factors_are_made_once(rng):
    made = FactorProducts(ScaledColumns(make_features(rng.standard_normal((30, 4)))), HSIC(), 1)
    free = made._free_bytes
    first, second, again = made.matrices(np.array([2, 1, 2]))
    assert first is again is not second
    assert made.matrices(np.array([2]))[0] is first  # used last: kept longer
    assert list(made._cache) == [1, 2]
    assert made.matrices(np.array([2]), keep=True)[0] is first
    assert made.matrices(np.array([2]))[0] is first
    assert made._free_bytes == free - first.nbytes
    assert made._cached_bytes == second.nbytes


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_constant_columns_have_zero_entries(measure, rng, way):
    X = rng.standard_normal((30, 3))
    X[:, 1] = 1.0
    problem = build(X, measure)
    G = redundancy(problem)
    np.testing.assert_allclose(problem.diagonal(np.arange(3)), np.diag(G), rtol=1e-12)
    assert not G[1].any()
    assert not G[:, 1].any()
    assert G[0, 2] > 0


def test_factors_beside_matrices_known_by_products(rng):
    X, samples = rng.standard_normal((40, 7)), make_samples(rng, 40, "real", True)
    problem = build(X, "nhsic", (Gaussian(), Laplace(), Delta()), samples=samples)
    A = dense_matrices(problem.features, "nhsic").reshape(7, -1)
    np.testing.assert_allclose(redundancy(problem), A @ A.T, atol=4e-6)
    one = build(X, "nhsic", (Gaussian(), Laplace(), Delta()), samples=samples)
    part = one.block(np.array([6, 1, 2]), np.array([0, 4]))
    np.testing.assert_allclose(part, (A @ A.T)[np.ix_([6, 1, 2], [0, 4])], atol=4e-6)


def test_packed_matrices_are_made_once(rng, monkeypatch):
    made = []
    original = PackedProducts._values

    def count(self, wanted):
        made.extend(wanted.tolist())
        return original(self, wanted)

    columns = ScaledColumns(make_features(rng.standard_normal((20, 30))))
    whole = np.full((30, 30), np.nan)
    PackedProducts(columns, HSIC(), 1).complete(np.arange(30), np.arange(30), whole)
    kept = PackedProducts(columns, HSIC(), 1)
    monkeypatch.setattr(PackedProducts, "_values", count)
    for cols in ([4], [7, 4, 2], [2, 9, 9], list(range(12))):
        out = np.full((1, len(cols)), np.nan)
        kept.complete(np.array([20]), np.array(cols), out)
        np.testing.assert_allclose(out, whole[[20]][:, cols], rtol=1e-12)
    assert sorted(made) == sorted([*range(12), 20, 20, 20, 20])


def test_only_plain_gaussian_features_are_packed(rng):
    X = rng.standard_normal((20, 3))
    assert can_be_packed(make_features(X), HSIC())
    assert can_be_packed(make_features(X, Gaussian("median")), NHSIC())
    assert can_be_packed(make_features(X, Gaussian((0.5, "median"))), HSIC())
    odd = [
        make_features(X, Laplace()),
        make_features(X, (Gaussian(), Delta())),
        make_features(X, Gaussian(expansion="cholesky")),
        make_features(X, samples=make_samples(rng, 20, "real")),
        make_features(X, samples=make_samples(rng, 20, "none", True)),
        make_features(X, least_observed=3),
        make_features(X, joint=True),
        make_features(rng.standard_normal((packed._MOST_SAMPLES + 1, 2))),
    ]
    assert not any(can_be_packed(features, HSIC()) for features in odd)
    assert not can_be_packed(make_features(X), NOCCO())


def test_scaled_columns_are_read_once(rng):
    """In any order, several at a time; up to a shift, the scale is that of the oracle."""
    X = real_numbers(rng, 30, 6)
    features = make_features(X, (Gaussian(), Delta()), joint=True)
    columns = ScaledColumns(features)
    first = columns(np.array([4, 0, 1, 4]))
    assert first[0] is first[3]
    assert columns(np.array([1]))[0] is first[2]
    z = first[0].z[0]
    np.testing.assert_allclose(first[0].scaling.apply(X[:, [4]].T)[0], z, rtol=1e-12)
    np.testing.assert_allclose(z - z.mean(), oracles.standardise(X[:, 4]), atol=1e-12)
    np.testing.assert_array_equal(first[2].z, X[:, [1, 5]].T)
    (pair,) = make_features(X, Delta(), joint=True).scaled(np.array([1]))
    np.testing.assert_array_equal(pair.z, first[2].z)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_several_widths_are_packed_too(measure, rng, monkeypatch):
    """The matrices themselves, and factors with a small error, say the same."""
    X = rng.standard_t(3, (40, 6))
    kernel = Gaussian((0.2, 1.0, "median"))
    exact = redundancy(build(X, measure, kernel))
    monkeypatch.setattr(packed, "_MOST_SAMPLES", 0)
    np.testing.assert_allclose(exact, redundancy(build(X, measure, kernel)), rtol=1e-5, atol=1e-7)
