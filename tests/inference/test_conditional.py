"""The distilled randomisation test: what it fits, what it draws, and that its level holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from hsiclasso.inference.conditional import Examined, Others, conditional_p_value, redraw
from hsiclasso.inference.permutation import Spectrum, permutation_p_value
from hsiclasso.kernels import Samples
from tests import oracles


def centred_rows(x):
    """Rows of the centred Gaussian Gram matrix of a column, by its eigenvectors."""
    values, vectors = np.linalg.eigh(oracles.centre(oracles.gaussian_gram(x)))
    kept = values > 1e-6 * values[-1]
    return (vectors[:, kept] * np.sqrt(values[kept])).T


def examined(x):
    return Examined(x[None], centred_rows(x))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_what_others_explain_is_additive_kernel_ridge_regression(rng):
    n = 60
    X, y = rng.standard_normal((n, 2)), rng.standard_normal((3, n))
    y[0] += np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    y -= y.mean(axis=1, keepdims=True)
    fit = Others([centred_rows(x) for x in X.T], Samples(n)).explained(y)
    K = sum(oracles.centre(oracles.gaussian_gram(x)) for x in X.T)
    # (K + c) fit = K y, for one c > 0
    left, right = (K @ (y - fit).T).ravel(), fit.T.ravel()
    c = float(left @ right / (right @ right))
    assert c > 0
    np.testing.assert_allclose(left, c * right, atol=1e-4 * np.abs(left).max())
    assert np.square(y[0] - fit[0]).sum() < 0.6 * np.square(y[0]).sum()


def test_others_that_are_nobody_explain_nothing(rng):
    y = rng.standard_normal((2, 30))
    y -= y.mean(axis=1, keepdims=True)
    assert not Others((), Samples(30)).explained(y).any()


def test_removed_functions_are_part_of_what_explains(rng):
    covariate, x = rng.standard_normal((2, 50))
    others = Others((), Samples(50, covariates=covariate[None]))
    explained, rest = others.split((x + 5 * covariate)[None])
    np.testing.assert_allclose(explained + rest, (x + 5 * covariate)[None])
    assert abs(rest[0] @ covariate) < 1e-9
    assert abs(rest.sum()) < 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 40))
def test_a_redrawn_feature_is_the_feature_in_another_order(seed, n_levels):
    rng = np.random.default_rng(seed)
    x = np.round(rng.standard_normal(40) * n_levels / 4)
    others = Others([centred_rows(rng.standard_normal(40))], Samples(40))
    for order in redraw(examined(x), others, 5, rng):
        assert sorted(order.tolist()) == list(range(40))


def test_orders_are_uniform_if_nothing_explains_the_feature(rng):
    x, n = np.arange(6.0), 6
    orders = redraw(examined(x), Others((), Samples(n)), 6000, rng)
    counts = np.array([np.bincount(column, minlength=n) for column in orders.T])
    assert np.abs(counts / 6000 - 1 / 6).max() < 0.02


def test_a_copy_redraws_the_feature_closely(rng):
    x = rng.standard_normal(200)
    copy = x + 0.1 * rng.standard_normal(200)
    orders = redraw(examined(x), Others([centred_rows(copy)], Samples(200)), 20, rng)
    close = [np.corrcoef(x, x[order])[0, 1] for order in orders]
    assert min(close) > 0.9
    assert max(close) < 1


def test_labels_are_drawn_by_their_probabilities(rng):
    codes = np.repeat([0.0, 1.0, 2.0], [120, 60, 20])
    feature = Examined(codes[None], centred_rows(codes), of_labels=True)
    free = codes[redraw(feature, Others((), Samples(200)), 200, rng)]
    shares = [(free == c).mean() for c in range(3)]
    np.testing.assert_allclose(shares, [0.6, 0.3, 0.1], atol=0.02)
    tied = codes[redraw(feature, Others([centred_rows(codes)], Samples(200)), 50, rng)]
    assert (tied == codes).mean() > 0.9


def test_joint_features_take_vectors_that_were_observed(rng):
    values = rng.standard_normal((2, 80))
    feature = Examined(values, centred_rows(values[0]))
    orders = redraw(feature, Others([centred_rows(values[0])], Samples(80)), 5, rng)
    assert orders.shape == (5, 80)
    drawn = values[0][orders]
    assert np.mean([np.corrcoef(values[0], one)[0, 1] for one in drawn]) > 0.7


def test_given_nothing_it_is_the_permutation_test(rng):
    x = rng.standard_normal(150)
    for strength in (0.0, 0.25, 0.5):
        target = centred_rows(strength * x**2 + rng.standard_normal(150))
        feature = examined(x)
        p = conditional_p_value(feature, target, Others((), Samples(150)), 1999, rng)
        statistic = np.square(feature.rows @ target.T).sum()
        spectra = Spectrum.of(feature.rows), Spectrum.of(target)
        exact = permutation_p_value(statistic, *spectra, 150)
        assert abs(np.log(p / exact)) < 0.1 + 0.12 * abs(np.log(exact))


def draw(rng, n=150):
    """A cause, a nonlinear noisy copy of it, and a target of the cause alone."""
    cause = rng.standard_normal(n)
    copy = np.tanh(cause) + 0.5 * rng.standard_normal(n)
    return cause, copy, np.sin(2 * cause) + 0.5 * rng.standard_normal(n)


def test_a_cause_is_needed_and_its_copy_is_not():
    copies, causes, marginal = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cause, copy, y = draw(rng)
        target, samples = centred_rows(y), Samples(y.size)
        a, b = examined(cause), examined(copy)
        copies.append(conditional_p_value(b, target, Others([a.rows], samples), 399, rng))
        causes.append(conditional_p_value(a, target, Others([b.rows], samples), 399, rng))
        marginal.append(conditional_p_value(b, target, Others((), samples), 399, rng))
    assert np.max(causes) < 1e-3
    assert np.median(marginal) < 1e-3
    for level in (0.05, 0.2):
        count = int((np.array(copies) <= level).sum())
        assert binomtest(count, 60, level, alternative="greater").pvalue > 0.01
    assert np.mean(np.array(copies) > 0.5) > 0.2  # not conservative beyond use
