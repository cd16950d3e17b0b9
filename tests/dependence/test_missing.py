"""Missing values: what is observed counts, and is restored to the norm of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.dependence import make_measure
from hsiclasso.embedding import Delta, Gaussian, Laplace, Linear, Samples
from tests.dependence.compare import MEASURES, find, make_features, redundancy

N, SHARE = 200, 0.6
KERNELS = [Gaussian(), Laplace(), Delta(), Delta(by_count=False), Linear()]


def masked(rng, X):
    """The same table with values missing completely at random."""
    return np.where(rng.random(X.shape) < SHARE, X, np.nan)


def some_weights(rng, weighted):
    return Samples(N, rng.uniform(0.5, 1.5, N) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_norm_is_that_without_missing_values(kernel, measure, weighted, rng):
    samples = some_weights(rng, weighted)
    X = np.tile(np.round(rng.standard_normal((N, 1))), (1, 30))
    y = rng.standard_normal(N)
    (whole, observed) = (
        np.diag(redundancy(features, find(features, y, measure), measure))
        for features in (
            make_features(X[:, :1], kernel, samples),
            make_features(masked(rng, X), kernel, samples),
        )
    )
    assert np.sqrt(observed).mean() == pytest.approx(np.sqrt(whole[0]), rel=0.06)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_an_unrelated_feature_is_neither_preferred_nor_put_back(kernel, measure, rng):
    X, y = np.round(1.5 * rng.standard_normal((N, 400))), rng.standard_normal(N)
    complete = find(make_features(X, kernel), y, measure).relevance
    incomplete = find(make_features(masked(rng, X), kernel), y, measure).relevance
    error = np.hypot(complete.std(), incomplete.std()) / np.sqrt(400)
    # the number of values that occur falls a little with the samples, and a Gram matrix with it
    allowed = 5 * error + 0.06 * complete.mean()
    assert abs(incomplete.mean() - complete.mean()) <= allowed


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta(by_count=False)], ids=str)
def test_a_related_feature_counts_by_what_is_observed(kernel, measure, rng):
    x = np.round(rng.standard_normal(N))
    complete = find(make_features(x[:, None], kernel), x, measure).relevance[0]
    X = masked(rng, np.tile(x[:, None], (1, 30)))
    ratio = find(make_features(X, kernel), x, measure).relevance.mean() / complete
    assert ratio == pytest.approx(SHARE, abs=0.08)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta()], ids=str)
def test_too_few_observations_are_none(kernel, measure, rng):
    X = np.round(rng.standard_normal((40, 3)), 1)
    X[5:, 1] = np.nan
    X[4:, 2] = np.nan
    features = make_features(X, kernel, least_observed=5)
    scan = find(features, rng.standard_normal(40), measure)
    assert scan.observed.tolist() == [40, 5, 4]
    assert scan.varies.tolist() == [True, True, False]
    assert (scan.relevance > 0).tolist() == [True, True, False]
    assert not redundancy(features, scan, measure)[2].any()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta(), Linear()], ids=str)
def test_what_does_not_vary_where_it_is_observed_is_constant(kernel, measure, rng):
    X = rng.standard_normal((30, 2))
    X[:, 1] = 3.0
    X[:9, 1] = np.nan
    features = make_features(X, kernel)
    scan = find(features, rng.standard_normal(30), measure)
    assert scan.varies.tolist() == [True, False]
    assert scan.relevance[1] == 0
    assert not redundancy(features, scan, measure)[1].any()


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta()], ids=str)
def test_covariates_may_be_constant_where_a_column_is_observed(kernel, rng):
    """What is removed is that of the observed samples."""
    group, X = np.repeat([0.0, 1.0], 20), np.round(rng.standard_normal((40, 1)), 1)
    X[20:] = np.nan
    y = rng.standard_normal(40)
    for measure in MEASURES:
        with_group = make_features(X, kernel, Samples(40, None, group[None]))
        without = make_features(X, kernel, Samples(40))
        epsilon = make_measure(measure).epsilon
        (one,), (other,) = (f.matrices(np.array([0]), epsilon) for f in (with_group, without))
        np.testing.assert_allclose(one.norm, other.norm, rtol=1e-9)
        assert one.observed == 0.5
        assert find(with_group, y, measure).observed.tolist() == [20]
