"""Estimates of HSIC on small sets of samples, and the covariance of their mean."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import Delta, Gaussian, Laplace, Linear
from hsiclasso.inference.hsic_estimates import (
    estimate_hsic,
    gram_matrices,
    random_sets,
    unbiased_hsic,
)
from tests.oracles import hsic_by_quadruples


@pytest.mark.parametrize("size", [4, 5, 7])
def test_the_estimate_is_the_mean_over_quadruples(rng, size):
    K, L = rng.standard_normal((2, 3, size, size))
    K, L = K + K.transpose(0, 2, 1), L + L.transpose(0, 2, 1)
    expected = [hsic_by_quadruples(k, m) for k, m in zip(K, L, strict=True)]
    np.testing.assert_allclose(unbiased_hsic(K, L), expected)


def test_sets_are_disjoint_within_a_partition(rng):
    sets = random_sets(23, 5, 3, rng)
    assert sets.shape == (12, 5)
    for partition in sets.reshape(3, 20):
        assert np.unique(partition).size == 20
    assert np.unique(sets).max() <= 22
    assert not np.array_equal(sets[:4], sets[4:8])


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplace(), Linear(), Delta(), Gaussian(0.3)], ids=str
)
@pytest.mark.parametrize("q", [1, 2])
def test_gram_matrices_are_those_of_the_kernel(rng, kernel, q):
    z = rng.integers(0, 3, size=(q, 20)).astype(float)
    kernel = kernel.learnt(z, np.ones(20))
    sets = random_sets(20, 4, 2, rng)
    found = gram_matrices(kernel, z, sets)
    for own, matrix in zip(sets, found, strict=True):
        np.testing.assert_allclose(matrix, kernel.between(z[:, own], z[:, own]), atol=1e-12)


def test_disjoint_sets_have_the_usual_covariance(rng):
    values = rng.standard_normal((30, 3))
    found = estimate_hsic(values, random_sets(150, 5, 1, rng), 150)
    np.testing.assert_allclose(found.mean, values.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(values.T) / 30)
    assert found.n_sets == 30


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_covariance_is_that_of_repeated_estimates(effect):
    """Also where sets share samples and HSIC is not 0."""
    rng = np.random.default_rng(0)
    means, covariances = [], []
    for _ in range(400):
        X = rng.standard_normal((2, 80))
        y = effect * X.sum(axis=0) + rng.standard_normal(80)
        sets = random_sets(80, 4, 4, rng)
        L = gram_matrices(Gaussian(), y[None], sets)
        values = [unbiased_hsic(gram_matrices(Gaussian(), x[None], sets), L) for x in X]
        found = estimate_hsic(np.column_stack(values), sets, 80)
        means.append(found.mean)
        covariances.append(found.covariance)
    truth, estimated = np.cov(np.array(means).T), np.mean(covariances, axis=0)
    np.testing.assert_allclose(np.diag(estimated), np.diag(truth), rtol=0.25)
    assert estimated[0, 1] == pytest.approx(truth[0, 1], abs=0.25 * truth[0, 0])
    naive = np.trace(np.cov(np.column_stack(values).T)) / len(sets)
    if effect:  # sets that share samples are not independent
        assert np.trace(truth) > 1.3 * naive
