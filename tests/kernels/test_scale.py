"""Scaling of columns, and medians of distances, with weights and without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels.scale import median_distance, median_vector_distance, standardise
from tests import oracles
from tests.kernels.cases import cases

columns = st.lists(st.integers(-9, 9), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1)


def weights_for(n, seed):
    return np.random.default_rng(seed).integers(1, 5, n)


@given(case=cases(), at_mean=st.booleans())
def test_standardise(case, at_mean):
    z = case.columns.copy()
    scaling = standardise(z, case.weights, at_mean=at_mean)
    for j, (row, column) in enumerate(zip(z, case.columns, strict=True)):
        expected = oracles.weighted_standardise(column, case.shares(j))
        shift = 0.0 if at_mean else 0.5 * (expected.min() + expected.max())
        np.testing.assert_allclose(row, expected - shift, rtol=1e-7, atol=1e-7)
        # differences are what kernels see; shifts round
        np.testing.assert_allclose(np.diff(row), np.diff(expected), rtol=1e-9, atol=1e-12)
    exact = scaling.factor > 1e-300  # denormal deviations have few digits
    applied = scaling.apply(case.columns)[exact]
    np.testing.assert_allclose(applied, z[exact], rtol=1e-7, atol=1e-7)


def test_columns_that_do_not_vary_have_no_factor():
    block = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1e300, -1e300, 0.0]])
    scaling = standardise(block, np.ones((1, 3)))
    expected = [np.std([1, 2, 3]), 0.0, 1e300 * np.std([1, -1, 0])]
    np.testing.assert_allclose(scaling.factor, expected)
    assert not block[1].any()
    np.testing.assert_allclose(scaling.apply(np.full((3, 1), 4.0))[1], 0)


@given(columns, st.integers(0, 1000))
def test_median_distance(values, seed):
    """Whole weights repeat the values; equal ones do not matter."""
    values = np.array(values, dtype=float)
    expected = oracles.median_nonzero_distance(values)
    assert median_distance(values) == pytest.approx(expected)
    assert median_distance(values, np.full(values.size, 0.3)) == median_distance(values)
    weights = weights_for(values.size, seed)
    expected = oracles.median_nonzero_distance(np.repeat(values, weights))
    assert median_distance(values, weights.astype(float)) == expected


def test_values_without_weight_are_in_no_pair(rng):
    column, weights = rng.standard_normal(30), rng.integers(0, 3, 30).astype(float)
    some = weights > 0
    assert median_distance(column, weights) == median_distance(column[some], weights[some])


@given(st.integers(3, 30), st.integers(1, 4), st.integers(0, 1000))
def test_median_distance_of_vectors(n, q, seed):
    rng = np.random.default_rng(seed)
    vectors, weights = rng.integers(0, 3, (q, n)).astype(float), weights_for(n, seed)
    vectors[0, :2] = [0, 9]
    for given_, repeated in ((None, vectors), (weights, np.repeat(vectors, weights, axis=1))):
        distances = np.sqrt(np.sum((repeated[:, :, None] - repeated[:, None]) ** 2, axis=0))
        expected = oracles.weighted_median(distances, np.ones_like(distances))
        assert median_vector_distance(vectors, given_) == pytest.approx(expected)


def test_vectors_of_one_entry_are_columns(rng):
    column, weights = rng.standard_normal(50), rng.random(50)
    expected = median_distance(column, weights)
    assert median_vector_distance(column[None], weights) == pytest.approx(expected)


def test_many_vectors_are_sampled(rng):
    """Evenly spaced ones stand for all: the error is that of 2000 samples."""
    vectors = rng.standard_normal((2, 5000))
    # the squared distance of two normal vectors is 2 chi^2_2, with median 4 ln 2
    assert median_vector_distance(vectors) == pytest.approx(np.sqrt(4 * np.log(2)), rel=0.05)


def test_vectors_that_do_not_vary_have_distance_one():
    assert median_vector_distance(np.ones((2, 9))) == 1
