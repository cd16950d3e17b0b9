"""Each compiled loop against a NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.embedding import _loops
from hsiclasso.embedding.hermite import bases
from tests import oracles
from tests.columns import KINDS, columns, make

NO_WEIGHTS = np.empty(0)


def standardise(block, weights=NO_WEIGHTS):
    """Standardise a block in place; return deviations and middles."""
    std, middle = np.empty(len(block)), np.empty(len(block))
    total = float(weights.sum() if weights.size else block.shape[1])
    lowest, highest = block.min(axis=1), block.max(axis=1)
    _loops.standardise(block, weights, total, lowest, highest, std, middle)
    return std, middle


@given(columns)
def test_standardise(column):
    block = column[None].copy()
    standardise(block)
    assert np.isfinite(block).all()
    np.testing.assert_allclose(block.max(), -block.min(), rtol=1e-6)
    np.testing.assert_allclose(block.std(), 1, rtol=1e-12)
    exponent = np.frexp(np.abs(column).max())[1]
    expected = oracles.standardise(np.ldexp(column, -exponent))
    # shifts do not matter to a kernel of differences; rounding of the mean is such a shift
    np.testing.assert_allclose(np.diff(block[0]), np.diff(expected), rtol=1e-9, atol=1e-12)


@given(columns, st.booleans(), st.integers(0, 100))
def test_standardise_with_weights(column, whole, seed):
    rng, block = np.random.default_rng(seed), column[None].copy()
    drawn = rng.integers(1, 9, column.size) if whole else rng.uniform(0.01, 1, column.size)
    weights = drawn.astype(float)
    _, middle = standardise(block, weights)
    expected = oracles.weighted_standardise(column, weights)
    np.testing.assert_allclose(np.diff(block[0]), np.diff(expected), rtol=1e-9, atol=1e-12)
    # the middle of the range is what the mean has been moved by
    np.testing.assert_allclose(block[0] + middle[0], expected, rtol=1e-9, atol=1e-8)


def test_standardise_reports_deviations_and_constants():
    block = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1e300, -1e300, 0.0]])
    expected = [np.std([1, 2, 3]), 0.0, 1e300 * np.std([1, -1, 0])]
    std, middle = standardise(block)
    np.testing.assert_allclose(std, expected)
    assert (block[1] == 0).all()
    np.testing.assert_allclose(middle, 0, atol=1e-15)


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=30))
def test_first_hermite_feature_is_an_exponential(values):
    z, made = np.array([values]), bases()
    out = np.empty((1, z.size))
    one = np.array([1])
    _loops.hermite_features(z, 0, z.size, one, one, made.scale, made.decay, made.up, made.back, out)
    expected = made.scale[1] * np.exp(-made.decay[1] * z[0] ** 2)
    np.testing.assert_allclose(out[0], expected, rtol=3e-14)


def test_hermite_features_of_several_columns(rng):
    z, made = rng.standard_normal((3, 40)), bases()
    basis, counts = np.array([0, 3, 5]), np.array([1, 2, 17])
    out = np.empty((20, 40))
    _loops.hermite_features(
        z, 0, 40, basis, counts, made.scale, made.decay, made.up, made.back, out
    )
    expected = [made.features(z[j], basis[j], counts[j]) for j in range(3)]
    np.testing.assert_allclose(out, np.concatenate(expected), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("allowed", [1e-9, 1e-3, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_choose_features(weighted, allowed, rng):
    """The twin: histogram, residual sums of every expansion, first that is small enough."""
    block, residual = 2 * rng.standard_normal((30, 200)), bases().residual
    weights = rng.uniform(0.1, 2, 200) if weighted else np.ones(200)
    found = [np.zeros(30, dtype=np.int64) for _ in range(3)]
    given_ = weights if weighted else NO_WEIGHTS
    _loops.choose_features(block, given_, 4.0, residual, 200 * allowed, 4.0, *found)
    for z, basis, count, bulk in zip(block, *found, strict=True):
        histogram = np.histogram(np.abs(z), np.arange(49) / 4, weights=weights)[0]
        left = residual @ histogram
        needed = np.sum(left > 200 * allowed, axis=1) + 1
        assert count == (needed.min() if needed.min() <= 64 else 0)
        assert needed[basis] == needed.min()
        assert bulk == np.sum(left > 4.0, axis=1).min() + 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_pivoted_cholesky(kind, weighted, rng):
    weights = rng.uniform(0.01, 2, 60) if weighted else np.ones(60)
    z = oracles.standardise(np.ldexp(*_scaled(make(kind, 60, 3))))
    K = np.exp(-((z[:, None] - z) ** 2) / 2)
    factor, residual = np.empty((60, 60)), np.ones(60)
    rank, left = _loops.pivoted_cholesky(z, weights, 1e-8, factor, residual, 0)
    rest = K - factor[:rank].T @ factor[:rank]
    assert left <= 1e-8
    np.testing.assert_allclose(weights @ np.diag(rest), left, atol=1e-12)
    assert np.linalg.eigvalsh(rest).min() > -1e-12
    assert rank <= np.unique(z).size


def _scaled(column):
    """A column of extreme magnitude brought to ordinary size, exactly."""
    return column, -np.frexp(np.abs(column).max())[1]


def test_pivoted_cholesky_stops_when_it_is_full(rng):
    z, weights, residual = rng.standard_normal(30), np.ones(30), np.ones(30)
    factor = np.empty((2, 30))
    rank, left = _loops.pivoted_cholesky(z, weights, 1e-8, factor, residual, 0)
    assert rank == 2
    assert left > 1e-8
    longer = np.concatenate([factor, np.empty((28, 30))])
    rank, left = _loops.pivoted_cholesky(z, weights, 1e-8, longer, residual, rank)
    assert left <= 1e-8
    K = np.exp(-((z[:, None] - z) ** 2) / 2)
    np.testing.assert_allclose(longer[:rank].T @ longer[:rank], K, atol=1e-7)


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
