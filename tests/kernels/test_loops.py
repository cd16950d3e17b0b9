"""Each compiled loop against a NumPy twin; those of Laplace kernels are in `test_recursions`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import _loops
from hsiclasso.kernels._products import multiply_terms
from hsiclasso.kernels.cholesky import pivoted_cholesky
from hsiclasso.kernels.hermite import MAX_FEATURES, REACH, bases, lookup_table
from tests import oracles
from tests.kernels.cases import cases


@given(cases())
def test_standardise(case):
    block, k = case.columns.copy(), len(case.columns)
    std, middle = np.empty(k), np.empty(k)
    _loops.standardise(block, case.weights, block.min(axis=1), block.max(axis=1), std, middle)
    assert np.isfinite(block).all()
    np.testing.assert_allclose(block.max(axis=1), -block.min(axis=1), rtol=1e-6)
    for j in range(k):
        expected = oracles.weighted_standardise(case.columns[j], case.shares(j))
        # shifts do not matter to a kernel of differences; rounding of the mean is such a shift
        np.testing.assert_allclose(np.diff(block[j]), np.diff(expected), rtol=1e-9, atol=1e-12)
        # the middle of the range is what the mean has been moved by
        np.testing.assert_allclose(block[j] + middle[j], expected, rtol=1e-7, atol=1e-7)
        exponent = np.frexp(np.abs(case.columns[j]).max())[1]
        scaled = np.ldexp(case.columns[j], -exponent)
        scaled = scaled - np.average(scaled, weights=case.shares(j))
        deviation = np.sqrt(np.average(scaled**2, weights=case.shares(j)))
        np.testing.assert_allclose(std[j], np.ldexp(deviation, exponent), rtol=1e-8, atol=5e-324)


@pytest.mark.parametrize("rows", [1, 3])
def test_count_magnitudes(rows, rng):
    block, weights = 4 * rng.standard_normal((3, 200)), rng.random((rows, 200))
    histogram = np.zeros((3, 20 * 4 + 1))
    _loops.count_magnitudes(block, weights, 4.0, histogram)
    edges = np.append(np.arange(81) / 4, np.inf)
    for j, found in enumerate(histogram):
        share = weights[min(j, rows - 1)]
        expected = np.histogram(np.abs(block[j]), edges, weights=share)[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=30))
def test_the_first_hermite_feature_is_an_exponential(values):
    z, made, one = np.array([values]), bases(), np.array([0])
    out = np.empty((1, 1, z.size))
    _loops.hermite_features(z, one, 0, z.size, one + 1, made.first, made.steps, out)
    scale, decay = made.first[1]
    expected = scale * np.exp(-decay * z[0] ** 2)
    np.testing.assert_allclose(out[0, 0], expected, rtol=3e-14)


@pytest.mark.parametrize("n_features", [1, 2, 17, MAX_FEATURES])
def test_features_of_several_columns(n_features, rng):
    z, made = rng.standard_normal((3, 40)), bases()
    basis, columns = np.array([0, 3, 2]), np.array([2, 0])
    out = np.empty((2, n_features, 31))
    _loops.hermite_features(z, columns, 4, 35, basis, made.first, made.steps, out)
    expected = [made.features(z[j, 4:35], basis[j], n_features) for j in columns]
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-13)
    looked_up = np.empty((1, n_features, 31))
    _loops.table_features(z, columns[:1], 4, 35, REACH, lookup_table(), looked_up)
    np.testing.assert_allclose(looked_up[0], expected[0], atol=1e-7)


def test_cubic_interpolation_is_exact_for_cubic_polynomials(rng):
    grid = np.linspace(-REACH, REACH, 50)
    table = np.ascontiguousarray((grid[:, None] / REACH) ** np.arange(4))
    z = np.r_[-REACH, rng.uniform(-REACH, REACH, 40), REACH][None]
    out = np.empty((1, 4, 42))
    _loops.table_features(z, np.array([0]), 0, 42, REACH, table, out)
    np.testing.assert_allclose(out[0], (z / REACH) ** np.arange(4)[:, None], atol=1e-12)


@given(st.lists(st.floats(-60, 60), min_size=1, max_size=30), st.floats(-60, 60))
def test_gaussian_kernel(values, centre):
    z = np.array(values)
    out = np.empty(z.size)
    _loops.gaussian_kernel(z, centre, out)
    np.testing.assert_allclose(out, np.exp(-0.5 * (z - centre) ** 2), rtol=1e-14, atol=1e-290)


@given(st.lists(st.floats(-60, 60), min_size=1, max_size=30), st.floats(-60, 60))
def test_mixed_kernel(values, centre):
    z, inverse = np.array(values), np.array([0.5, 1.0, 4.0])
    out = np.empty(z.size)
    _loops.mixed_kernel(z, centre, inverse, out)
    expected = np.exp(-0.5 * (inverse[:, None] * (z - centre)) ** 2).mean(axis=0)
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=1e-290)
    alone = np.empty(z.size)
    _loops.mixed_kernel(z, centre, np.ones(1), out)
    _loops.gaussian_kernel(z, centre, alone)
    np.testing.assert_array_equal(out, alone)


def test_sum_row(rng):
    row = rng.standard_normal(1000)
    assert _loops.sum_row(row) == pytest.approx(row.sum(), abs=1e-11)


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=40),
    st.integers(0, 40),
)
def test_count_pairs_within(samples, distance):
    values, weights = np.array(sorted(samples), dtype=float).T.copy()
    i, j = np.triu_indices(values.size, 1)
    near = np.abs(values[i] - values[j]) <= distance
    expected = np.sum((weights[i] * weights[j])[near])
    assert _loops.count_pairs_within(values, weights, float(distance)) == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_gram", [False, True])
def test_products_of_hermite_features(weighted, with_gram, rng):
    """Several runs of samples, the last one shorter."""
    n, size, n_rows = 2 * _loops.RUN + 23, 7, 6
    z, basis, made = rng.standard_normal((5, n)), rng.integers(0, 6, 5), bases()
    columns = np.array([0, 2, 4])
    rows = rng.standard_normal((n_rows, n))
    root = rng.random(n) if weighted else np.empty(0)
    out = np.zeros((3, size, n_rows))
    gram = np.zeros((3, size, size) if with_gram else (3, 0, 0))
    _loops.multiply_hermite(z, columns, basis, made.first, made.steps, rows, root, out, gram)
    for c, j in enumerate(columns):
        phi = made.features(z[j], basis[j], size) * (root if weighted else 1.0)
        np.testing.assert_allclose(out[c], phi @ rows.T, atol=1e-11)
        if with_gram:
            np.testing.assert_allclose(gram[c], phi @ phi.T, atol=1e-11)


@pytest.mark.parametrize("widths", [(1.0,), (0.5, 1.0, 2.0)])
def test_the_compiled_cholesky_is_the_plain_one(rng, widths):
    z, weights = 3 * rng.standard_normal(40), rng.random(40)
    rows, residual = np.empty((40, 40)), np.ones(40)
    inverse = 1 / np.array(widths)
    known = rows, residual, np.empty(40, int), 0
    rank, left = _loops.gaussian_cholesky(z, inverse, weights, 1e-8, *known)

    def row(pivot):
        return np.mean([np.exp(-0.5 * np.square((z - z[pivot]) / w)) for w in widths], axis=0)

    expected, expected_left = pivoted_cholesky(np.ones(40), row, 1e-8, weights)
    assert rank == len(expected)
    assert left == pytest.approx(expected_left, rel=1e-3)
    np.testing.assert_allclose(rows[:rank], expected, atol=1e-6)


@given(st.integers(1, 8), st.integers(1, 10), st.integers(0, 40), st.integers(0, 5))
def test_products_of_rows(n_rows, n_target, size, start):
    """Any numbers of rows, also those that do not fill a tile; entries beyond are not read."""
    rng = np.random.default_rng(0)
    phi, target = rng.standard_normal((2, n_rows, size + 3)), rng.standard_normal((n_target, 50))
    phi[:, :, size:] = np.nan
    out, gram = np.ones((2, n_rows, n_target)), np.ones((2, n_rows, n_rows))
    multiply_terms(phi, size, target, start, out, gram)
    seen = phi[:, :, :size]
    np.testing.assert_allclose(out, 1 + seen @ target[:, start : start + size].T, atol=1e-12)
    np.testing.assert_allclose(gram, 1 + seen @ seen.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_array_equal(gram, gram.transpose(0, 2, 1))
