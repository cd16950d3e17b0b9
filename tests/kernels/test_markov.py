"""The matrix of a Laplace feature, known by its products, against the dense one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import Samples
from hsiclasso.kernels.markov import LaplaceMatrix, laplace_matrix
from tests import oracles
from tests.columns import KINDS, make

kinds = st.sampled_from(sorted(KINDS))


def draw_samples(rng, n, weighted, n_covariates):
    functions = rng.standard_normal((n_covariates, n)) if n_covariates else None
    return Samples(n, rng.uniform(0.05, 3, n) if weighted else None, functions)


def build(z, samples, seen):
    """The matrix of a column that is known on the samples `seen`, without any restoration."""
    if seen.all():
        return laplace_matrix(z, samples)
    some = samples.only(seen)
    return laplace_matrix(z, some, some.total / samples.total)


def dense(z, samples, seen):
    w = np.ones(samples.n) if samples.weights is None else samples.weights
    C = None if samples.covariates is None else samples.covariates[:, seen]
    out = np.zeros((samples.n, samples.n))
    K = np.exp(-np.abs(z[seen, None] - z[seen]))
    out[np.ix_(seen, seen)] = oracles.projected(K, w[seen], C)
    return out


@given(
    kinds=st.tuples(kinds, kinds), n=st.integers(12, 60), seed=st.integers(0, 10_000),
    weighted=st.booleans(), n_covariates=st.integers(0, 3), missing=st.booleans(),
    width=st.sampled_from([0.01, 0.3, 1.0]),
)  # fmt: skip
def test_products_norms_and_inner_products(kinds, n, seed, weighted, n_covariates, missing, width):
    rng = np.random.default_rng(seed)
    samples = draw_samples(rng, n, weighted, n_covariates)
    exact, found = [], []
    for i, kind in enumerate(kinds):
        column = make(kind, n, seed + i)
        z = oracles.weighted_standardise(column, np.ones(n)) / width
        seen = rng.random(n) < (0.7 if missing else 2.0)
        seen[:6] = True
        exact.append(dense(z, samples, seen))
        found.append(build(z, samples, seen))
    size = samples.total  # norms before the projection are at most that
    rows = rng.standard_normal((4, n))
    for A, matrix in zip(exact, found, strict=True):
        np.testing.assert_allclose(matrix.product(rows), rows @ A, rtol=0, atol=1e-11 * size)
        # squares of what is left are differences of squares of what was there
        assert abs(matrix.norm**2 - np.sum(A * A)) <= 1e-12 * size**2
    a, b = found
    for one, other, expected in ((a, b, exact[0] * exact[1]), (a, a, exact[0] ** 2)):
        assert abs(one.inner(other) - np.sum(expected)) <= 1e-12 * size**2
        assert abs(other.inner(one) - np.sum(expected)) <= 1e-12 * size**2


@pytest.fixture
def matrix(rng):
    return build(rng.standard_normal(40), Samples(40), rng.random(40) < 0.8)


def test_multiples(matrix, rng):
    rows = rng.standard_normal((2, 40))
    twice = matrix.scaled(2.0)
    np.testing.assert_allclose(twice.product(rows), 2 * matrix.product(rows), rtol=1e-12)
    assert twice.norm == pytest.approx(2 * matrix.norm)
    assert twice.inner(matrix) == pytest.approx(2 * matrix.norm**2)
    assert twice.observed == matrix.observed < 1
    assert matrix.normalised().norm == pytest.approx(1)


def test_memory_is_counted(matrix):
    assert matrix.nbytes >= sum(a.nbytes for a in (matrix.z, matrix.root, matrix.removed))


def test_what_is_missing_does_not_matter(rng):
    z, seen = rng.standard_normal(30), rng.random(30) < 0.6
    samples = Samples(30, rng.random(30)).only(seen)
    made = laplace_matrix(z, samples, 0.6)
    other = LaplaceMatrix(np.where(seen, z, 99.0), made.root, made.removed, 1.0, 0.6)
    rows = rng.standard_normal((3, 30))
    np.testing.assert_allclose(other.product(rows), made.product(rows), atol=1e-12)
    assert other.norm == pytest.approx(made.norm)
    assert other.inner(made) == pytest.approx(made.norm**2)


def test_energies(matrix, rng):
    rows = rng.standard_normal((3, 40))
    expected = np.sum(rows * matrix.product(rows), axis=1)
    np.testing.assert_allclose(matrix.energies(rows), expected, atol=1e-12 * 40)
    assert matrix.energy(rows) == pytest.approx(expected.sum())


def test_a_column_that_covariates_explain_is_nothing(rng):
    x = rng.integers(0, 2, 30).astype(float)
    matrix = laplace_matrix(x, Samples(30, None, x[None]))
    assert matrix.norm == 0
    assert matrix.normalised().scale == 1
