"""Splitting a target's rows must not change its matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import HSIC, NOCCO, Delta, Gaussian, Samples
from hsiclasso.kernels.factor import empty_factor, factor_columns
from hsiclasso.targets.split import dense_rows, split_rows
from tests.columns import KINDS, make


def factor(y, kernel=None, measure=None):
    kernel, samples, z = kernel or Gaussian(), Samples(y.size), y[None].copy()
    kernel.scale(z, samples.shares)
    return factor_columns(z, kernel, samples, measure or HSIC(), 1e-7)[0]


@pytest.mark.parametrize("measure", [HSIC(), NOCCO()], ids=str)
@given(kind=st.sampled_from(sorted(KINDS)), n=st.integers(8, 300), seed=st.integers(0, 99))
def test_the_matrix_stays(measure, kind, n, seed):
    made = factor(make(kind, n, seed), measure=measure)
    split = split_rows(made, 1e-7, 1)
    rows = split.unsplit()
    change = np.linalg.norm(rows.T @ rows - made.rows.T @ made.rows)
    assert change <= 1.001e-7 * made.norm
    assert len(rows) == len(made.rows)


def test_a_heavy_tail_leaves_few_dense_rows(rng):
    y = np.exp(1.5 * rng.standard_normal(5000))
    made = factor(y)
    split = split_rows(made, 1e-7, 1)
    assert len(split.dense) < len(made.rows) / 2
    assert split.tail.size < 1000
    assert set(np.argsort(y)[-20:]) <= set(split.tail)


def test_classes_of_equal_size_are_not_split():
    y = np.repeat([0.0, 1.0, 2.0], 100)
    made = factor(y, Delta())
    split = split_rows(made, 1e-7, 1)
    assert split.tail.size == 0
    np.testing.assert_array_equal(split.dense, made.rows)


def test_a_constant_target_has_no_rows():
    split = split_rows(empty_factor(20), 1e-7, 4)
    assert split.unsplit().shape == (0, 20)


def test_few_samples_have_no_tail(rng):
    made = factor(rng.standard_normal(7))
    np.testing.assert_array_equal(split_rows(made, 1e-7, 1).dense, made.rows)


def test_dense_rows_are_all_there_is(rng):
    rows = rng.standard_normal((2, 5))
    np.testing.assert_array_equal(dense_rows(rows).unsplit(), rows)


def test_split_rows_multiply_and_combine_like_whole_ones(rng):
    made = factor(np.exp(1.5 * rng.standard_normal(600)))
    split = split_rows(made, 1e-7, 1)
    assert split.tail.size
    rows, weights = split.unsplit(), rng.standard_normal((3, len(made.rows)))
    np.testing.assert_allclose(split.gram(), rows @ rows.T, atol=1e-10)
    np.testing.assert_allclose(split.combined(weights), weights @ rows, atol=1e-12)
    assert split.trace() == pytest.approx(np.square(rows).sum())


@pytest.mark.parametrize("at_once", [1, 4, 8])
def test_rows_are_split_only_if_fewer_products_remain(at_once, rng):
    made = factor(rng.standard_normal(1000))
    split = split_rows(made, 1e-6, at_once)
    steps = -(-(len(made.rows) + 1) // at_once)
    assert -(-(len(split.dense) + 1) // at_once) < steps or not split.tail.size
