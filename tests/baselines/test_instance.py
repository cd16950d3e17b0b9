"""The instance-wise lasso: a regression that is sparse in samples, not in features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from hsiclasso.baselines.instance import InstanceWiseLasso
from hsiclasso.errors import InvalidInputError
from tests import oracles
from tests.baselines.oracle_lasso import lower_bound


def gram(X, width):
    """Gaussian kernel of standardised vectors, the squared distance a mean over features."""
    return oracles.joint_gram(oracles.standardised(X), width * np.sqrt(X.shape[1]))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4)) * [1, 10, 0.1, 5] + [0, 3, 1, -2]
    return X, np.sin(X[:, 0]) + (X[:, 1] - 3) ** 2 / 100 + 0.1 * rng.standard_normal(90)


@pytest.mark.parametrize(("alpha", "fit_intercept"), [(0.01, True), (0.05, False)])
def test_optimal_for_the_objective_on_samples(data, fit_intercept, alpha):
    X, y = data
    model = InstanceWiseLasso(alpha=alpha, width=1.0, fit_intercept=fit_intercept, tol=1e-10)
    model.fit(X, y)
    A = gram(X, 1.0)
    residual = y - A @ model.coef_ - model.intercept_
    slope = A.T @ residual / 90
    used = model.coef_ != 0
    assert np.abs(slope[~used]).max() <= alpha + 1e-6
    np.testing.assert_allclose(slope[used], alpha * np.sign(model.coef_[used]), atol=1e-6)
    assert model.support_.tolist() == np.flatnonzero(used).tolist()
    if fit_intercept:
        assert residual.mean() == pytest.approx(0, abs=1e-9)
    else:
        assert model.intercept_ == 0
    other = Lasso(alpha=alpha, fit_intercept=fit_intercept, tol=1e-10, max_iter=10**6).fit(A, y)
    np.testing.assert_allclose(A @ model.coef_, A @ other.coef_, atol=1e-5)


@pytest.mark.parametrize(("alpha", "fit_intercept"), [(0.01, True), (0.05, False)])
def test_no_coefficients_have_a_smaller_objective(data, fit_intercept, alpha):
    """The objective of the paper, whose penalty is n times ours, beside what bounds it."""
    X, y = data
    model = InstanceWiseLasso(alpha=alpha, width=0.8, fit_intercept=fit_intercept, tol=1e-10)
    coef, A = model.fit(X, y).coef_, gram(X, 0.8)
    value = oracles.lasso_objective(A, y - model.intercept_, coef, 90 * alpha)
    if fit_intercept:  # the best intercept is that which centres everything
        A, y = A - A.mean(axis=0), y - y.mean()
    least = lower_bound(A, y, coef, 90 * alpha)
    assert abs(value - least) < 1e-7 * least


def test_the_median_width(data):
    X, y = data
    model = InstanceWiseLasso().fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None, :] - Z[None, :, :]) ** 2).mean(axis=2)
    distances = np.sort(np.sqrt(squares[np.triu_indices(90, 1)]))
    below, above = np.searchsorted(distances, model.width_ * (1 + np.array([-1e-9, 1e-9])))
    assert below <= distances.size / 2 <= above + 1


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_share_is_of_the_least_penalty_without_coefficients(data, fit_intercept):
    X, y = data
    plain = InstanceWiseLasso(fit_intercept=fit_intercept)
    most = clone(plain).set_params(alpha_ratio=1.0).fit(X, y)
    assert most.support_.size == 0
    assert clone(plain).set_params(alpha=0.99 * most.alpha_).fit(X, y).support_.size >= 1
    assert clone(plain).fit(X, y).alpha_ == pytest.approx(0.01 * most.alpha_)
    half = clone(plain).set_params(alpha_ratio=0.5).fit(X, y)
    assert half.alpha_ == pytest.approx(0.5 * most.alpha_)


def test_prediction_is_the_sum_over_all_samples(data):
    X, y = data
    model = InstanceWiseLasso(width=0.7).fit(X, y)
    new = np.random.default_rng(1).standard_normal((15, 4))
    vectors, others = (new - X.mean(axis=0)) / X.std(axis=0), oracles.standardised(X)
    A = oracles.joint_gram(np.vstack([vectors, others]), 0.7 * np.sqrt(4))[:15, 15:]
    wanted = A @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(new), wanted, atol=1e-10)
    assert model.score(X, y) > 0.8


def test_a_larger_penalty_keeps_fewer_samples(data):
    X, y = data
    kept = [
        InstanceWiseLasso(alpha_ratio=share).fit(X, y).support_.size
        for share in (0.001, 0.02, 0.1, 0.9)
    ]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1] > 0
    assert kept[1] < 45


def test_few_samples_but_every_feature_is_needed(data):
    """The target does not depend on the last two features, and yet the prediction does."""
    X, y = data
    model = InstanceWiseLasso(alpha_ratio=0.02).fit(X, y)
    assert model.support_.size < 45
    for feature in range(4):
        moved = X.copy()
        moved[:, feature] += X[:, feature].std()
        assert np.abs(model.predict(moved) - model.predict(X)).max() > 0.05


def test_shift_and_scale_of_features_do_not_matter(data):
    X, y = data
    plain = InstanceWiseLasso(tol=1e-10).fit(X, y)
    scaled = InstanceWiseLasso(tol=1e-10).fit(X * [3, -0.1, 1e4, 1e-5] + 7, y)
    np.testing.assert_allclose(
        scaled.predict(X * [3, -0.1, 1e4, 1e-5] + 7), plain.predict(X), atol=1e-5
    )


def test_a_constant_feature_and_a_constant_target_are_no_trouble(data):
    X, y = data
    with_constant = np.column_stack([X, np.full(90, 5.0)])
    plain = InstanceWiseLasso().fit(X, y).predict(X)
    np.testing.assert_allclose(
        InstanceWiseLasso().fit(with_constant, y).predict(with_constant), plain, atol=1e-8
    )
    model = InstanceWiseLasso().fit(X, np.full(90, 2.0))
    np.testing.assert_allclose(model.predict(X), 2.0)
    assert model.support_.size == 0


def test_says_when_it_does_not_converge(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="max_iter=2 sweeps"):
        InstanceWiseLasso(max_iter=2, alpha_ratio=1e-4).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha=0 must be a finite number > 0"),
        ({"alpha_ratio": np.nan}, "alpha_ratio=nan"),
        ({"alpha_ratio": 1.5}, "alpha_ratio=1.5, but a share"),
        ({"alpha": 1.0, "alpha_ratio": 0.1}, "both set the penalty"),
        ({"width": "mean"}, "width='mean'"),
        ({"width": -1}, "width=-1"),
        ({"tol": 0}, "tol=0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_options_that_have_no_meaning(data, options, message):
    X, y = data
    with pytest.raises(InvalidInputError, match=message):
        InstanceWiseLasso(**options).fit(X, y)
