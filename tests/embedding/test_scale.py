"""Medians of distances, with weights and without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.embedding import median_distance
from hsiclasso.embedding.scale import median_vector_distance, scale_to_width, standardised
from tests import oracles

columns = st.lists(st.integers(-9, 9), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1)


def weights_for(n, seed):
    return np.random.default_rng(seed).integers(1, 5, n)


@given(columns)
def test_median_distance(values):
    values = np.array(values, dtype=float)
    assert median_distance(values) == pytest.approx(oracles.median_nonzero_distance(values))


@given(columns, st.integers(0, 1000))
def test_whole_weights_repeat_the_values(values, seed):
    values = np.array(values, dtype=float)
    weights = weights_for(values.size, seed)
    expected = oracles.median_nonzero_distance(np.repeat(values, weights))
    assert median_distance(values, weights.astype(float)) == expected


@pytest.mark.parametrize("weight", [0.3])
def test_equal_weights_do_not_matter(weight):
    for seed in range(50):
        column = np.random.default_rng(seed).standard_normal(8)
        assert median_distance(column, np.full(8, weight)) == median_distance(column)


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


@pytest.mark.parametrize("width", [0.5, "median"])
def test_rows_that_do_not_vary_stay_zero(width, rng):
    block = np.vstack([rng.standard_normal(20), np.full(20, 3.0)])
    varies, _ = standardised(block)
    scale_to_width(block, width, varies)
    assert varies.tolist() == [True, False]
    assert not block[1].any()
    if width == "median":
        assert median_distance(block[0]) == pytest.approx(1)
    else:
        assert block[0].std() == pytest.approx(1 / width)
